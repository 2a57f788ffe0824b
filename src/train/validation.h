// Validation while training: measures the held-out part, judges what came out, and says whether
// weights are sound.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/std_names.h"
#include "data/objective.h"
#include "store/run.h"
#include "store/run_records.h"
#include "store/state.h"
#include "train/prepared_run.h"

namespace heed {

struct Figure;

// "3.4017 @ 200". `by`: the figure that it is judged by; null: the loss.
string best_in_words(const State& best, const Figure* by);

// Is there a held-out part with a token to predict?
bool can_validate(const PreparedRun& run, const Objective& objective);

// Loss of the held-out part, and the metric that the config selects by. Nothing if `stop` ended it
// early.
optional<ValidEvent> measure_validation(const PreparedRun& run, const Objective& objective,
                                        int64_t step, const ParamVec<float>& values,
                                        const function<bool()>& stop);

// Writes the verdict on a validation, which `state` already has. `best` is that of the run's
// checkpoints, if there are any. One at a multiple of eval_every (`on_grid`) also counts for
// patience, in the state: true if it is better than all of those before.
bool judge_validation(const PreparedRun& run, ValidEvent& line, State& state, bool on_grid,
                      const optional<State>& best);

// "NaN or infinity in the values of encoder.layers.0.fc1.weight": the first place that contains
// one, values before gradients, else the loss or the length of the gradient.
string not_finite(const ParamTable& table, const ParamVec<float>& values,
                  const ParamVec<float>& gradients);

// The loss, in nats per token, above which weights count as ruined: four times the highest loss of
// untrained ones, about ln(vocabulary) + sqrt(d_model). (With tied embeddings the token just read
// has a logit of sqrt(d_model).)
double divergence_threshold(const Transformer& model);

// Why training could not continue from a checkpoint of these values, or "": NaN or infinity, or a
// loss above the threshold on the first few examples.
string checkpoint_defect(const Predictor& predictor, const ExampleList& examples, Pool& pool);

}  // namespace heed
