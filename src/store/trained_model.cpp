#include "store/trained_model.h"

#include <fmt/core.h>

#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/pool.h"
#include "base/sha256.h"
#include "store/open_checkpoint.h"
#include "store/origin.h"
#include "store/run_folder.h"

namespace heed {

namespace fs = std::filesystem;

RunConfig checkpoint_config(const Checkpoint& checkpoint) {
  try {
    return parse_config(checkpoint.config(), (checkpoint.folder() / "config.json").string());
  } catch (const Error& e) {
    throw e.as(Exit::store);
  }
}

TrainedModel load_trained_model(const Checkpoint& checkpoint) {
  RunConfig config = checkpoint_config(checkpoint);
  Tokenizers tokenizers = Tokenizers::load(checkpoint.tokenizers(), checkpoint.folder());
  if (tokenizers.target->type() != config.tokenizer.type)
    throw Error(Exit::store, checkpoint.folder().string() +
                                 ": its tokenizer is not of the type that its config.json names");
  Transformer model(config.model, tokenizers.source().size(), tokenizers.target->size());
  ParamVec<float> values(model.table.size());
  checkpoint.load_model(tensor_slots(model.table, values));
  auto objective = make_objective(config);
  return {
      checkpoint.folder(), std::move(config), std::move(objective), std::move(tokenizers),
      std::move(model),    std::move(values), checkpoint.state(),   checkpoint.folder().string()};
}

TrainedModel load_trained_model(const std::string& run, const std::string& checkpoint) {
  TrainedModel t = load_trained_model(open_checkpoint(run, checkpoint));
  t.run = run;
  return t;
}

std::string data_folder(const TrainedModel& model) {
  const std::string folder = read_origin(model.run).folder;
  return folder.empty() ? read_origin(model.folder.string()).folder : folder;
}

int thread_count(int asked, const RunConfig& config) {
  const int n = asked > 0 ? asked : config.train.threads;
  return n > 0 ? n : available_cores();
}

std::optional<ParamVec<float>> kept_initial_weights(const Transformer& model, const fs::path& run) {
  const fs::path step_0 = run / "checkpoints" / step_folder_name(0);
  const fs::path path = run / "initial.safetensors";  // keeps them in older runs
  const Origin origin = read_origin(run.string());
  ParamVec<float> values(model.table.size());
  if (path_exists(step_0)) {
    Checkpoint::open(step_0).load_model(tensor_slots(model.table, values));
  } else if (path_exists(path)) {
    if (!origin.initial_sha256.empty() && sha256_of_file(path) != origin.initial_sha256)
      throw Error(Exit::store,
                  quoted_path(path) + " is damaged: its SHA-256 is not that of origin.json.",
                  "restore that file");
    InputFile file(path, InputFile::Allow::file);
    read_safetensors(file, tensor_slots(model.table, values));
  } else if (origin.init_from.empty()) {
    return std::nullopt;
  } else {
    throw Error(Exit::store,
                fmt::format("the run began with the weights of {}, but {}, which keeps them, is "
                            "missing: there is nothing to compare with.",
                            quoted_path(origin.init_from), quoted_path(step_0)),
                "restore that folder");
  }
  return values;
}

ParamVec<float> initial_weights(const Transformer& model, std::uint64_t seed, const fs::path& run) {
  if (auto kept = kept_initial_weights(model, run)) return std::move(*kept);
  ParamVec<float> values(model.table.size());
  initialize(model.table, seed, values);
  return values;
}

}  // namespace heed
