// heed fill RUN [TEXT]
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "cli/command.h"
#include "cli/open_model.h"
#include "cli/output.h"
#include "cli/texts.h"
#include "data/user_text.h"
#include "decode/text_stream.h"
#include "show/fill.h"
#include "text/piece_model.h"
#include "text/utf8.h"

namespace heed {
namespace {

nlohmann::ordered_json as_json(const Hypothesis& f, const Tokenizer& tokenizer, bool span) {
  const double p = std::exp(f.log_probability);
  if (!span) return {{"token", tokenizer.piece(f.ids[0])}, {"id", f.ids[0]}, {"probability", p}};
  return {{"text", to_valid_utf8(tokenizer.decode(f.ids))},
          {"tokens", tokenizer.pieces(f.ids)},
          {"ids", f.ids},
          {"probability", p},
          {"log_probability", f.log_probability}};
}

// Even the best whole span may be improbable.
std::string shown_probability(const Hypothesis& f, bool span) {
  const double p = std::exp(f.log_probability);
  return span && p < 0.001 ? fmt::format("{:.1e}", p) : fmt::format("{:.4f}", p);
}

// Without the leading space of its first piece.
std::string as_text(const Hypothesis& f, const Tokenizer& tokenizer) {
  const std::string text = tokenizer.decode(f.ids);
  if (text == " ") return with_space_marks(text);
  return printable(text.starts_with(' ') ? text.substr(1) : text);
}

// Other ways to write [MASK]: <mask>, [mask] and ___.
std::string with_masks(const std::string& text) {
  static const std::regex gap("<mask>|\\[mask\\]|_{3,}", std::regex::icase);
  return std::regex_replace(text, gap, std::string(kMaskText));
}

struct FillOptions {
  TextArguments texts;
  int top_k = 5;
  bool json = false;
};

void answer_gaps(const FillOptions& o, const TrainedModel& m, UserTexts& texts,
                 const GivenText& given) {
  const std::string text = with_masks(given.text);
  const Tokenizer& tokenizer = *m.tokenizers.target;
  if (text.find(kMaskText) == std::string::npos)
    throw Error(Exit::data, given.name + " has no [MASK], <mask> or ___.",
                "heed fill " + m.run + " \"the [MASK] barked\"");
  const TokenIds ids =
      m.objective->framed_source(texts.inspected(Side::source, text, given.name, false).ids());
  std::vector<int> rows;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (m.objective->is_mask(ids[i])) rows.push_back(static_cast<int>(i));
  nlohmann::ordered_json masks = nlohmann::ordered_json::array();
  const bool span = m.model.has_decoder();
  for (const std::vector<Hypothesis>& best : fill(m, ids, rows, o.top_k)) {
    const std::size_t i = masks.size();
    nlohmann::ordered_json candidates = nlohmann::ordered_json::array();
    if (!o.json) print(fmt::format("{}[MASK] {}\n", i == 0 ? "" : "\n", i + 1));
    for (const Hypothesis& f : best) {
      candidates.push_back(as_json(f, tokenizer, span));
      if (!o.json) print("  " + shown_probability(f, span) + "  " + as_text(f, tokenizer) + "\n");
    }
    masks.push_back({{"position", rows[i]}, {"candidates", candidates}});
  }
  if (o.json) print_line({{"text", text}, {"ids", ids}, {"masks", masks}});
}

}  // namespace

Exit run_fill(CommandLine& line) {
  FillOptions o;
  line.add_model();
  CLI::App& app = line.app();
  line.add_texts(o.texts,
                 "a text with one [MASK] or more, or ___ for each; on a terminal heed asks for it");
  app.add_option("--top-k", o.top_k, "how many answers to list for each [MASK]")
      ->check(in_range(1, 1'000'000));
  app.footer(
      "With --json, an object per text: text, ids (what the model reads), masks: the position of "
      "each in ids and its candidates (token, id, probability). A model with a decoder answers "
      "with spans of one token or more (text, tokens, ids, probability, log_probability), at most "
      "32 per mask, each given its best answers to the earlier masks.");
  if (!line.parse()) return Exit::ok;
  o.json = line.json();

  OpenModel m(line);
  m.objective->check_use("fill", m.run);
  UserTexts texts(*m.objective, m.config, m.tokenizers, m.log);
  return answer_texts(o.texts,
                      {.command = "fill",
                       .instructions = std::string(kFills.instructions),
                       .line = &line,
                       .settings = {"top-k"}},
                      {}, m.config, m.log, [&](std::span<const GivenText> given) {
                        answer_gaps(o, m, texts, given.front());
                        return Unknown();
                      });
}

}  // namespace heed
