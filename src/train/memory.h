// How much memory training will take, predicted before it starts. A layer that saves one more
// matrix for backward adds it to its row in memory.cpp (block_row).
#pragma once

#include <algorithm>
#include <string>

#include "data/run_config.h"
#include "nn/transformer.h"

namespace heed {

struct MemoryPlan {
  double parameters = 0;   // bytes: values, moments, average, one gradient per shard, and the
                           // optimizer's workspace
  double activations = 0;  // of all threads
  double data = 0;         // token ids
  double record = 0;       // the learning record: copies of matrices
  double scoring = 0;      // forward passes of all threads: validation, the check before a save
  double yardsticks = 0;   // measured before the first step; left out if there is no room
  double training() const { return parameters + activations + data + record + scoring + base; }
  double total() const { return std::max(training(), parameters + data + base + yardsticks); }
  static constexpr double base = 40e6;  // libraries, BLAS buffers, tokenizer
};

// All but the yardsticks. `longest` is the longest example in tokens; `ids` the bytes of the token
// ids; `held_out` the longest held-out sentence of one side.
MemoryPlan predict_memory(const Transformer& model, const RunConfig& config, int threads,
                          int longest, double ids, double held_out = 0);

// Error (memory) if the training does not fit. `held_out`: which sentence is the longest.
void check_memory(const MemoryPlan& plan, const std::string& held_out = "");

}  // namespace heed
