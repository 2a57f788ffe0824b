// A trained model: read from a run or checkpoint folder, ready for forward passes, alone or with
// others. Nothing is written, so read-only folders work, and so do exported models.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/pool.h"
#include "base/std_names.h"
#include "data/objective.h"
#include "decode/predictor.h"
#include "store/checkpoint.h"

namespace heed {

struct Model {
  fs::path folder;  // the checkpoint's
  RunConfig config;
  unique_ptr<const Objective> objective;
  Tokenizers tokenizers;
  Transformer net;
  ParamVec<float> values;
  State state;
  string run;                 // as requested
  vector<Model> others = {};  // that predict together with it
  unique_ptr<Products<float>> products = make_products(Precision::float32);  // of scoring

  Predictor predictor() const;
};

// `run` and `checkpoint` as find_checkpoint() takes them; "initial": the weights that the run began
// with. Error (Exit::store) on anything damaged.
Model load_model(const string& run, const string& checkpoint);
Model load_model(const Checkpoint& checkpoint);  // an open one

// They were valid when written, so an Error in them now is Exit::store.
RunConfig checkpoint_config(const Checkpoint& checkpoint);
RunConfig config_of_run(const fs::path& run);  // RUN/config.json

// Threads to work with: `asked`, else train.threads, else as many as `cores`.
int thread_count(int asked, const RunConfig& config, int cores = available_cores());

// The weights that a run began with. Where they came from another run (--init-from), step 0 keeps
// them and is never removed; else they are drawn from the seed again.
// Error (store) if they are damaged, or missing although the run began with another's weights.
ParamVec<float> initial_weights(const Transformer& model, uint64_t seed, const fs::path& run);

}  // namespace heed
