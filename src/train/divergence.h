// When training has failed: NaN or infinity, or weights that are far worse than untrained ones.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/pool.h"
#include "data/objective.h"
#include "nn/transformer.h"

namespace heed {

// The first tensor with a NaN or an infinity in it, or "".
std::string first_not_finite(const ParamTable& table, const ParamVec<float>& numbers);

// "NaN or infinity in the values of encoder.layers.0.fc1.weight": looked for in the values, then in
// their gradients; else in `otherwise`.
std::string not_finite(const ParamTable& table, const ParamVec<float>& values,
                       const ParamVec<float>& gradients, const std::string& otherwise);

// Nats per token that no weights worth keeping give: four times what they may begin with. As drawn
// they give at most about ln(vocabulary) + sqrt(d_model): with tied embeddings the token that was
// read has a logit of sqrt(d_model).
double divergence_threshold(const Transformer& model);

// Why a checkpoint of these values would not be one to go on from, or "": a NaN or infinity, or a
// ruined loss on the first few examples.
std::string checkpoint_defect(const Transformer& model, const ParamVec<float>& values,
                              const ExampleList& examples, Pool& pool);

struct Divergence {
  std::int64_t step;
  std::string what;
  bool has_step;              // was a step begun since the process began?
  double loss, rate;          // if so, of the last one
  std::string run;            // folder
  std::int64_t saved;         // the last checkpoint's step; negative: none
  double peak_learning_rate;  // of the config
};

std::string divergence_text(const Divergence& d);
// Exit::diverged: the text, what is left, and how to see it again and go on.
Error divergence_error(const Divergence& d);

}  // namespace heed
