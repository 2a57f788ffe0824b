// heed train CONFIG
#include "train/training_run.h"

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "math/blas.h"

namespace heed {
namespace {

constexpr std::int64_t kMostSteps =
    500'000'000'000;  // of an option; train.max_steps takes twice that

}  // namespace

Exit run_train(CommandLine& line) {
  TrainRequest request;
  bool quiet = false;
  line.add_config(request.config);
  line.app().add_option("--run", request.run, "run folder (default: runs/<config name>)");
  line.add_sets(request.sets);
  line.add_threads(request.threads);
  line.app()
      .add_option("--stop-at", request.stop_at, "save and stop after this step, as a signal would")
      ->check(CLI::PositiveNumber);
  line.app().add_option("--init-from", request.init_from,
                        "start at step 0 with the weights and tokenizer of this run");
  line.app().add_flag("--profile", request.profile, "say in the end where the time went");
  line.app().add_flag("--force", request.force, "rename an existing run folder to NAME.old-K");
  line.add_quiet(quiet);
  if (!line.parse()) return Exit::ok;
  request.command = line.as_typed();
  prepare_blas();
  Log log({.quiet = quiet});
  return train_run(request, log);
}

Exit run_resume(CommandLine& line) {
  ResumeRequest request;
  bool quiet = false;
  line.add_run(request.run);
  auto* max_steps = line.app()
                        .add_option("--max-steps", request.max_steps, "train up to this step")
                        ->check(CLI::Range(std::int64_t{1}, kMostSteps));
  line.app()
      .add_option("--more", request.more, "train this many steps more")
      ->check(CLI::Range(std::int64_t{1}, kMostSteps))
      ->excludes(max_steps);
  line.add_sets(request.sets);
  line.add_threads(request.threads);
  line.app()
      .add_option("--stop-at", request.stop_at, "save and stop after this step, as a signal would")
      ->check(CLI::PositiveNumber);
  line.app().add_flag("--profile", request.profile, "say in the end where the time went");
  line.add_quiet(quiet);
  if (!line.parse()) return Exit::ok;
  prepare_blas();
  Log log({.quiet = quiet});
  return resume_run(request, log);
}

}  // namespace heed
