#include "config/objective_config.h"

#include "config/fields.h"

namespace heed {

std::vector<Field> fields(ObjectiveConfig& c, std::vector<std::string> types,
                          std::string type_doc) {
  constexpr Range kLength = between(1, 1'000'000);
  return {
      {"type", choice(c.type, std::move(types)), std::move(type_doc)},
      {"source_length", &c.source_length,
       "prefix_lm, masked_lm: the encoder reads at most this many tokens", kLength},
      {"target_length", &c.target_length,
       "prefix_lm, causal_lm: the decoder writes this many tokens at a time", kLength},
      {"mask_fraction", &c.mask_fraction, "masked_lm: the share of tokens to predict", above(0, 1)},
      {"label_smoothing", &c.label_smoothing,
       "the share of probability spread over all tokens (training loss only)", kFraction},
  };
}

}  // namespace heed
