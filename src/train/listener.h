// What a training announces, and who listens. The trainer knows none of its listeners, and trains
// the same numbers without any. A listener is a class and a row in listeners.cpp; a larger one is
// in a file of its own, with its factory: NAME_listener(const ListenerContext&).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/std_names.h"
#include "show/film.h"
#include "step/stepper.h"
#include "store/run.h"
#include "store/run_writer.h"
#include "train/prepared_run.h"

namespace heed {

// Where training stands. References hold during the call.
struct Moment {
  const State& state;
  const ParamVec<float>& values;  // trained
  const ParamVec<float>& used;    // by validation and samples: those, or their average
  const StepResult& last;         // of the last step; without tokens before this process's first
  double seconds;                 // that it took
};

// In the order of the calls.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void began(const Moment&) {}
  // Before each step: will it look at the step's gradient, and at the weights used after it? Only
  // then are they there whole, if several processes train. `validates`: a validation follows,
  // unless a signal interrupts it.
  virtual bool looks_at(int64_t /*step*/, bool /*validates*/) { return false; }
  // The gradients are summed, not clipped.
  virtual void before_update(const ParamVec<float>& /*values*/,
                             const ParamVec<float>& /*gradients*/) {}
  virtual void stepped(const Moment&) {}
  virtual void logged(const TrainEvent&) {}  // every log_every steps
  virtual void validated(const ValidEvent&, const Moment&) {}
  virtual void remarked(const string&) {}  // a warning
  virtual void ended(Stop, const Moment&) {}
};
using Listeners = vector<unique_ptr<Listener>>;

// What a listener may know of a run. References must outlive it.
struct ListenerContext {
  const PreparedRun& prepared;
  RunWriter& run;
  Log& log;
  Film& film;
  double begin = 0;  // of the command (seconds_now())
};

class RunListener : public Listener {
 public:
  explicit RunListener(const ListenerContext& context) : c_(context) {}

 protected:
  const ListenerContext c_;
};

// Those of heed train and heed resume.
Listeners listeners(const ListenerContext& context);

}  // namespace heed
