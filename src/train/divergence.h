// When training has failed: NaN or infinity, or weights that are far worse than untrained ones.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/pool.h"
#include "data/objective.h"
#include "decode/predictor.h"
#include "step/stepper.h"

namespace heed {

// "NaN or infinity in the values of encoder.layers.0.fc1.weight": the first place that contains
// one, values before gradients, else `otherwise`.
std::string not_finite(const ParamTable& table, const ParamVec<float>& values,
                       const ParamVec<float>& gradients, const std::string& otherwise);

// The loss, in nats per token, above which weights count as ruined: four times the highest loss of
// untrained ones, about ln(vocabulary) + sqrt(d_model). (With tied embeddings the token just read
// has a logit of sqrt(d_model).)
double divergence_threshold(const Transformer& model);

// Why training could not continue from a checkpoint of these values, or "": NaN or infinity, or a
// loss above the threshold on the first few examples.
std::string checkpoint_defect(const Predictor& predictor, const ExampleList& examples, Pool& pool);

// `last`: the last step that this process began; empty if it began none.
std::string divergence_text(std::int64_t step, const std::string& what, const StepResult& last);
// Exit::diverged: the text, which checkpoints are good, and how to see it again or continue.
// `saved`: the last checkpoint's step, or negative; `rate`: the peak learning rate.
Error divergence_error(const std::string& text, const std::string& run, std::int64_t saved,
                       double rate);

}  // namespace heed
