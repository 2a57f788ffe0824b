// heed score RUN [TEXT], and heed tokenize RUN [TEXT]
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "evaluate/scorer.h"
#include "text/piece_model.h"
#include "text/utf8.h"

namespace heed {
namespace {

void print_tokens(const Json& score) {
  Json rows = Json::array();
  const vector<Column> columns = {
      {"log-prob.", "token_logprobs", on_terminal() ? "{:.3f}" : "{:.6f}"},
      {"token", "tokens", token_text},
      {"rank", "ranks"},
      {"entropy", "entropies", "{:.3f}", 1},
      {"expected", "alternatives", alternatives_text, 0, Column::cut},
  };
  for (const Column& column : columns)
    for (size_t i = 0; i < score["tokens"].size(); ++i) rows[i][column.key] = score[column.key][i];
  on_terminal() ? print_table(rows, columns, "  ") : print_tabs(rows, columns, "\t");
}

void print_score(const Json& score, bool tokens) {
  if (score["logprob"].is_null()) return print("\n");  // refused
  print(fixed<6>(score["logprob"]) + "\n");
  if (tokens) print_tokens(score);
}

// How many lines of --file are more probable than those of --against.
struct Comparison {
  int64_t lines = 0, better = 0, ties = 0, left_out = 0;
  map<array<Json, 4>, double> copies = {};  // of each pair of lines

