// The weights that a run began with. Where they came from another run (--init-from), step 0 keeps
// them and is never removed; else they are drawn from the seed again.
#pragma once

#include <filesystem>
#include <optional>

#include "nn/transformer.h"

namespace heed {

// Error (store) if they are damaged, or missing although the run began with another's weights.
ParamVec<float> initial_weights(const Transformer& model, std::uint64_t seed,
                                const std::filesystem::path& run);

}  // namespace heed
