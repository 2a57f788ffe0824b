// heed train CONFIG, heed resume RUN
#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/output.h"
#include "inspect/run_film.h"
#include "train/resume.h"
#include "train/start.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTrainNotes =
    "With --json, one object at the end: run, step, best_loss and best_step (null without\n"
    "validation), seconds, reason (finished, early_stopping, stop_at, signal, time, already_done).";

void add_shared(CommandLine& line, std::int64_t& stop_at, bool& profile, bool& json) {
  line.add_steps("--stop-at", stop_at, "save and stop after this step, as a signal would");
  line.app().add_flag("--profile", profile,
                      "report at the end where the time went (also in train.log)");
  line.add_json(json);
  line.app().footer(kTrainNotes);
}

Exit finish(const RunResult& r, bool json) {
  const State& s = r.state;
  if (json)
    print_line({{"run", r.run},
                {"step", s.step},
                {"best_loss", std::isfinite(s.best_loss) ? Json(s.best_loss) : Json()},
                {"best_step", std::isfinite(s.best_loss) ? Json(s.best_step) : Json()},
                {"seconds", r.seconds},
                {"reason", r.reason}});
  return r.exit;
}

}  // namespace

Exit run_train(CommandLine& line) {
  TrainRequest request;
  bool json = false;
  line.add_config(request.config);
  line.app().add_option("--run", request.run, "run folder (default: runs/<config name>)");
  line.add_sets(request.sets);
  line.add_threads(request.threads);
  line.app().add_option("--init-from", request.init_from,
                        "start at step 0 with the weights and tokenizer of this run");
  line.app().add_flag("--force", request.force, "rename an existing run folder to NAME.old-K");
  add_shared(line, request.stop_at, request.profile, json);
  if (!line.parse()) return Exit::ok;
  request.command = line.as_typed();
  request.film = film_of;
  Log log({.quiet = line.quiet()});
  return finish(train_run(request, log), json);
}

Exit run_resume(CommandLine& line) {
  ResumeRequest request;
  bool json = false;
  line.add_file("RUN", request.run, "run folder")->required();
  auto* max_steps = line.add_steps("--max-steps", request.max_steps, "train up to this step");
  line.add_steps("--more", request.more, "train this many steps beyond the planned end")
      ->excludes(max_steps);
  line.add_sets(request.sets);
  line.add_threads(request.threads);
  add_shared(line, request.stop_at, request.profile, json);
  if (!line.parse()) return Exit::ok;
  request.film = film_of;
  Log log({.quiet = line.quiet()});
  return finish(resume_run(request, log), json);
}

}  // namespace heed
