#include "train/text_start.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/signals.h"
#include "base/stored_input.h"
#include "train/speed.h"
#include "train/text_messages.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Of what is left of the minutes, in case the machine gets busier.
constexpr double kUsed = 0.9;
constexpr double kMeasured = 0.05;  // of the minutes, at most

double seconds_of(double steps, const Speed& speed) {
  return steps * speed.step + (kValidations + 1) * speed.validation;
}

std::string absolute_path(const std::string& path) {
  return fs::absolute(path).lexically_normal().string();
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
  const std::string& first = request.texts.front();
  const bool piped = first == "-";
  if (piped && request.texts.size() > 1)
    throw Error(Exit::usage, "- (standard input) stands alone; found other texts beside it.");
  const std::string run =
      request.run.empty() ? (fs::path("runs") / name_of_text(first)).string() : request.run;
  RunWriter::require_free(run, request.force);

  std::optional<StoredInput> input;
  if (piped) input.emplace();
  OwnText text;
  text.like = request.like;
  text.minutes = request.minutes;
  text.files = piped ? Lines{input->path()} : text_paths(request.texts);
  std::ranges::transform(text.files, text.files.begin(), absolute_path);
  text.facts = text_facts(text.files);

  Lines said;
  const auto say = [&](const Lines& lines) {
    for (const std::string& line : lines) {
      log.info(line);
      said.push_back(line);
    }
  };
  const std::string name = piped ? "standard input" : first;
  say(describe_text(text, name));
  Suggestion suggestion = suggest(text);
  const auto config = [&] {
    RunConfig c = parse_config(suggested_config(text, suggestion, name), "the config for " + name,
                               request.sets);
    for (std::string& path : c.data.valid.paths) path = absolute_path(path);
    if (!c.tokenizer.file.empty()) c.tokenizer.file = absolute_path(c.tokenizer.file);
    return c;
  };
  // The run folder is where the config's paths start, once it is there.
  PreparedStart start = prepare_start(request, config(), ".", run);
  watch_signals();
  say(describe_choices(text, suggestion, start.prepared));

  const Speed speed = measure_speed(start.prepared, start.pool, kMeasured * 60 * request.minutes);
  const std::int64_t guessed = start.prepared.config.train.max_steps;
  const bool chosen = guessed == suggestion.steps;  // and not set by the user
  const double left = kUsed * (60 * request.minutes - (seconds_now() - request.begin));
  suggestion.steps =
      chosen ? useful_steps((left - seconds_of(0, speed)) / speed.step, speed.epochs) : guessed;
  if (piped) {
    text.files = {"text.txt"};
    start.text = input->bytes();
    input.reset();
  }
  start.prepared.config = config();
  const auto steps = static_cast<double>(suggestion.steps);
  say(describe_plan(suggestion, {chosen, steps * speed.epochs, seconds_of(steps, speed)}, run));
  start.said = std::move(said);
  return begin_run(start, request, log);
}

}  // namespace heed
