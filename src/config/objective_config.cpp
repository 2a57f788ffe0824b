#include "config/objective_config.h"

#include "config/fields.h"

namespace heed {

namespace {

// In the order of ObjectiveType.
const std::vector<std::string> kNames = {"prefix_lm", "causal_lm", "masked_lm", "seq2seq"};

}  // namespace

const std::string& objective_name(ObjectiveType type) {
  return kNames[static_cast<std::size_t>(type)];
}

std::vector<Field> fields(ObjectiveConfig& c) {
  constexpr Range kLength{1, 1'000'000};
  return {
      {"type", choice(c.type, kNames),
       "prefix_lm: the encoder reads text, the decoder writes what follows; causal_lm: the decoder "
       "alone; masked_lm: the encoder fills in masked tokens; seq2seq: pairs"},
      {"source_length", &c.source_length,
       "prefix_lm, masked_lm: the encoder reads at most this many tokens", kLength},
      {"target_length", &c.target_length,
       "prefix_lm, causal_lm: the decoder writes this many tokens at a time", kLength},
      {"mask_fraction",
       &c.mask_fraction,
       "masked_lm: this share of the tokens is to be predicted",
       {0.0, 1.0, true, false}},
      {"label_smoothing", &c.label_smoothing,
       "this much of the probability is spread over all tokens (training loss only)", kFraction},
  };
}

}  // namespace heed
