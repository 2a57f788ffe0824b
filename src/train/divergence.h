// When training has failed: numbers that are none, or a model that is far worse than guessing.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "nn/param.h"

namespace heed {

// The first tensor with a NaN or an infinity in it, or "".
std::string first_not_finite(const ParamTable& table, const ParamVec<float>& numbers);

// A loss (nats per token) that is no number, or over four times that of guessing among `vocab`
// tokens, ln(vocab): weights that give it are not worth keeping.
bool is_ruined(double loss, int vocab);

struct Divergence {
  std::int64_t step;
  std::string what;           // "NaN or infinity in the values of encoder.0.ffn.w1"
  double loss, rate;          // of the last step
  std::string run;            // folder
  std::int64_t saved;         // the last checkpoint's step; negative: none
  double peak_learning_rate;  // of the config
};

std::string divergence_text(const Divergence& d);
// Exit::diverged: the text, what is left, and how to see it again and go on.
Error divergence_error(const Divergence& d);

}  // namespace heed
