// The weights that a run began with. Where they came from another run (--init-from), step 0 keeps
// them and is never removed; else they are drawn from the seed again.
#pragma once

#include <filesystem>
#include <optional>

#include "nn/transformer.h"

namespace heed {

// The weights of step 0, if kept. Error (store) if damaged, or if missing although the run began
// with another's weights.
std::optional<ParamVec<float>> kept_initial_weights(const Transformer& model,
                                                    const std::filesystem::path& run);

// Those, or the seed's.
ParamVec<float> initial_weights(const Transformer& model, std::uint64_t seed,
                                const std::filesystem::path& run);

}  // namespace heed
