// Validation while training: measures the held-out part, and judges what came out.
#pragma once

#include <functional>
#include <optional>

#include "data/objective.h"
#include "store/run_events.h"
#include "store/state.h"
#include "train/prepared_run.h"

namespace heed {

struct Validation {
  const PreparedRun& run;
  const Objective& objective;

  // Loss, and BLEU if the config selects by it. Nothing if `stop` ended it early, or if there is no
  // token to predict.
  std::optional<ValidEvent> measure(std::int64_t step, const ParamVec<float>& values,
                                    const std::function<bool()>& stop) const;

  // Judges one at a multiple of eval_every: is it better than all of those before? Counts for
  // patience, in the state, and writes the verdict.
  bool judge(ValidEvent& line, State& state) const;
  // Judges one at the end of a run, which `state` already has: writes the verdict. `best` is that
  // of the run's checkpoints, if there are any.
  void judge_end(ValidEvent& line, const State& state, const std::optional<State>& best) const;

 private:
  bool by_bleu() const { return run.config.train.select_by == SelectBy::bleu; }
};

}  // namespace heed
