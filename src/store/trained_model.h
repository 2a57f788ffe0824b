// A trained model as commands use it: read from a run or checkpoint folder, ready for forward
// passes. Nothing is written, so read-only folders work, and so do exported models.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/pool.h"
#include "data/objective.h"
#include "nn/transformer.h"
#include "store/checkpoint.h"

namespace heed {

// What writing a text or filling in masks needs: of a TrainedModel or a model in training.
struct ModelView {
  const Objective& objective;
  const Tokenizers& tokenizers;
  const Transformer& model;
  const ParamVec<float>& values;
};

struct TrainedModel {
  std::filesystem::path folder;  // the checkpoint's
  RunConfig config;
  std::unique_ptr<const Objective> objective;
  Tokenizers tokenizers;
  Transformer model;
  ParamVec<float> values;
  State state;
  std::string run;                                 // as requested
  std::unique_ptr<Products<float>> products = {};  // of the model, after score_in()

  // Scores are to be computed like this; otherwise in float32.
  void score_in(Precision precision) {
    products = make_products(precision);
    model.products = products.get();
  }
  operator ModelView() const { return {*objective, tokenizers, model, values}; }
};

// `run` and `checkpoint` as find_checkpoint() takes them; "initial": the weights that the run began
// with. Error (Exit::store) on anything damaged.
TrainedModel load_trained_model(const std::string& run, const std::string& checkpoint);
TrainedModel load_trained_model(const Checkpoint& checkpoint);  // an open one

// Where the relative paths of the config's data start; "" if unknown. Error (Exit::store)
// on a damaged origin.json.
std::string data_folder(const TrainedModel& model);
// The model's config with the data as RUN/config.json names it: the files may have moved since
// (heed resume --set data.train=PATH).
RunConfig config_of_data(const TrainedModel& model);

// They were valid when written, so an Error in them now is Exit::store.
RunConfig checkpoint_config(const Checkpoint& checkpoint);
RunConfig config_of_run(const std::filesystem::path& run);  // RUN/config.json

// Threads to work with: `asked`, else train.threads, else as many as `cores`.
int thread_count(int asked, const RunConfig& config, int cores = available_cores());

// The weights that a run began with. Where they came from another run (--init-from), step 0 keeps
// them and is never removed; else they are drawn from the seed again.

// Error (store) if they are damaged, or missing although the run began with another's weights.
ParamVec<float> initial_weights(const Transformer& model, std::uint64_t seed,
                                const std::filesystem::path& run);

}  // namespace heed
