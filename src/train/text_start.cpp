#include "train/text_start.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>

#include "base/signals.h"
#include "train/speed.h"
#include "train/text_messages.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Of what is left of the minutes, in case the machine gets busier.
constexpr double kUsed = 0.9;
constexpr int kSteps = 20;          // measured, and a validation,
constexpr double kMeasured = 0.05;  // each in at most this part of the minutes

// For what comes beside the training: the page, and the yardsticks, which are measured with the
// last of the text.
double seconds_beside(const OwnText& text) {
  return 1 + 2e-6 * std::min(static_cast<double>(text.facts.bytes), 3e6);
}

// After how many steps an end comes that the user has set beside max_steps.
double steps_to_other_ends(const TrainConfig& train, const Speed& speed) {
  double steps = std::numeric_limits<double>::infinity();
  if (train.max_epochs > 0) steps = train.max_epochs / speed.epochs;
  if (train.max_minutes > 0) steps = std::min(steps, 60 * train.max_minutes / speed.step_seconds);
  return steps;
}

std::string absolute_path(const std::string& path) {
  const std::string whole = fs::absolute(path).lexically_normal().string();
  check_writable(whole);
  return whole;
}

// Error (usage) on what contradicts a text that is planned for.
GivenKeys checked_sets(const std::vector<std::string>& sets) {
  GivenKeys given = read_sets(sets);
  if (given.keys.contains("data.train"))
    throw Error(Exit::usage, "--set data.train: the texts stand on the command line already.",
                "all texts there; or a config, with this --set");
  if (given.keys.contains("train.max_steps") && given.values.train.max_steps == 0)
    throw Error(Exit::usage,
                "--set train.max_steps=0: training on a text is planned in steps; expected at "
                "least 1.",
                "without it, --set train.max_epochs or train.max_minutes may end it earlier");
  return given;
}

}  // namespace

std::string name_of_text(const std::string& path) {
  if (path == "-") return "stdin";
  const fs::path whole = (fs::absolute(path) / "").lexically_normal().parent_path();
  std::error_code none;
  fs::path name = fs::is_directory(whole, none) ? whole.filename() : whole.stem();
  if (whole.extension() == ".gz" || whole.extension() == ".xz") name = name.stem();
  return name.empty() ? "text" : name.string();
}

RunResult train_on_text(const TextRequest& request, Log& log) {
  const bool piped = request.texts == std::vector<std::string>{"-"};
  const std::string run = request.run.empty()
                              ? (fs::path("runs") / name_of_text(request.texts.front())).string()
                              : request.run;
  const GivenKeys given = checked_sets(request.sets);
  RunWriter::require_free(run, request.force);

  if (piped && ::isatty(STDIN_FILENO) != 0)
    log.info("type or paste the text; Ctrl-D at the start of a line ends it");
  auto input = piped ? std::make_unique<StoredInput>() : nullptr;
  const bool bytes =
      given.keys.contains("tokenizer.type") && given.values.tokenizer.type == TokenizerConfig::byte;
  const FoundTexts found = find_texts(piped ? std::vector{input->path()} : request.texts, bytes);
  OwnText text;
  text.like = request.like;
  text.minutes = request.minutes;
  std::ranges::transform(found.files, std::back_inserter(text.files), absolute_path);
  text.facts = text_facts(found.files);

  const std::string name = names_of(found.files);
  say_text(log, found, text.facts);
  Suggestion suggestion = suggest(text);
  // The decay is muon's, and would make weights that come from another run forget it.
  const bool muon =
      !given.keys.contains("optimizer.type") || given.values.optimizer.type == OptimizerType::muon;
  if (!muon || !request.init_from.empty()) suggestion.weight_decay = 0;
  const auto config = [&] {
    RunConfig c = parse_config(suggested_config(text, suggestion, name), "the config for " + name,
                               request.sets);
    for (std::string& path : c.data.valid.paths) path = absolute_path(path);
    if (!c.tokenizer.file.empty()) c.tokenizer.file = absolute_path(c.tokenizer.file);
    return c;
  };
  // The run folder is where the config's paths start, once it is there.
  PreparedStart start = prepare_start(request, config(), ".", run);
  RunConfig& c = start.prepared.config;
  watch_signals();
  if (request.init_from.empty() && c.tokenizer.file.empty() &&
      !given.keys.contains("tokenizer.type"))
    say_tokens(log, c.tokenizer.type, text.facts);
  say_model(log, text, start.prepared);

  const double limit = kMeasured * 60 * request.minutes;
  const Speed speed =
      measure_speed(start.prepared, start.pool, [&](std::int64_t steps, double seconds) {
        return steps >= kSteps || seconds > limit || stop_signal() != 0;
      });
  const double validations =
      (kValidations + 1) * measure_validation(start.prepared, start.pool, speed, limit);
  const double most = steps_to_other_ends(c.train, speed);
  const double left = kUsed * (60 * request.minutes - (seconds_now() - request.begin)) -
                      seconds_beside(text) - validations;
  const bool chosen = !given.keys.contains("train.max_steps");
  suggestion.steps = chosen ? steps_in_time(std::min(most, left / speed.step_seconds),
                                            suggestion.passes / speed.epochs)
                            : c.train.max_steps;
  if (piped) {
    text.files = {"text.txt"};
    start.text = std::move(input);
  }
  c = config();
  const double steps = std::min(most, static_cast<double>(c.train.max_steps));
  say_plan(log,
           {.steps = std::llround(steps),
            .chosen = chosen && steps < most,
            .passes = steps * speed.epochs,
            .most_passes = suggestion.passes,
            .seconds = steps * speed.step_seconds + validations},
           run, request.init_from);
  return begin_run(start, request, log);
}

}  // namespace heed