  void add(const Json& a, const Json& b) {
    if (a["logprob"].is_null() || b["logprob"].is_null() || a["ids"].empty() || b["ids"].empty()) {
      ++left_out;
      return;
    }
    const bool same = a["ids"] == b["ids"] && a["source_ids"] == b["source_ids"];
    ++lines;
    ties += same || a["logprob"] == b["logprob"];
    better += !same && a["logprob"] > b["logprob"];
    ++copies[{a["source_ids"], a["ids"], b["source_ids"], b["ids"]}];
  }
};

// With a 95 % interval (Wilson 1927, Journal of the American Statistical Association 22). Copies
// tell the same: n of them in all are as (sum c)² / sum c² pairs that are all different, where each
// occurs c times (Kish 1965, Survey Sampling).
Json comparison_json(const Comparison& c) {
  if (c.lines == 0)
    throw data_error("there are no two lines to compare.")
        .hint("files with lines that this model can read");
  constexpr double z = 1.959964;  // 95 % of the normal distribution are between -z and z
  double squares = 0;
  for (const auto& [ids, times] : c.copies) squares += times * times;
  const double lines = double(c.lines), n = lines * lines / squares,
               share = (double(c.better) + double(c.ties) / 2) / lines,
               half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  // Both are solutions of a quadratic: their product and the larger give the smaller, without
  // cancellation.
  const auto lower = [&](double p) { return p * p / (p + z * z / (2 * n) + half); };
  return {{"lines", c.lines},
          {"different", c.copies.size()},
          {"better", c.better},
          {"ties", c.ties},
          {"left_out", c.left_out},
          {"share", share},
          {"interval", {lower(share), 1 - lower(1 - share)}}};
}

void print_comparison(const Json& c) {
  const auto percent = [](const Json& share) { return 100 * share.get<double>(); };
  print_fields(
      {{"better",
        fmt::format("{:.2f} % of {}{} (95 % interval {:.2f} to {:.2f})", percent(c["share"]),
                    counted(format_count(c["lines"]), "line"), different_in_words(c, "lines"),
                    percent(c["interval"][0]), percent(c["interval"][1]))},
       {"ties", fmt::format("{}, each counted as half", format_count(c["ties"]))},
       {"left out", format_count(c["left_out"])}});
}

// What the model says of each line, as --json prints it; of one that is refused, why.
vector<Json> scores_of(OpenModel& m, span<const GivenText> texts, int top_k) {
  const size_t at_once = min<size_t>(texts.size(), m.pool.threads());
  vector<Json> scores(texts.size());
  vector<Example> examples;
  vector<size_t> ends;  // of each line's examples
  for (size_t i = 0; i < texts.size(); ++i) {
    const string refused = m.refusal_of(texts[i], [&] {
      const ScoredLine read = m.texts.scored(texts[i]);
      for (const Example& e : read.examples) {
        m.texts.check_length(Side::source, e.source.size(), texts[i].name, at_once);
        m.texts.check_length(Side::target, e.target.size(), texts[i].name, at_once);
      }
      examples.insert(examples.end(), read.examples.begin(), read.examples.end());
      scores[i] = {{"logprob", 0.0},
                   {"bos_id", Tokenizer::kBos},
                   {"source_ids", read.source_ids},
                   {"ids", read.ids},
                   {"tokens", m.tokenizers.target->pieces(read.ids)}};
    });
    if (!refused.empty()) scores[i] = {{"logprob", nullptr}, {"error", refused}};
    ends.push_back(examples.size());
  }
  const auto odds = label_odds(m.predictor(), examples, m.pool, top_k);
  auto next = odds.begin();
  for (size_t i = 0; i < texts.size(); ++i) {
    if (scores[i].contains("error")) continue;
    vector<TokenOdds> tokens;
    for (; next != odds.begin() + ends[i]; ++next)
      tokens.insert(tokens.end(), next->begin(), next->end());
    double sum = 0;
    for (const TokenOdds& token : tokens) sum += token.log_probability;
    scores[i]["logprob"] = sum;
    scores[i].update(odds_json(tokens, *m.tokenizers.target));
  }
  return scores;
}

}  // namespace

Exit run_score(CommandLine& line) {
  bool tokens = false;
  int top_k = 5;
  optional<string>& against = line.against;
  line.add_model();
  line.add_with();
  line.add_precision();
  line.add_texts("one line to score; \"source ||| target\" in quotes");
  line.add_targets("score this, given TEXT");
  line.app.add_flag("--tokens", tokens, "also print each token and what was expected in its place");
  line.add_number("--top-k", top_k, "with --tokens or --json: how many alternatives to list", 0,
                  1'000'000);
  line.add_file("--against", against,
                "with --file: how often is a line of it more probable than that of this file?");
  line.parse();
  line.only_where(line.file.has_value(), {"--against"}, "with --file");
  if (!line.file) against.reset();
  line.only_where(!against, {"--tokens", "--top-k"}, "without --against");
  if (against && line.target_file)
    throw usage_error("--against and --target-file: each file has its own targets.")
        .hint("paste SOURCE TARGET > FILE");

  OpenModel m(line);
  Comparison comparison;
  vector<string> spaced;
  const Exit exit =
      answer_texts(m,
                   {m.objective->traits().pairs() ? "Type a source ||| its target."
                                                  : "Type a text to see its log-probability.",
                    vector<string>(tokens || line.json ? 1 : 0, "top-k")},
                   [&](span<const GivenText> texts) {
                     const auto scores = scores_of(m, texts, tokens || line.json ? top_k : -1);
                     for (const GivenText& text : texts)
                       if (against && stripped(text.text) != text.text) spaced.push_back(text.name);
                     for (size_t i = 1; against && i < scores.size(); i += 2)
                       comparison.add(scores[i - 1], scores[i]);
                     if (against) return;
                     for (const Json& score : scores)
                       line.json ? print_line(score) : print_score(score, tokens);
                   });
  if (!against) return exit;
  if (!spaced.empty()) m.log.warn(spaced_in_words(spaced));
  const Json compared = comparison_json(comparison);
  line.json ? print_line(compared) : print_comparison(compared);
  return exit;
}

Exit run_tokenize(CommandLine& line) {
  bool ids = false;
  line.add_model();
  line.add_texts("one line; its words need no quotes");
  line.app.add_flag("--ids", ids, "numbers instead of pieces");
  line.add_side();
  line.parse();

  OpenModel m(line, 1);
  const Tokenizer& tokenizer =
      line.side() == Side::source ? m.tokenizers.source() : *m.tokenizers.target;
  const auto answer = [&](const GivenText& text) -> Json {
    const TokenizedText read = m.texts.tokenized(line.side(), text.text, text.name);
    Json bytes = Json::array();
    for (const Token& token : read.tokens) bytes.push_back({token.begin, token.end});
    return {{"text", read.text},
            {"ids", read.ids()},
            {"tokens", tokenizer.pieces(read.ids())},
            {"bytes", bytes}};
  };
  const auto view = [&](const Json& text) {
    print(joined(mapped(text[ids ? "ids" : "tokens"], token_text), " ") + "\n");
  };
  return answer_each(m, {"Type a text to see its tokens."}, "tokens", answer, view);
}

}  // namespace heed
