// The training loop: steps, and at intervals a log line, a validation, a checkpoint; each is
// announced to the listeners (train/listener.h).
//
// Besides its config and data, a run is the Stepper's numbers and a State. A checkpoint holds
// exactly these, so a resumed run writes the bytes that an uninterrupted one would have written.
// The loop runs on the calling thread; the pool's threads do the arithmetic.
#pragma once

#include <string>

#include "base/std_names.h"
#include "config/train_config.h"
#include "data/batcher.h"
#include "store/run.h"
#include "train/listener.h"
#include "train/validation.h"

namespace heed {

// Which steps end an interval: of log lines, validations, checkpoints. A pure function of the step,
// so a resumed run does at each step what an uninterrupted one does.
struct StepSpan {
  int64_t step = 0;      // steps done
  Cursor before, after;  // of the last one
};

inline bool is_due(const Interval& interval, const StepSpan& end) {
  if (interval.count == 0) return false;
  if (!interval.epochs) return end.step % interval.count == 0;
  return end.after.epoch / interval.count != end.before.epoch / interval.count;
}

class Trainer {
 public:
  // All references must outlive the trainer. Without a `run` nothing is saved, and time is never
  // up.
  Trainer(const PreparedRun& prepared, RunWriter* run);

  // Instead of a start at step 0 from the seed:
  void restore(const Checkpoint& checkpoint);
  // With these weights; saved at once as step 0.
  void start_from(const ParamVec<float>& weights);
  // With a checkpoint of another run; saved at once in this one, with this config.
  void adopt(const Checkpoint& checkpoint) {
    restore(checkpoint);
    save();
  }
  void listen(Listeners listeners) { listeners_ = std::move(listeners); }

  // Trains until the config, `stop_at` (0: no limit) or a signal ends it, and saves. `asked`: as
  // what it stops there. Error (diverged) if it cannot go on, for NaN or infinity or ruined
  // weights: the checkpoints stay as they are, and state() is at the step that failed.
  Stop run(int64_t stop_at, Stop asked = Stop::asked);

  const State& state() const { return state_; }
  // What a save would write now.
  CheckpointContents contents();

 private:
  // Bits of StepBatch::requests.
  enum Request { kStop = 1, kTimeIsUp = 2, kLook = 4 };
  int requests() const;
  // Of several processes, what all know came with the last step.
  int agreed() const { return crew_.alone() ? requests() : last_.requests; }
  void begin_together(int64_t stop_at);
  Stop reason_to_stop(int64_t stop_at) const;
  StepSpan step();
  void log_line();
  bool validate(bool on_grid);
  void save();
  Stop finish(Stop stop);
  [[noreturn]] void not_finite();
  [[noreturn]] void diverged(const string& what);
  Moment moment() {
    return {state_, stepper_.values(), stepper_.weights().used, last_, step_seconds_};
  }
  template <class... Parameters, class... Arguments>
  void tell(void (Listener::*what)(Parameters...), const Arguments&... about) {
    for (const auto& listener : listeners_) {
      (listener.get()->*what)(about...);
      crew_.busy();
    }
  }

  const PreparedRun& prepared_;
  const Crew& crew_;
  RunWriter* run_;
  unique_ptr<const Objective> objective_;
  const int64_t spared_;  // the step whose checkpoint is kept for another end; -1: none
  const bool validates_;
  Batcher feed_;
  Stepper stepper_;
  Listeners listeners_;
  State state_;

  int64_t validated_ = -1, saved_ = -1;  // last steps
  StepResult last_;
  // Speed, for people only: wall time never enters the state.
  double started_ = 0;                          // when run() began
  double step_seconds_ = 0, line_seconds_ = 0;  // of the last step; of those since the last line
  int64_t line_tokens_ = 0;                     // since the last line
};

}  // namespace heed
