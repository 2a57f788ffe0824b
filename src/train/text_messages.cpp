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

void say_text(Log& log, const OwnText& text, const std::string& name) {
  const TextFacts& f = text.facts;
  const auto n = [](auto x) { return format_count(static_cast<std::int64_t>(x)); };
  std::string line =
      fmt::format("text: {}, {}", printable(name), format_bytes(static_cast<double>(f.bytes)));
  if (text.files.size() > 1) line += fmt::format(" in {} files", text.files.size());
  log.info(line + (f.utf8 ? fmt::format(", {} characters, {} different ones", n(f.characters),
                                        n(f.distinct))
                          : ", not valid UTF-8"));
  if (name.ends_with(".tsv"))
    log.info("it is read as text; for pairs to translate: heed init " + shell_word(name));
}

void say_tokens(Log& log, TokenizerConfig::Type type) {
  log.info(std::string("tokens: ") + reason_of(type));
}

void say_model(Log& log, const OwnText& text, const PreparedRun& run) {
  const bool own = text.like == families().front();
  const auto bytes = static_cast<double>(text.facts.bytes);
  log.info(fmt::format("model: {} with {} weights, a size for {} of text and {:g} minutes{}",
                       text.like, format_rate(static_cast<double>(run.model.table.size())),
                       format_bytes(bytes), text.minutes,
                       own ? " (other kinds: --like prefix_lm, bert, t5)" : ""));
  if (bytes < kLittleText)
    log.info(run.config.data.has_validation()
                 ? "so little text is soon known by heart: the loss on the held-out part may rise "
                   "again; the best checkpoint is the one before that"
                 : "so little text is soon known by heart; nothing is held out of it");
}

void say_plan(Log& log, const Plan& plan, const std::string& run, const std::string& init_from) {
  log.info(fmt::format("steps: {}, {:.3g} times through the text{}; done in about {}",
                       format_count(plan.steps), plan.passes,
                       !plan.chosen                  ? ""
                       : plan.passes < 0.9 * kPasses ? " (--minutes M for more)"
                                                     : " (more would only learn it by heart)",
                       format_duration(plan.seconds)));
  const std::string config = (std::filesystem::path(run) / "config.json").string();
  log.info(
      fmt::format("run: {0}; Ctrl-C stops and saves, heed resume {0} continues", shell_word(run)));
  log.info(fmt::format("to repeat it byte for byte: heed train {} --run {}{}", shell_word(config),
                       shell_word(run + "-again"),
                       init_from.empty() ? "" : " --init-from " + shell_word(init_from)));
}

}  // namespace heed
