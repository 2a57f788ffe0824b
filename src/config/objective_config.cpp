#include "config/objective_config.h"

#include <algorithm>

#include "config/fields.h"

namespace heed {

std::vector<Field> fields(ObjectiveConfig& c, const std::vector<ObjectiveDoc>& objectives) {
  constexpr Range kLength = between(1, 1'000'000);
  const auto uses = [](const ObjectiveDoc& o, const char* key) {
    return std::ranges::count(o.keys, key) > 0;
  };
  std::vector<std::string> types;
  std::string meanings, no_spans = "objective.type is " + c.type;
  for (const ObjectiveDoc& o : objectives) {
    types.push_back(o.name);
    meanings += (meanings.empty() ? "" : "; ") + o.name + ": " + o.text;
    if (o.name == c.type && uses(o, "mean_span")) no_spans = "";
  }
  // "a, b: what" for the objectives that use a key.
  const auto of_users = [&](const char* key, const char* what) {
    std::string names;
    for (const ObjectiveDoc& o : objectives)
      if (uses(o, key)) names += (names.empty() ? "" : ", ") + o.name;
    return names + ": " + what;
  };
  return {
      {"type", choice(c.type, std::move(types)), std::move(meanings)},
      {"source_length", &c.source_length,
       of_users("source_length", "the encoder reads at most this many tokens"), kLength},
      {"target_length", &c.target_length,
       of_users("target_length", "the decoder writes this many tokens at a time"), kLength},
      {"mask_fraction", &c.mask_fraction,
       of_users("mask_fraction", "the share of tokens to predict"), above(0, 1)},
      {"mean_span", &c.mean_span,
       of_users("mean_span", "the mean number of tokens of a masked span"), between(1, 1e6),
       OnResume::refused, "", no_spans},
      {"label_smoothing", &c.label_smoothing,
       "the share of probability spread over all tokens (training loss only)", kFraction},
  };
}

}  // namespace heed
