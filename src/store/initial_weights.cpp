#include "store/initial_weights.h"

#include <fmt/core.h>

#include "base/files.h"
#include "base/folders.h"
#include "store/checkpoint.h"
#include "store/layout.h"
#include "store/origin.h"
#include "store/run_folder.h"

namespace heed {
namespace fs = std::filesystem;
namespace {

// The weights of step 0, if the run keeps them.
std::optional<ParamVec<float>> kept_initial_weights(const Transformer& model, const fs::path& run) {
  const fs::path step_0 = run / kCheckpoints / step_folder_name(0);
  const Origin origin = read_origin(run.string());
  ParamVec<float> values(model.table.size());
  if (path_exists(step_0)) {
    Checkpoint::open(step_0).load_model(tensor_slots(model.table, values));
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

}  // namespace

ParamVec<float> initial_weights(const Transformer& model, std::uint64_t seed, const fs::path& run) {
  if (auto kept = kept_initial_weights(model, run)) return std::move(*kept);
  ParamVec<float> values(model.table.size());
  initialize(model.table, seed, values);
  return values;
}

}  // namespace heed
