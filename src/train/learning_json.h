// The learning record in metrics.jsonl, written and read in one place:
//
//   {"matrices": {NAME: {"gradient_norm", "weight_norm", "update_ratio", "cosine"}, ...},
//    "entropy": {"encoder" | "decoder" | "cross": {"uniform", "heads": [layer][head]}, ...}}
//
// Numbers have six digits; null stands for NaN and infinity.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "train/learning_record.h"

namespace heed {

nlohmann::ordered_json json_of(const Learning& learning);

// Nothing if `json` has another form; a number that is null is NaN.
std::optional<Learning> learning_from_json(const nlohmann::ordered_json& json);

}  // namespace heed
