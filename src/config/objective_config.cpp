#include "config/objective_config.h"

#include <algorithm>

#include "config/fields.h"

namespace heed {

std::vector<Field> fields(ObjectiveConfig& c, const std::vector<ObjectiveDoc>& objectives) {
  constexpr Range kLength{1, 1'000'000};
  std::vector<std::string> types;
  std::string meanings;
  for (const ObjectiveDoc& o : objectives) {
    types.push_back(o.name);
    meanings += (meanings.empty() ? "" : "; ") + o.name + ": " + o.text;
  }
  const auto users = [&](const std::string& key) {
    std::string names;
    for (const ObjectiveDoc& o : objectives)
      if (std::ranges::count(o.keys, key) > 0) names += (names.empty() ? "" : ", ") + o.name;
    return names;
  };
  return {
      {"type", choice(c.type, std::move(types)), std::move(meanings)},
      {"source_length", &c.source_length,
       users("source_length") + ": the encoder reads at most this many tokens", kLength},
      {"target_length", &c.target_length,
       users("target_length") + ": the decoder writes this many tokens at a time", kLength},
      {"mask_fraction",
       &c.mask_fraction,
       users("mask_fraction") + ": this share of the tokens is to be predicted",
       {0.0, 1.0, true, false}},
      {"label_smoothing", &c.label_smoothing,
       "this much of the probability is spread over all tokens (training loss only)", kFraction},
  };
}

}  // namespace heed
