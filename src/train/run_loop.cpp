#include "train/run_loop.h"

#include "base/clock.h"
#include "base/signals.h"
#include "train/run_messages.h"

namespace heed {

RunResult train_to_the_end(const RunLoop& loop, Log& log) {
  Trainer& trainer = loop.trainer;
  const std::string run = loop.run.path().string();
  const Stop stop = trainer.run(loop.stop_at);
  const double seconds = seconds_now() - loop.begin;
  if (loop.profile) say_profile(log, trainer.stepper().gradients().profile());
  say_end(log, stop, trainer, run, seconds);
  const Exit exit = stop == Stop::signal ? exit_of_signal(stop_signal()) : Exit::ok;
  return {exit, run, reason_name(stop), trainer.state(), seconds};
}

}  // namespace heed
