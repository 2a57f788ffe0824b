// heed fill RUN [TEXT]
#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/texts.h"
#include "data/user_text.h"
#include "decode/text_stream.h"
#include "show/fill.h"
#include "text/piece_model.h"

namespace heed {
namespace {

Json candidate_json(const Hypothesis& f, const Tokenizer& tokenizer, bool span) {
  const double p = std::exp(f.log_probability);
  if (!span) return {{"token", tokenizer.piece(f.ids[0])}, {"id", f.ids[0]}, {"probability", p}};
  return {{"text", to_valid_utf8(tokenizer.decode(f.ids))},
          {"tokens", tokenizer.pieces(f.ids)},
          {"ids", f.ids},
          {"probability", p},
          {"log_probability", f.log_probability}};
}

// A span has a text, and even the best one may be improbable.
std::string probability_text(const Json& candidate) {
  const double p = candidate["probability"];
  return candidate.contains("text") && p < 0.001 ? fmt::format("{:.1e}", p)
                                                 : fmt::format("{:.4f}", p);
}

// Without the space of its first piece.
std::string answer_text(const Json& candidate) {
  const std::string text =
      with_space_marks(plain(candidate[candidate.contains("text") ? "text" : "token"]));
  if (text == kSpaceMark) return text;
  return replace_all(text.substr(text.starts_with(kSpaceMark) ? kSpaceMark.size() : 0), kSpaceMark,
                     " ");
}

void print_masks(const Json& masks) {
  const Column columns[] = {{"", "", probability_text}, {"", "", answer_text}};
  for (std::size_t i = 0; i < masks.size(); ++i) {
    print(fmt::format("{}[MASK] {}\n", i == 0 ? "" : "\n", i + 1));
    print_table(masks[i]["candidates"], columns, "  ");
  }
}

void answer_gaps(const CommandLine& line, OpenModel& m, UserTexts& texts, const GivenText& given,
                 int top_k) {
  const std::string text = with_masks(line, given, m.config);
  const Tokenizer& tokenizer = *m.tokenizers.target;
  const TokenIds ids = texts.read({text, {}, given.name, given.is_line}, false).read.source;
  std::vector<int> rows;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (m.objective->is_mask(ids[i])) rows.push_back(static_cast<int>(i));
  Json masks = Json::array();
  for (const std::vector<Hypothesis>& best : fill(m, ids, rows, top_k)) {
    Json candidates = Json::array();
    for (const Hypothesis& f : best)
      candidates.push_back(candidate_json(f, tokenizer, m.model.has_decoder()));
    masks.push_back({{"position", rows[masks.size()]}, {"candidates", candidates}});
  }
  line.json() ? print_line({{"text", text}, {"ids", ids}, {"masks", masks}}) : print_masks(masks);
}

}  // namespace

Exit run_fill(CommandLine& line) {
  TextArguments text;
  int top_k = 5;
  line.add_model();
  line.add_with();
  CLI::App& app = line.app();
  line.add_texts(text,
                 "a text with one [MASK] or more, or ___ for each; on a terminal heed asks for it");
  app.add_option("--top-k", top_k, "how many answers to list for each [MASK]")
      ->check(in_range(1, 1'000'000));
  if (!line.parse()) return Exit::ok;

  OpenModel m(line);
  m.objective->check_use("fill", m.run);
  UserTexts texts(*m.objective, m.config, m.tokenizers, m.log);
  return answer_texts(line,
                      {.instructions = std::string(kFills.instructions), .settings = {"top-k"}}, {},
                      texts, [&](std::span<const GivenText> read, Refusals& refusals) {
                        const GivenText& given = read.front();
                        refusals.answer(given, "masks", line.json(),
                                        [&] { answer_gaps(line, m, texts, given, top_k); });
                      });
}

}  // namespace heed
