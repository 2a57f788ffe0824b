// heed train CONFIG or TEXT, heed resume RUN
#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <filesystem>
#include <string>
#include "base/error.h"
#include "base/folders.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/config_path.h"
#include "cli/output.h"
#include "data/corpus.h"
#include "data/objective.h"
#include "show/film.h"
#include "show/page.h"
#include "show/report.h"
#include "store/layout.h"
#include "store/origin.h"
#include "text/utf8.h"
#include "train/resume.h"
#include "train/text_start.h"
#include "train/training_run.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// A few whole words of a text, on one line; none of those at the ends of one that is cut from a
// longer one (`cut`), nor any with part of a character (U+FFFD).
std::string some_words(std::string_view text, bool cut) {
  constexpr std::size_t kMost = 60;
  if (cut) text.remove_prefix(std::min(text.find_first_of(" \n"), text.size()));
  if (cut || text.size() > kMost) text = whole_words(text, std::min(kMost, text.size()));
  std::string words;
  for (const std::string_view word : split_words(text))
    if (word.find("\uFFFD") == word.npos) words += (words.empty() ? "" : " ") + std::string(word);
  return words;
}

// Of empty lines in a row, one.
void log_lines(const std::string& text, Log& log) {
  const std::string ended = text + "\n";  // an empty text is a line too
  bool empty = false;
  for (const std::string_view line : lines_of(ended)) {
    if (!(empty && line.empty())) log.info("  | " + printable(line));
    empty = line.empty();
  }
}

// Leaves out the parts of words at both ends of a text and what follows it; a word that stands in
// both goes to the latter.
void at_words(std::string& asked, std::string& written) {
  const std::string all = asked + written;
  const std::string_view whole = whole_words(all, all.size());
  const std::size_t between = word_begin(all, asked.size());
  std::size_t begin = 0;
  for (const char* ends : {"\n", " \n"}) {  // at a line, else at a word
    const std::size_t next = asked.find_first_not_of(" \n", asked.find_first_of(ends));
    if (begin == 0 && next <= 3 * asked.size() / 4 && next < between) begin = next;
  }
  asked = all.substr(begin, between - begin);
  written = whole.size() > between ? whole.substr(between) : all.substr(between);
}

// Logs what the model that commands use writes, and returns words of it to look at; "TEXT" if the
// run has no film.
std::string show_sample(const RunResult& result, const Objective& objective,
                        TokenizerConfig::Type tokens, Log& log) {
  const auto [probe, frames] = read_frames(result.run);
  const auto best = std::ranges::find(frames, result.best ? result.best->step : -1, &Frame::step);
  if (best == frames.end() || probe.prompts.empty()) return "TEXT";
  const std::string &asked = probe.prompts[0], &follows = probe.expected[0];
  const bool fills = objective.fills(), continues = objective.continues(),
             spaced = tokens == TokenizerConfig::word;
  log.info(fmt::format("a text, and {}{}:", objective.use().gives, fills ? ", ›so‹" : ""));
  std::string words = best->filled.value_or(""), text = fills ? words : asked,
              written = fills ? "" : best->written[0];
  if (!spaced && (fills || continues)) at_words(text, written);
  log_lines(text, log);
  if (!fills) log.info(continues ? "continues as" : "becomes");
  if (!fills) log_lines(written, log);
  for (const char* mark : {"›", "‹"}) words = replace_all(words, mark, "");
  if (!fills) words = continues ? asked + (spaced ? " " : "") + follows : asked;
  words = some_words(words, fills || continues);
  return words.empty() ? "TEXT" : words;
}

// The end of a run: what its model writes, RUN/report.html, and what to try next. The run is
// already complete, so a failure is only a warning.
void show_first_results(const RunResult& result, Log& log) try {
  const std::string& run = result.run;
  const auto in_run = [&](const char* name) { return (fs::path(run) / name).string(); };
  const RunConfig config = config_of_run(run);
  const auto objective = make_objective(config);
  const std::string words = show_sample(result, *objective, config.tokenizer.type, log),
                    name = shell_word(run);
  const Json story = report(run);
  try {
    write_output(in_run("report.html"), page_with(report_html, story));
    log.info("the whole story, for a browser: " + in_run("report.html"));
  } catch (const Error& e) {
    log.warn(e.what());
  }
  const std::string advice = story["advice"]["text"], command = story["advice"]["command"];
  const bool over = result.reason == "finished" || result.reason == "early_stopping";
  if (over && !advice.empty()) log.info(advice);
  log.info("try next:");
  log.info(fmt::format("  heed {} {}  # asks for {}", objective->use().command, name,
                       objective->use().takes));
  const bool fits = 2 * story["parameter_count"].get<double>() <= kMostLiveBytes;  // into a page
  log.info(fmt::format("  heed attend {} {}{}", name, shell_word(words),
                       fits ? " --html " + shell_word(in_run("live.html")) : ""));
  const char* measures = config.data.has_validation() ? "evaluate" : "inspect";
  log.info("  " + (!over              ? "heed resume " + name
                   : !command.empty() ? command
                                      : fmt::format("heed {} {}", measures, name)));
} catch (const std::exception& e) {
  log.warn(e.what());
}

