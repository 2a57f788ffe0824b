#include "config/objective_config.h"

#include "config/fields.h"

namespace heed {

std::vector<Field> fields(ObjectiveConfig& c, const std::vector<KindDoc>& objectives) {
  constexpr Range kLength = between(1, 1'000'000);
  const auto of_users = [&](const char* key, const char* what) {
    return users(objectives, key) + ": " + what;
  };
  return {
      {"type", choice(c.type, names(objectives)), meanings(objectives)},
      {"source_length", &c.source_length,
       of_users("source_length", "the encoder reads at most this many tokens"), kLength},
      {"target_length", &c.target_length,
       of_users("target_length", "the decoder writes this many tokens at a time"), kLength},
      {"mask_fraction", &c.mask_fraction,
       of_users("mask_fraction", "the share of tokens to predict"), above(0, 1)},
      {"mean_span", &c.mean_span,
       of_users("mean_span", "the mean number of tokens of a masked span"), between(1, 1e6),
       OnResume::refused, "",
       uses(objectives, c.type, "mean_span") ? "" : "objective.type is " + c.type},
      {"label_smoothing", &c.label_smoothing,
       "the share of probability spread over all tokens (training loss only)", kFraction},
  };
}

}  // namespace heed
