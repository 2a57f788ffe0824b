// Validation while training: measures the held-out part, and judges what came out.
#pragma once

#include <functional>
#include <optional>

#include "data/objective.h"
#include "store/run_records.h"
#include "store/state.h"
#include "train/prepared_run.h"

namespace heed {

struct Validation {
  const PreparedRun& run;
  const Objective& objective;
  Crew crew = run.crew;

  // Loss, and the metric that the config selects by. Nothing if `stop` ended it early.
  std::optional<ValidEvent> measure(std::int64_t step, const ParamVec<float>& values,
                                    const std::function<bool()>& stop) const;

  Error out_of_memory() const;

  // Why that metric cannot judge the held-out part, or "".
  std::string doubts() const;

  // Writes the verdict on a validation, which `state` already has. `best` is that of the run's
  // checkpoints, if there are any. One at a multiple of eval_every (`on_grid`) also counts for
  // patience, in the state: true if it is better than all of those before.
  bool judge(ValidEvent& line, State& state, bool on_grid, const std::optional<State>& best) const;
};

// None without a held-out part, or if that has no token to predict.
std::optional<Validation> validation_of(const PreparedRun& run, const Objective& objective);

}  // namespace heed