constexpr const char* kTrainNotes =
    "With --json, one object at the end: run, step, best_loss and best_step (null without "
    "validation), seconds, reason: ";

// Adds the options of both commands, and parses.
void parse_shared(CommandLine& line, RunRequest& request) {
  line.add_sets();
  line.add_threads();
  line.add_steps("--stop-at", request.stop_at, "save and stop after this step, as a signal would");
  line.app().footer(std::string(kTrainNotes) + kReasons + ".");
  request.command = line.as_typed();
  line.parse();
  request.given = line.given();
  request.threads = line.threads();
  request.crew = line.crew();
}

void print_result(const RunResult& r, bool json) {
  const bool validated = r.best && std::isfinite(r.best->valid_loss);
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
    json ? show_first_results(result, none) : show_first_results(result, log);
  return result.exit;
} catch (const std::exception& e) {
  log.end_progress();
  log.only_file(std::string("error: ") + e.what());
  if (const auto* failed = dynamic_cast<const FailedRun*>(&e)) print_result(failed->result, json);
  throw;
}

std::string run_named(const std::string& name) {
  return (fs::path("runs") / name).string();
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

RunConfig read_config(const std::string& path, const GivenKeys& given) try {
  return load_config(path, given);
} catch (const Error& e) {
  if (e.exit() != Exit::usage || !path_exists(path) ||
      first_bytes(path).find("\"data\"") != std::string::npos)
    throw;
  throw e.as(Exit::usage, "heed train - < " + shell_word(path) + ", if it is text to train on");
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
  line.add_file("--run", request.train.run.folder,
                "run folder (default: runs/<name of config or text>)");
  const CLI::Option* like = line.add_like(request.like);
  const CLI::Option* minutes = line.add_minutes(request.minutes);
  auto* init_from =
      line.add_run(request.train.init_from,
                   "start at step 0 with the weights and tokenizer of this run; a text also takes "
                   "its objective and model",
                   "--init-from");
  line.app().add_flag("--force", request.train.run.force,
                      "rename an existing run folder to NAME.old-K");
  parse_shared(line, request.train.run);
  Log log({.quiet = line.quiet()});

  const auto config = std::ranges::find_if(request.texts, names_config);
  if (config == request.texts.end()) {
    for (const std::string& text : request.texts) check_text(text);
    if (like->count() > 0 && init_from->count() > 0)
      throw Error(Exit::usage,
                  "--like chooses a new model; --init-from goes on with that of " +
                      request.train.init_from + ".",
                  "one of them");
    if (request.train.run.folder.empty())
      request.train.run.folder = run_named(name_of_text(request.texts.front()));
    return finish([&] { return train_on_text(request, log); }, line.json(), log);
  }
  const std::string path = config_path(*config);
  if (const fs::path run = fs::path(path).parent_path(); !config->ends_with(".json") && is_run(run))
    throw Error(Exit::usage, *config + " is a run; expected a text or a config.",
                "heed resume " + shell_word(run.string()));
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
  TrainRequest& train = request.train;
  if (train.run.folder.empty()) train.run.folder = run_named(fs::path(path).stem());
  const RunConfig read = read_config(path, train.run.given);
  return finish([&] { return train_run(train, read, data_folder_of(path), log); }, line.json(),
                log);
}

Exit run_resume(CommandLine& line) {
  ResumeRequest request;
  line.add_run(request.run.folder, "run folder");
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
  line.sets_key({"--max-steps", "--more", "--minutes"}, "train.max_steps");
  line.add_file("--branch", request.branch,
                "leave RUN alone and continue its newest checkpoint in this new run, "
                "whose schedule (wsd) decays to --max-steps");
  line.app()
      .add_option("--checkpoint", request.checkpoint,
                  "with --branch: begin at this one instead: last, best or step-N")
      ->needs("--branch");
  line.app()
      .add_flag("--force", request.run.force, "with --branch: rename an existing run to NAME.old-K")
      ->needs("--branch");
  parse_shared(line, request.run);
  Log log({.quiet = line.quiet()});
  return finish([&] { return resume_run(request, log); }, line.json(), log);
}

}  // namespace heed
