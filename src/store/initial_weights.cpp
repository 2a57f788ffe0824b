#include "store/initial_weights.h"

#include <fmt/core.h>

#include "base/files.h"
#include "base/folders.h"
#include "base/sha256.h"
#include "store/checkpoint.h"
#include "store/origin.h"
#include "store/run_folder.h"

namespace heed {
namespace fs = std::filesystem;

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
