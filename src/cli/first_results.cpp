#include "cli/first_results.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/format.h"
#include "base/utf8.h"
#include "cli/output.h"
#include "data/objective.h"
#include "show/report.h"
#include "store/origin.h"
#include "text/piece_model.h"
#include "text/utf8.h"

namespace heed {
namespace {

// A few whole words of a text, on one line. If it is cut from a longer text, its first and last
// `cut` words are left out; U+FFFD marks part of a character.
std::string some_words(const std::string& text, std::size_t cut) {
  const std::vector<std::string_view> all = split_words(text);
  std::string words;
  for (std::size_t i = cut; i + cut < all.size(); ++i) {
    const bool whole = all[i].find("\uFFFD") == std::string_view::npos;
    if (!whole && words.empty()) continue;
    if (!whole || words.size() + all[i].size() > 40) break;
    words += (words.empty() ? "" : " ") + std::string(all[i]);
  }
  return words;
}

// Joins pieces of words into text: "▁the ▁b ig" is " the big".
std::string unsplit(std::string pieces) {
  if (pieces.find(kSpaceMark) == std::string::npos) return pieces;
  std::erase(pieces, ' ');
  return replace_all(pieces, kSpaceMark, " ");
}

void log_lines(const std::string& text, Log& log) {
  const std::string ended = text + "\n";  // an empty text is a line too
  for (const std::string_view line : lines_of(ended)) log.info("  | " + printable(line));
}

}  // namespace

bool is_of_own_text(const std::string& run) {
  std::error_code none;
  return std::filesystem::equivalent(read_origin(run).folder, run, none);
}

void show_first_results(const RunResult& result, Log& log) try {
  const std::string& run = result.run;
  const Report report = make_report(run);
  const auto objective = make_objective(parse_config(report.config, run));
  const Use& use = objective->use();
  const bool fills = objective->fills();
  std::string prompt;
  if (!report.film.frames.empty() && !report.film.probe["prompts"].empty()) {
    const auto asked = report.film.probe["prompts"][0].get<std::string>();
    const auto written = report.film.frames.back()["written"][0].get<std::string>();
    log.info(fmt::format("a text, and {}:", use.gives));
    log_lines(fills ? unsplit(asked) : asked, log);
    log.info("becomes");
    log_lines(fills ? unsplit(written) : written, log);
    const auto follows = report.film.probe["expected"][0].get<std::string>();
    if (!fills)
      prompt = objective->continues() ? some_words(asked + follows, 1) : some_words(asked, 0);
  }
  const std::string page = (std::filesystem::path(run) / "report.html").string();
  write_output(page, report_page(report));
  log.info(fmt::format("the whole story, for a browser: {}", page));

  // A model that fills in masks has shown tokens, not text that one types.
  const std::string name = shell_word(run), text = prompt.empty() ? "TEXT" : shell_word(prompt);
  log.info("try next:");
  log.info(fmt::format("  heed {} {}, which asks for {}", use.command, name, use.takes));
  log.info(fmt::format("  heed attend {} {} --html attention.html", name, text));
  log.info(result.reason == "finished"
               ? fmt::format("  heed resume {} --more {}", name,
                             std::max<std::int64_t>(1, result.state.step / 2))
               : fmt::format("  heed evaluate {}", name));
} catch (const Error& e) {
  log.warn(e.what());
}

}  // namespace heed
