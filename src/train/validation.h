// Validation while training: measures the held-out part, and keeps the best step so far, and how
// many validations ago it was, in the State.
#pragma once

#include <functional>
#include <optional>

#include "data/objective.h"
#include "store/state.h"
#include "train/prepared_run.h"
#include "train/train_log.h"

namespace heed {

// Resets the state to before the first validation that counts.
void forget_best(State& state);

struct Validation {
  const PreparedRun& run;
  const Objective& objective;

  // Loss, and BLEU if the config selects by it. Nothing if `stop` ended it early, or if there is no
  // token to predict.
  std::optional<ValidLine> measure(std::int64_t step, const ParamVec<float>& values,
                                   const std::function<bool()>& stop) const;

  // Better than all before?
  bool is_best(const ValidLine& line, const State& state) const;
  // Both update the state and return the verdict.
  std::string count_best(const ValidLine& line, State& state) const;
  std::string count_stalled(State& state) const;

  bool by_bleu() const { return run.config.train.select_by == SelectBy::bleu; }
};

}  // namespace heed
