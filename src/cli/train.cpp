// heed train CONFIG or TEXT, heed resume RUN
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/folders.h"
#include "base/format.h"
#include "base/input_file.h"
#include "cli/command.h"
#include "cli/config_path.h"
#include "cli/first_results.h"
#include "cli/output.h"
#include "store/layout.h"
#include "train/resume.h"
#include "train/text_start.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTrainNotes =
    "With --json, one object at the end: run, step, best_loss and best_step (null without\n"
    "validation), seconds, reason (finished, early_stopping, stop_at, signal, time, already_done).";

// Adds the options of both commands, and parses.
bool parse_shared(CommandLine& line, RunRequest& request) {
  line.add_sets(request.sets);
  line.add_threads();
  line.add_steps("--stop-at", request.stop_at, "save and stop after this step, as a signal would");
  line.app().footer(kTrainNotes);
  request.command = line.as_typed();
  if (!line.parse()) return false;
  request.threads = line.threads();
  return true;
}

// `show`: also show what the model has learnt.
Exit finish(const RunResult& r, bool json, bool show, Log& log) {
  const bool validated = r.best && std::isfinite(r.best->valid_loss);
  if (json)
    print_line({{"run", r.run},
                {"step", r.state.step},
                {"best_loss", validated ? Json(r.best->valid_loss) : Json()},
                {"best_step", validated ? Json(r.best->step) : Json()},
                {"seconds", r.seconds},
                {"reason", r.reason}});
  if (show && r.exit == Exit::ok) show_first_results(r, log);
  return r.exit;
}

void check_text(const std::string& path) {
  if (path == "-") return;
  if (!path_exists(path)) {
    const std::string hint = missing_hint(path);
    throw Error(
        Exit::data, path + ": no such file.",
        hint.empty() ? "the path of a text or of a folder of texts; - is standard input" : hint);
  }
  if (is_run(path))
    throw Error(Exit::usage, path + " is a run; expected a text or a config.",
                "heed resume " + shell_word(path));
  for (const char* end : {".yaml", ".yml", ".toml"})
    if (path.ends_with(end))
      throw Error(Exit::usage, path + ": a config is JSON, which heed init writes.",
                  "heed train - < " + shell_word(path) + ", if it is text to train on");
}

}  // namespace

Exit run_train(CommandLine& line) {
  TextRequest request;
  line.app()
      .add_option("CONFIG|TEXT", request.texts,
                  "a config (.json, or the name of one that comes with heed); or the text to train "
                  "on: files, folders, or - (standard input)")
      ->type_name("PATH")
      ->default_str("")
      ->required();
  line.app().add_option("--run", request.train.run.folder,
                        "run folder (default: runs/<name of config or text>)");
  const CLI::Option* like = line.add_like(request.like);
  const CLI::Option* minutes = line.add_minutes(request.minutes);
  line.add_run(request.train.init_from,
               "start at step 0 with the weights and tokenizer of this run", "--init-from");
  line.app().add_flag("--force", request.train.run.force,
                      "rename an existing run folder to NAME.old-K");
  if (!parse_shared(line, request.train.run)) return Exit::ok;
  Log log({.quiet = line.quiet()});

  const auto config = std::ranges::find_if(request.texts, names_config);
  if (config == request.texts.end()) {
    for (const std::string& text : request.texts) check_text(text);
    return finish(train_on_text(request, log), line.json(), true, log);
  }
  request.train.config = config_path(*config);
  if (request.texts.size() > 1)
    throw Error(Exit::usage,
                fmt::format("{} is a config, which stands alone; found {} beside it.", *config,
                            request.texts[config == request.texts.begin() ? 1 : 0]),
                "the texts alone; or the config, with --set data.train=...");
  for (const CLI::Option* option : {like, minutes})
    if (option->count() > 0)
      throw Error(
          Exit::usage, fmt::format("{} is for texts; {} is a config.", option->get_name(), *config),
          option == like ? "heed init, which writes a config" : "--set train.max_minutes=M");
  try {
    return finish(train_run(request.train, log), line.json(), request.train.config != *config, log);
  } catch (const Error& e) {
    if (e.exit() != Exit::usage || !request.train.run.sets.empty()) throw;
    std::string begin;
    InputFile(request.train.config, InputFile::Allow::link, e.exit()).append_to(begin, 1 << 18);
    for (const char* section : {"\"data\"", "\"model\"", "\"train\"", "\"objective\""})
      if (begin.find(section) != std::string::npos) throw;
    throw e.as(Exit::usage, "heed train - < " + shell_word(request.train.config) +
                                ", if it is text to train on");
  }
}

Exit run_resume(CommandLine& line) {
  ResumeRequest request;
  line.add_run(request.run.folder, "run folder");
  auto* max_steps = line.add_steps("--max-steps", request.max_steps, "train up to this step");
  line.add_steps("--more", request.more, "train this many steps beyond the planned end")
      ->excludes(max_steps);
  auto* branch =
      line.add_file("--branch", request.branch,
                    "leave RUN alone and continue its newest checkpoint in this new run, "
                    "whose schedule (wsd) decays to --max-steps");
  line.app()
      .add_option("--checkpoint", request.checkpoint,
                  "with --branch: begin at this one instead: last, best or step-N")
      ->needs(branch);
  line.app()
      .add_flag("--force", request.run.force, "with --branch: rename an existing run to NAME.old-K")
      ->needs(branch);
  if (!parse_shared(line, request.run)) return Exit::ok;
  if (branch->count() > 0 && request.branch.empty())
    throw Error(Exit::usage, "--branch is empty; expected the folder of a new run.");
  Log log({.quiet = line.quiet()});
  const RunResult result = resume_run(request, log);
  return finish(result, line.json(), result.reason != "already_done" && is_of_own_text(result.run),
                log);
}

}  // namespace heed
