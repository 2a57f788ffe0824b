// heed fill RUN [TEXT]
#include <cmath>

#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "evaluate/writing.h"
#include "text/utf8.h"

namespace heed {
namespace {

Json candidate_json(const Hypothesis& f, const Tokenizer& tokenizer, bool span) {
  const double p = exp(f.log_probability);
  if (!span) return {{"token", tokenizer.piece(f.ids[0])}, {"id", f.ids[0]}, {"probability", p}};
  return {{"text", to_valid_utf8(tokenizer.decode(f.ids))},
          {"tokens", tokenizer.pieces(f.ids)},
          {"ids", f.ids},
          {"probability", p},
          {"log_probability", f.log_probability}};
}

string answer_text(const Json& candidate) {
  return candidate.contains("text") ? plain(candidate["text"]) : token_text(candidate["token"]);
}

void print_masks(const Json& answer) {
  const Json& masks = answer["masks"];
  for (size_t i = 0; i < masks.size(); ++i) {
    print(fmt::format("{}[MASK] {}\n", i == 0 ? "" : "\n", i + 1));
    print_table(masks[i]["candidates"], {{"", "probability", "{:.3g}"}, {"", "", answer_text}},
                "  ");
  }
}

Json masks_json(OpenModel& m, const GivenText& given, int top_k) {
  const string text = with_masks(m, given);
  const Tokenizer& tokenizer = *m.tokenizers.target;
  const TokenIds ids = m.texts.read({text, {}, given.name, given.is_line}, false).read.source;
  const vector<int> rows = m.objective->masks_in(ids);
  Json masks = Json::array();
  for (const auto& best : fill(m.predictor(), *m.objective, tokenizer, ids, top_k)) {
    Json candidates = Json::array();
    for (const Hypothesis& f : best)
      candidates.push_back(candidate_json(f, tokenizer, m.net.has_decoder()));
    masks.push_back({{"position", rows[masks.size()]}, {"candidates", candidates}});
  }
  return {{"text", text}, {"ids", ids}, {"masks", masks}};
}

}  // namespace

Exit run_fill(CommandLine& line) {
  int top_k = 5;
  line.add_model();
  line.add_with();
  line.add_texts("a text with one [MASK] or more, or ___ for each; on a terminal heed asks for it");
  line.add_number("--top-k", top_k, "how many answers to list for each [MASK]", 1, 1'000'000);
  line.parse();

  OpenModel m(line);
  m.objective->check_use("fill", m.run);
  return answer_each(
      m, {kFills.instructions, {"top-k"}}, "masks",
      [&](const GivenText& given) { return masks_json(m, given, top_k); }, print_masks);
}

}  // namespace heed
