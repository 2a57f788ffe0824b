#include "train/training_run.h"

#include <fmt/core.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/signals.h"
#include "evaluate/yardsticks_json.h"
#include "store/origin.h"
#include "train/run_messages.h"

namespace heed {
namespace {

// They are measured once, when the run starts, and logged in metrics.jsonl.
Yardsticks yardsticks_of(const PreparedRun& p, Pool& pool, RunWriter& run, Log& log) {
  if (!p.config.data.has_validation()) return {};
  Yardsticks yardsticks = logged_yardsticks(run.path());
  if (!yardsticks.empty()) return yardsticks;
  if (const double available = available_memory(); p.memory.yardsticks > available) {
    log.info(fmt::format("no yardsticks: they may take {} of memory, {} are available",
                         format_bytes(p.memory.yardsticks), format_bytes(available)));
    return {};
  }
  yardsticks = measure_yardsticks(*make_objective(p.config), *p.tokenizers.target, p.data.train,
                                  p.data.valid, pool, [] { return stop_signal() != 0; });
  if (yardsticks.empty()) return yardsticks;
  run.append_metrics(yardsticks_metrics(yardsticks));
  say_yardsticks(log, yardsticks);
  return yardsticks;
}

}  // namespace

RunResult train_to_the_end(const PreparedRun& prepared, const RunRequest& request, Pool& pool,
                           RunWriter& run, Log& log, const std::function<void(Trainer&)>& set_up) {
  const std::string processor = processor_name();
  log.only_file(fmt::format("{} heed {}{}", date_and_time(), HEED_VERSION,
                            processor.empty() ? "" : " on " + processor));
  say_start(log, prepared);
  Trainer trainer(prepared, run, pool, log);
  set_up(trainer);
  const std::unique_ptr<Film> film = request.film ? request.film(prepared) : nullptr;
  if (film) trainer.film_with(*film);
  const Yardsticks yardsticks = yardsticks_of(prepared, pool, run, log);
  const Stop stop = trainer.run(request.stop_at);
  const Exit exit = stop == Stop::signal ? exit_of_signal(stop_signal()) : Exit::ok;
  const RunResult result{exit, run.path().string(), reason_name(stop), trainer.state(),
                         seconds_now() - request.begin};
  log.only_file(date_and_time());
  say_end(log, stop, result, prepared.config.train.select_by, yardsticks);
  return result;
}

}  // namespace heed
