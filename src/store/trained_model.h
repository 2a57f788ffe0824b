// A trained model as commands use it: read from a run or checkpoint folder, ready for forward
// passes. Nothing is written, so read-only folders work, and so do exported models.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "data/objective.h"
#include "nn/transformer.h"
#include "store/checkpoint.h"

namespace heed {

// What writes a text or fills in masks: of a TrainedModel, or of one that is being trained.
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
  std::string run;  // as it was asked for

  operator ModelView() const { return {*objective, tokenizers, model, values}; }
};

// `run` and `checkpoint` as find_checkpoint() takes them. Error (Exit::store) on anything damaged.
TrainedModel load_trained_model(const std::string& run, const std::string& checkpoint);
TrainedModel load_trained_model(const Checkpoint& checkpoint);  // one that is open already

// Where the relative paths of the config's data start; "" if that is not known. Error (Exit::store)
// on a damaged origin.json.
std::string data_folder(const TrainedModel& model);

// It was valid when it was written, so an Error in it now is Exit::store.
RunConfig checkpoint_config(const Checkpoint& checkpoint);

// Threads to work with: `asked`, else train.threads, else all cores.
int thread_count(int asked, const RunConfig& config);

// The weights that a run began with. Where they came from another run (--init-from), step 0 keeps
// them and is never removed; else they are drawn from the seed again. Those of step 0, if it is
// kept. Error (store) if it is damaged, or if it is missing although the run began with the weights
// of another.
std::optional<ParamVec<float>> kept_initial_weights(const Transformer& model,
                                                    const std::filesystem::path& run);

// These, or the seed's.
ParamVec<float> initial_weights(const Transformer& model, std::uint64_t seed,
                                const std::filesystem::path& run);

}  // namespace heed
