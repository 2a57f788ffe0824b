#include "cli/first_results.h"

#include <fmt/core.h>

#include <filesystem>

#include "base/error.h"
#include "base/format.h"
#include "base/utf8.h"
#include "data/objective.h"
#include "report/report_page.h"
#include "store/origin.h"
#include "store/result_file.h"
#include "text/piece_model.h"
#include "text/utf8.h"

namespace heed {
namespace {

// The first words of a text, on one line.
std::string beginning(const std::string& text) {
  std::string words;
  for (const std::string_view word : split_words(text)) {
    if (words.size() + word.size() > 40) break;
    words += (words.empty() ? "" : " ") + std::string(word);
  }
  return words;
}

// Pieces of words as the text they are of: "▁the ▁b ig" is " the big".
std::string unsplit(std::string pieces) {
  if (pieces.find(kSpaceMark) == std::string::npos) return pieces;
  std::erase(pieces, ' ');
  for (std::size_t at; (at = pieces.find(kSpaceMark)) != std::string::npos;)
    pieces.replace(at, kSpaceMark.size(), " ");
  return pieces;
}

void log_lines(const std::string& text, Log& log) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    log.info("  | " + printable(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
}

}  // namespace

bool is_of_own_text(const std::string& run) {
  std::error_code none;
  return std::filesystem::equivalent(read_origin(run).folder, run, none);
}

void show_first_results(const std::string& run, const std::string& reason, Log& log) try {
  const Report report = make_report(run);
  const ObjectiveTraits traits = make_objective(parse_config(report.config, run))->traits();
  std::string prompt;
  if (!report.film.frames.empty() && !report.film.probe["prompts"].empty()) {
    const auto asked = report.film.probe["prompts"][0].get<std::string>();
    log.info(traits.fills_masks ? "a text, and what the model puts in its masks:"
                                : "a text, and how the model continues it:");
    log_lines(traits.fills_masks ? unsplit(asked) : asked, log);
    log.info("becomes");
    const auto written = report.film.frames.back()["written"][0].get<std::string>();
    log_lines(traits.fills_masks ? unsplit(written) : written, log);
    if (!traits.fills_masks) prompt = beginning(asked);
  }
  const std::string page = (std::filesystem::path(run) / "report.html").string();
  write_result(page, report_page(report, read_metrics(report.folder, report.last_step)));
  log.info(fmt::format("the whole story, for a browser: {}", page));

  // A model that fills in masks has shown tokens, which are not what one types.
  const std::string name = shell_word(run), text = prompt.empty() ? "TEXT" : shell_word(prompt);
  log.info("try next:");
  log.info(fmt::format("  heed {} {}, which asks for {}", traits.fills_masks ? "fill" : "sample",
                       name, traits.fills_masks ? "texts with a [MASK]" : "texts to continue"));
  log.info(fmt::format("  heed attend {} --source {} --html attention.html", name, text));
  log.info(reason == "finished" ? fmt::format("  heed resume {} --more 1000", name)
                                : fmt::format("  heed evaluate {}", name));
} catch (const Error& e) {
  log.warn(e.what());
}

}  // namespace heed
