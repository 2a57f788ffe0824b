// The weights that a run began with. Where they came from another run (--init-from), step 0 keeps
// them and is never removed; else they are drawn from the seed again.
#pragma once

#include <filesystem>
#include <optional>

#include "nn/transformer.h"

namespace heed {

// Those of step 0, if it is kept. Error (store) if it is damaged, or if it is missing although the
// run began with the weights of another.
std::optional<ParamVec<float>> kept_initial_weights(const Transformer& model,
                                                    const std::filesystem::path& run);

// These, or the seed's.
ParamVec<float> initial_weights(const Transformer& model, std::uint64_t seed,
                                const std::filesystem::path& run);

}  // namespace heed
