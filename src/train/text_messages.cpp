#include "train/text_messages.h"

#include <fmt/core.h>

#include <filesystem>

#include "base/format.h"
#include "base/utf8.h"

namespace heed {
namespace {

constexpr double kLittleText = 30e3;

const char* reason_of(TokenizerConfig::Type type) {
  switch (type) {
    case TokenizerConfig::byte:
      return "single bytes, because the text is not valid UTF-8";
    case TokenizerConfig::bpe:
      return "pieces of words, because there is enough text to learn them from";
    default:
      return "single characters, because the text is too short to learn pieces of words from";
  }
}

}  // namespace

Lines describe_text(const OwnText& text, const std::string& name) {
  const TextFacts& f = text.facts;
  const auto n = [](auto x) { return format_count(static_cast<std::int64_t>(x)); };
  std::string line =
      fmt::format("text: {}, {}", printable(name), format_bytes(static_cast<double>(f.bytes)));
  if (text.files.size() > 1) line += fmt::format(" in {} files", text.files.size());
  line += f.utf8 ? fmt::format(", {} characters, {} different ones", n(f.characters), n(f.distinct))
                 : std::string(", not valid UTF-8");
  Lines lines{line};
  if (name.ends_with(".tsv"))
    lines.push_back("it is read as text; for pairs to translate: heed init " + shell_word(name));
  return lines;
}

Lines describe_choices(const OwnText& text, const Suggestion& suggestion, const PreparedRun& run) {
  const TokenizerConfig::Type type = run.config.tokenizer.type;
  const bool own = text.like == families().front();
  const auto bytes = static_cast<double>(text.facts.bytes);
  Lines lines;
  if (type == suggestion.tokenizer) lines.push_back(std::string("tokens: ") + reason_of(type));
  lines.push_back(fmt::format("model: {} with {} weights, a size for {} of text and {:g} minutes{}",
                              text.like, format_rate(static_cast<double>(run.model.table.size())),
                              format_bytes(bytes), text.minutes,
                              own ? " (other kinds: --like prefix_lm, bert, t5)" : ""));
  if (bytes < kLittleText)
    lines.push_back(run.config.data.has_validation()
                        ? "so little text is soon known by heart: the loss on the held-out part "
                          "will turn up, and the best checkpoint is the one before that"
                        : "so little text is soon known by heart; nothing is held out of it");
  return lines;
}

Lines describe_plan(const Suggestion& s, const Plan& plan, const std::string& run) {
  Lines lines;
  if (s.steps > 0)
    lines.push_back(fmt::format("steps: {}, {:.3g} times through the text{}; done in about {}",
                                format_count(s.steps), plan.passes,
                                !plan.chosen ? ""
                                : plan.passes < 0.9 * kPasses
                                    ? " (--minutes M for more)"
                                    : " (more would only learn it by heart)",
                                format_duration(plan.seconds)));
  const std::string config = (std::filesystem::path(run) / "config.json").string();
  lines.push_back(
      fmt::format("run: {0}; Ctrl-C stops and saves, heed resume {0} continues", shell_word(run)));
  lines.push_back(fmt::format("to repeat it byte for byte: heed train {} --run {}",
                              shell_word(config), shell_word(run + "-again")));
  return lines;
}

}  // namespace heed
