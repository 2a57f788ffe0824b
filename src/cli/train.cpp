// heed train CONFIG or TEXT, heed resume RUN
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/log.h"
#include "base/std_names.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "data/corpus.h"
#include "data/objective.h"
#include "math/blas.h"
#include "show/page.h"
#include "store/model.h"
#include "store/run_folder.h"
#include "train/resume.h"
#include "train/training_run.h"

namespace heed {
namespace {

// The end of a run: what its model writes, RUN/live.html, RUN/report.html, and what to try next.
// The run is already complete, so a failure is only a warning.
void show_first_results(const RunResult& result, Log& log) try {
  const string& run = result.run;
  const RunConfig config = config_of_run(run);
  const Use& use = make_objective(config)->use();
  const string name = shell_word(run), page = (fs::path(run) / kReportPage).string();
  show_sample(result, log);
  Json story = report(run);
  const string live = write_live(run, config.train.live, log, &story);
  try {
    write_output(page, page_with(report_html, story));
    log.info("the whole story, for a browser: " + page);
  } catch (const Error& e) {
    log.warn(e.what());
  }
  const string advice = story["advice"]["text"], command = story["advice"]["command"];
  const bool over = result.reason == "finished" || result.reason == "early_stopping";
  if (over && !advice.empty()) log.info(advice);
  log.info("try next:");
  if (!live.empty()) log.info("  " + live);
  log.info(fmt::format("  heed {} {}  # asks for {}", use.command, name, use.takes));
  log.detail(fmt::format("  heed attend {}", name));
  const char* translated = &use == &kTranslates ? " --bleu" : "";
  const string measures =
      config.data.has_validation() ? "evaluate " + name + translated : "inspect " + name;
  log.info("  " + (!over              ? "heed resume " + name
                   : !command.empty() ? command
                                      : "heed " + measures));
} catch (const std::exception& e) {
  log.warn(e.what());
}

// Adds the options of both commands, and parses; the caller adds the keys. What the log shows.
LogOptions parse_shared(CommandLine& line, RunRequest& request) {
  bool verbose = false;
  line.app.add_flag("--verbose", verbose,
                    "in a terminal: every line of train.log, not one for each tenth of the run");
  line.add_sets();
  line.add_threads();
  line.add_steps("--stop-at", request.stop_at, "save and stop after this step, as a signal would");
  request.command = line.as_typed();
  line.parse();
  request.threads = line.threads;
  request.crew = line.crew;
  return {.quiet = line.quiet, .brief = !verbose};
}

void print_result(const RunResult& r, bool json) {
  const bool validated = r.best && isfinite(r.best->valid_loss);
  if (json)
    print_line({{"run", r.run},
                {"step", r.state.step},
                {"best_loss", validated ? Json(r.best->valid_loss) : Json()},
                {"best_step", validated ? Json(r.best->step) : Json()},
                {"seconds", r.seconds},
                {"reason", r.reason}});
}

// Trains and says how it ended, in train.log too. Who terminates heed does not wait for a page.
template <class Train>
Exit finish(Train&& train, bool json, Log& log) try {
  const RunResult result = train();
  print_result(result, json);
  Log none({.quiet = true});
  if (result.exit != Exit::terminated && result.reason != "already_done")
    show_first_results(result, json ? none : log);
  return result.exit;
} catch (const std::exception& e) {
  log.end_progress();
  log.only_file(string("error: ") + e.what());
  if (const auto* failed = dynamic_cast<const FailedRun*>(&e)) print_result(failed->result, json);
  throw;
}

[[noreturn]] void refuse_run(const string& run) {
  throw usage_error("{} is a run; expected a text or a config.", run)
      .hint("heed resume " + shell_word(run));
}

void check_text(const string& path) {
  if (path == "-") return;
  if (!path_exists(path)) throw data_error("{}: no such file.", path).hint(missing_hint(path));
  if (is_run(path)) refuse_run(path);
  for (const char* end : {".yaml", ".yml", ".toml"})
    if (path.ends_with(end))
      throw usage_error("{}: a config is JSON, which heed init writes.", path)
          .hint("heed train - < " + shell_word(path) + ", if it is text to train on");
}

}  // namespace

Exit run_train(CommandLine& line) {
  RunRequest request;
  OwnText text;
  line.add_file("CONFIG|TEXT", text.files,
                "a config (.json, or the name of one that comes with heed); or the text to train "
                "on: files, folders, or - (standard input)")
      ->required();
  line.add_file("--run", request.folder, "run folder (default: runs/<name of config or text>)");
  line.add_like(text);
  const auto init_from = line.add_run(
      request.init_from,
      "start at step 0 with the weights and tokenizer of this run; a text also takes its objective "
      "and model",
      "--init-from");
  for (const char* shape : {"--like", "--for"}) line.app.get_option(shape)->excludes(init_from);
  line.app.add_flag("--force", request.force, "rename an existing run folder to NAME.old-K");
  optional<string> prompt;
  line.app.add_flag("--no-live")->description("write no live.html at the end (train.live false)");
  line.app.add_option("--prompt", prompt,
                      "what samples begin with (train.prompt; default: chosen from held-out text)");
  Log log(parse_shared(line, request));
  check_utf8(prompt.value_or(""), "--prompt");
  vector<string> sets;
  if (line.app.count("--no-live") > 0) sets.push_back("train.live=false");
  if (prompt) sets.push_back("train.prompt=" + Json(*prompt).dump());
  request.given = line.given(sets);

  const auto config = ranges::find_if(text.files, names_config);
  if (request.folder.empty()) request.folder = "runs/" + name_of_text(text.files.front());
  if (config == text.files.end()) {
    ranges::for_each(text.files, check_text);
    return finish([&] { return train_on_text(request, text, log); }, line.json, log);
  }
  const string path = config_path(*config);
  const bool by_name = !config->ends_with(".json");
  if (const fs::path run = fs::path(path).parent_path(); by_name && is_run(run)) refuse_run(run);
  if (text.files.size() > 1)
    throw usage_error("{} is a config, which stands alone; found {}.", *config, joined(text.files))
        .hint("the texts alone; or the config, with --set data.train=...");
  for (const string own : {"--like", "--columns", "--for", "--minutes"})
    if (line.app.count(own) > 0)
      throw usage_error("{} is for texts; {} is a config.", own, *config)
          .hint("heed init, which writes a config; or heed train - < FILE, if it is a text");
  RunConfig read = load_config(path, request.given);
  // Of those that come with heed, which train everywhere.
  if (by_name && read.train.arithmetic == Arithmetic::portable &&
      !request.given.contains("train.arithmetic"))
    if (const string fault = portable_fault(); !fault.empty()) {
      log.warn(fault + " So this run trains native; its digits can differ from those in the docs.");
      read.train.arithmetic = Arithmetic::native;
    }
  return finish([&] { return train_run(request, read, data_folder_of(path), log); }, line.json,
                log);
}

Exit run_resume(CommandLine& line) {
  ResumeRequest request;
  line.add_run(request.folder, "run folder");
  auto* max_steps = line.add_steps("--max-steps", request.max_steps, "train up to this step");
  auto* more =
      line.add_steps(
              "--more", request.more,
              "train this many steps beyond the planned end (a run that stopped early also "
              "needs --set train.patience=0); if the rate has begun to fall, a branch of the run, "
              "NAME-2, goes on from before that")
          ->excludes(max_steps);
  line.add_number("--minutes", request.minutes,
                  "train for so many minutes beyond the planned end, at the speed so far", 1e-3,
                  1e6)
      ->default_str("")
      ->excludes(max_steps)
      ->excludes(more);
  line.add_file("--branch", request.branch,
                "leave RUN alone and continue its newest checkpoint in this new run, "
                "whose schedule (wsd) decays to --max-steps");
  line.app
      .add_option("--checkpoint", request.checkpoint,
                  "with --branch: begin at this one instead: last, best or step-N")
      ->needs("--branch");
  line.app
      .add_flag("--force", request.force, "with --branch: rename an existing run to NAME.old-K")
      ->needs("--branch");
  Log log(parse_shared(line, request));
  request.given = line.given();
  return finish([&] { return resume_run(request, log); }, line.json, log);
}

}  // namespace heed
