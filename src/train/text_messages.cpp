#include "train/text_messages.h"

#include <fmt/core.h>

#include <filesystem>

#include "base/format.h"
#include "base/stored_input.h"
#include "base/utf8.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr double kLittleText = 30e3;
constexpr std::size_t kNamed = 4;  // files, at most

// "the last 10 % of the text; it begins in b.txt"
std::string held_out(const OwnText& text, double fraction) {
  const std::string part = fmt::format("the last {:.3g} % of the text", 100 * fraction);
  const std::vector<std::uint64_t>& sizes = text.facts.sizes;
  auto at = static_cast<std::uint64_t>((1 - fraction) * static_cast<double>(text.facts.bytes));
  std::size_t file = 0;
  while (file + 1 < sizes.size() && at >= sizes[file]) at -= sizes[file++];
  if (sizes.size() == 1) return part;
  return part + "; it begins in " + printable(fs::path(text.files[file]).filename().string());
}

}  // namespace

std::string names_of(const std::vector<std::string>& files) {
  const std::size_t shown = files.size() > kNamed ? kNamed - 1 : files.size();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < shown; ++i) names.push_back(printable(shown_path(files[i])));
  if (shown < files.size()) names.push_back(fmt::format("{} more", files.size() - shown));
  return listed(names);
}

void say_text(Log& log, const FoundTexts& found, const TextFacts& f) {
  std::string line = fmt::format("text: {}, {}", names_of(found.files),
                                 format_bytes(static_cast<double>(f.bytes)));
  if (found.files.size() > 1) line += fmt::format(" in {} files", found.files.size());
  if (f.invalid.empty())
    line += fmt::format(", {}, {} different",
                        counted(format_count(static_cast<std::int64_t>(f.characters)), "character"),
                        f.distinct);
  if (f.byte_order_mark) line += " (its byte order mark is read as a character, too)";
  log.info(line);
  if (!found.left_out.empty())
    log.info("left out (not text, or a folder in the folder): " + names_of(found.left_out));
  const std::string& first = found.files.front();
  if (first.ends_with(".tsv"))
    log.info("it is read as text; for pairs to translate: heed init " + shell_word(first));
}

void say_tokens(Log& log, TokenizerConfig::Type type, const TextFacts& facts) {
  if (type == TokenizerConfig::byte)
    log.info(fmt::format(
        "tokens: single bytes, because the text is not valid UTF-8: {}. To have characters, "
        "convert it (iconv -f LATIN1 -t UTF-8 FILE, if it is Latin-1), or drop a few such bytes "
        "(iconv -c -f UTF-8 -t UTF-8 FILE)",
        facts.invalid));
  else
    log.info(type == TokenizerConfig::bpe
                 ? "tokens: pieces of words, because there is enough text to learn them from"
                 : "tokens: single characters, because the text is too short to learn pieces of "
                   "words from");
}

void say_model(Log& log, const OwnText& text, const PreparedRun& run) {
  const DataConfig& data = run.config.data;
  const bool own = text.like == families().front();
  const auto bytes = static_cast<double>(text.facts.bytes);
  if (data.valid_fraction > 0)
    log.info("held out, to measure with: " + held_out(text, data.valid_fraction));
  log.info(fmt::format("model: {} with {} weights, a size for {} of text and {}{}", text.like,
                       format_rate(static_cast<double>(run.model.table.size())),
                       format_bytes(bytes), counted(fmt::format("{:g}", text.minutes), "minute"),
                       own ? " (other kinds: --like prefix_lm, bert or t5)" : ""));
  if (bytes < kLittleText)
    log.info(data.has_validation()
                 ? "so little text is soon known by heart: the loss on the held-out part may rise "
                   "again; the best checkpoint is the one before that"
                 : "so little text is soon known by heart; nothing is held out of it");
}

void say_plan(Log& log, const Plan& plan, const std::string& run, const std::string& init_from) {
  log.info(fmt::format("steps: {}, {:.3g} times through the text{}; done in about {}",
                       format_count(plan.steps), plan.passes,
                       !plan.chosen ? ""
                       : plan.passes < 0.9 * plan.most_passes
                           ? " (--minutes M for more)"
                           : " (more would only learn it by heart)",
                       format_duration(plan.seconds)));
  const std::string config = (fs::path(run) / "config.json").string();
  log.info(
      fmt::format("run: {0}; Ctrl-C stops and saves, heed resume {0} continues", shell_word(run)));
  log.info(fmt::format("to repeat it byte for byte: heed train {} --run {}{}", shell_word(config),
                       shell_word(run + "-again"),
                       init_from.empty() ? "" : " --init-from " + shell_word(init_from)));
}

}  // namespace heed
