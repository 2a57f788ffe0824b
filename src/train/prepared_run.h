// A run's parts, ready for its first step: everything is read and checked before training writes a
// file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/std_names.h"
#include "config/train_config.h"
#include "data/dataset.h"
#include "data/run_config.h"
#include "decode/predictor.h"
#include "step/crew.h"
#include "store/run_records.h"

namespace heed {

// How much memory training will take, known before it starts: its arrays are counted, and what
// passes take is measured on one of the longest examples.
struct MemoryPlan {
  double parameters = 0;   // bytes: values, moments, average, rounded values, one gradient per
                           // shard, and the optimizer's workspace
  double activations = 0;  // of all threads
  double data = 0;         // token ids
  double record = 0;       // the learning record: copies of matrices
  double scoring = 0;      // forward passes of all threads: validation, the check before a save
  double yardsticks = 0;   // measured before the first step; left out if there is no room
  double training() const { return parameters + activations + data + record + scoring + base; }
  double total() const { return max(training(), parameters + data + base + yardsticks); }
  static constexpr double base = 40e6;  // libraries, BLAS buffers, tokenizer
};

// Parameters and record.
MemoryPlan counted_memory(const Transformer& model, const RunConfig& config, int threads);

// Error (memory) if so many `available` bytes are too few for the training.
void check_memory(const MemoryPlan& plan, double available);

// The end of a run, as far as it is known in steps.
struct Plan {
  int64_t steps = 0;       // where max_steps or, if sooner, max_epochs ends it; 0: neither does
  double step_tokens = 0;  // source + target tokens of a step, the mean of those looked at
  double step_epochs = 0;  // times through the data that a step is, the mean of these
};

struct PreparedRun {
  RunConfig config;  // with the step of optimizer.decay_steps, if it follows from the plan
  Tokenizers tokenizers;
  Dataset data;
  Transformer model;
  MemoryPlan memory;
  Plan plan;
  unique_ptr<Pool> pool;                 // the threads of this process to train with
  Crew crew;                             // they, and those of all who train with it
  unique_ptr<Products<float>> products;  // of training and scoring
  Yardsticks yardsticks = {};            // if they are measured already
  TokenIds prompt = {};                  // train.prompt
  bool described = false;                // the log says already how large and how long it is

  Predictor with(const ParamVec<float>& values) const { return {model, values, *products}; }
};

Plan plan_of(const RunConfig& config, const Split& train);

// Finds the step of optimizer.decay_steps, if it follows from where the run ends. Error (usage) if
// that is too far away to be counted. `plan`: that of the config, if it is known.
void settle_end(RunConfig& config, const Split& train, optional<Plan> plan = {});

// Makes the plan anew, after the config's number of steps has changed.
void plan_steps(PreparedRun& run);

// `folder`: where relative paths of the config's data start. Empty tokenizers are trained.
// `threads` 0: as in the config. The whole crew prepares the run. Error (data) from the files;
// Error (usage) if a schedule needs the plan's end and there is none; Error (memory) if the
// training cannot fit, or if threads do not start.
PreparedRun prepare_run(const RunConfig& config, const string& folder, Tokenizers tokenizers,
                        int threads, const Crew& crew = {});
// The same with data that has been read, and of which the tokenizers are.
PreparedRun prepare_run(const RunConfig& config, Dataset data, Tokenizers tokenizers, int threads,
                        const Crew& crew);

// Measures them; none without a held-out part or room for them, or after a signal.
Yardsticks measure_yardsticks(const PreparedRun& run);

}  // namespace heed
