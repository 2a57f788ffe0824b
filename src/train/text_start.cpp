#include "train/text_start.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>

#include "base/files.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/signals.h"
#include "train/speed.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Of what is left of the minutes: a step of the run may take longer than those measured.
constexpr double kUsed = 0.9;
constexpr int kValidations = 11;  // of a run, with some to spare for what else is done at times
constexpr double kLittleText = 30e3;

// Standard input as a file in memory that can be read more than once. Owns it.
class StandardInput {
 public:
  StandardInput() : fd_(::memfd_create("standard input", MFD_CLOEXEC)) {
    if (fd_ < 0) throw_file_error("keep", "standard input", errno, Exit::memory);
    InputFile input("-", InputFile::Allow::anything, Exit::data);
    for (std::string block; input.append_to(block, 1 << 20); block.clear())
      for (std::size_t at = 0; at < block.size();) {
        const ssize_t n = ::write(fd_, block.data() + at, block.size() - at);
        if (n < 0 && errno != EINTR)
          throw_file_error("keep", "standard input", errno, Exit::memory);
        if (n > 0) at += static_cast<std::size_t>(n);
      }
    if (text().empty()) throw Error(Exit::data, "standard input is empty; expected text.");
  }
  ~StandardInput() { ::close(fd_); }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_); }
  std::string text() const { return read_file(path(), ~std::uint64_t{0}); }

 private:
  int fd_;
};

// The steps for which there is time, but no more than what the text is good for.
std::int64_t planned_steps(const Suggestion& s, const Speed& speed, double seconds) {
  const double in_time = (kUsed * seconds - kValidations * speed.validation) / speed.step;
  const double enough = s.passes / std::max(1e-12, speed.epochs);
  const double steps = std::clamp(std::min(in_time, enough), 20.0, 1e9);
  return static_cast<std::int64_t>(steps / 10) * 10;
}

const char* reason_of(TokenizerConfig::Type type) {
  switch (type) {
    case TokenizerConfig::byte:
      return "single bytes, because the text is not valid UTF-8";
    case TokenizerConfig::bpe:
      return "pieces of words, because there is enough text to learn them from";
    case TokenizerConfig::word:
      return "words";
    default:
      return "single characters, because the text is too short to learn pieces of words from";
  }
}

// What was chosen and why, in plain words.
class Explanation {
 public:
  Explanation(Log& log, std::vector<std::string>& said) : log_(log), said_(said) {}

  void text(const OwnText& text, const std::string& name) {
    const TextFacts& f = text.facts;
    const std::string files =
        text.files.size() > 1 ? fmt::format(" ({} files)", text.files.size()) : "";
    say(fmt::format("text: {}{}, {}{}", name, files, format_bytes(static_cast<double>(f.bytes)),
                    f.utf8 ? fmt::format(": {} characters, {} different ones",
                                         format_count(static_cast<std::int64_t>(f.characters)),
                                         format_count(f.distinct))
                           : std::string(", not valid UTF-8")));
    if (name.ends_with(".tsv"))
      say("it is read as text; for pairs to translate: heed init " + shell_word(name));
  }

  void choices(const PreparedRun& run, const OwnText& text) {
    const RunConfig& c = run.config;
    say(fmt::format("tokens: {}", reason_of(c.tokenizer.type)));
    const double bytes = static_cast<double>(text.facts.bytes);
    say(fmt::format("model: {} with {} weights, a size for {} of text and {:g} minutes{}",
                    text.like, format_rate(static_cast<double>(run.model.table.size())),
                    format_bytes(bytes), text.minutes,
                    text.like == "gpt" ? " (other kinds: --like prefix_lm, bert, t5)" : ""));
    if (bytes < kLittleText)
      say("so little text is soon known by heart: the loss on the held-out part will turn up, and "
          "the best checkpoint is the one before that");
  }

  void steps(const Suggestion& s, const Speed& speed, bool planned) {
    if (s.steps == 0) return;
    const auto steps = static_cast<double>(s.steps);
    const double passes = steps * speed.epochs;
    say(fmt::format("steps: {}, {:.3g} times through the text{}; done in about {}",
                    format_count(s.steps), passes,
                    !planned                  ? ""
                    : passes < 0.9 * s.passes ? " (--minutes M for more)"
                                              : " (more would only learn it by heart)",
                    format_duration(steps * speed.step + kValidations * speed.validation)));
  }

  void run(const std::string& folder) {
    say(fmt::format("run: {0}; Ctrl-C stops and saves, heed resume {0} continues",
                    shell_word(folder)));
    say(fmt::format("to repeat it byte for byte: heed train {} --run {}",
                    shell_word((fs::path(folder) / "config.json").string()),
                    shell_word(folder + "-again")));
  }

 private:
  void say(const std::string& line) {
    log_.info(line);
    said_.push_back(line);
  }

  Log& log_;
  std::vector<std::string>& said_;
};

std::string absolute_path(const std::string& path) {
  return fs::absolute(path).lexically_normal().string();
}

// Files and folders as absolute paths of files.
std::vector<std::string> absolute_files(const std::vector<std::string>& named) {
  std::vector<std::string> files = text_files(named);
  std::ranges::transform(files, files.begin(), absolute_path);
  return files;
}

}  // namespace

std::string name_of_text(const std::string& path) {
  if (path == "-") return "stdin";
  const fs::path whole = (fs::absolute(path) / "").lexically_normal().parent_path();
  std::error_code none;
  const fs::path name = fs::is_directory(whole, none) ? whole.filename() : whole.stem();
  return name.empty() ? "text" : name.string();
}

RunResult train_on_text(const TextRequest& request, Log& log) {
  const std::string name = request.texts.front();
  const std::string run =
      request.run.empty() ? (fs::path("runs") / name_of_text(name)).string() : request.run;
  RunWriter::require_free(run, request.force);
  std::optional<StandardInput> input;
  if (name == "-") {
    if (request.texts.size() > 1)
      throw Error(Exit::usage, "- (standard input) stands alone; found other texts beside it.");
    input.emplace();
  }
  OwnText text;
  text.files = input ? std::vector{input->path()} : absolute_files(request.texts);
  text.facts = text_facts(text.files);
  text.like = request.like;
  text.minutes = request.minutes;
  const std::string shown = input                      ? "standard input"
                            : request.texts.size() > 1 ? name + " ..."
                                                       : name;

  std::vector<std::string> said;
  Explanation explain(log, said);
  explain.text(text, shown);
  Suggestion suggestion = suggest(text);
  const auto config = [&] {
    RunConfig c = parse_config(suggested_config(text, suggestion, shown), "the config for " + shown,
                               request.sets);
    for (std::string& path : c.data.valid.paths) path = absolute_path(path);
    return c;
  };
  const RunConfig guessed = config();
  PreparedStart start = prepare_start(request, guessed, ".", run);
  watch_signals();
  explain.choices(start.prepared, text);

  const double seconds = 60 * request.minutes;
  const Speed speed = measure_speed(start.prepared, start.pool, 0.05 * seconds);
  const bool planned = guessed.train.max_steps == suggestion.steps;  // and not by --set
  suggestion.steps =
      planned ? planned_steps(suggestion, speed, seconds - (seconds_now() - request.begin))
              : guessed.train.max_steps;
  if (input) {
    text.files = {"text.txt"};
    start.text = input->text();
    input.reset();
  }
  start.prepared.config = config();
  explain.steps(suggestion, speed, planned);
  explain.run(run);
  start.said = std::move(said);
  return begin_run(start, request, log);
}

}  // namespace heed
