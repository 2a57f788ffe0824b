// heed score RUN [TEXT]
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "base/format.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/texts.h"
#include "data/user_text.h"
#include "evaluate/scorer.h"

namespace heed {
namespace {

constexpr std::size_t kScoredLines = 1024;  // scored at a time; an even number

Json score_json(const ScoredLine& line, double logprob, const std::vector<TokenOdds>& odds,
                const Tokenizer& t) {
  Json j{{"logprob", logprob},
         {"bos_id", Tokenizer::kBos},
         {"source_ids", line.source_ids},
         {"ids", line.ids},
         {"tokens", t.pieces(line.ids)}};
  j.update(odds_json(odds, t));
  return j;
}

void print_tokens(const Json& score) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < score["tokens"].size(); ++i)
    rows.push_back({{"logprob", score["token_logprobs"][i]},
                    {"token", score["tokens"][i]},
                    {"rank", score["ranks"][i]},
                    {"entropy", score["entropies"][i]},
                    {"expected", score["alternatives"][i]}});
  const Column columns[] = {
      {"log-prob.", "logprob", on_terminal() ? fixed<3> : fixed<6>},
      {"token", "token", token_text},
      {"rank", "rank"},
      {"entropy", "entropy", fixed<3>, 1},
      {"expected", "expected", alternatives_text, 0, Column::cut},
  };
  on_terminal() ? print_table(rows, columns, "  ") : print_tabs(rows, columns, "\t");
}

void print_score(const Json& score, bool tokens) {
  if (score["logprob"].is_null()) return print("\n");  // refused
  print(fixed<6>(score["logprob"]) + "\n");
  if (tokens) print_tokens(score);
}

struct ScoreOptions {
  TextArguments texts;
  bool json = false, tokens = false;
  int top_k = 5;
};

// How many lines of --file are more probable than those of --against.
struct Comparison {
  std::int64_t lines = 0, better = 0, ties = 0, left_out = 0;
  std::map<std::array<TokenIds, 4>, double> copies = {};  // of each pair of lines
};

// With a 95 % interval (Wilson 1927, Journal of the American Statistical Association 22). Copies
// tell the same: n of them in all are as (sum c)² / sum c² pairs that are all different, where each
// occurs c times (Kish 1965, Survey Sampling).
Json comparison_json(const Comparison& c) {
  if (c.lines == 0)
    throw Error(Exit::data, "there are no two lines to compare.",
                "files with lines that this model can read");
  constexpr double z = 1.959964;  // 95 % of the normal distribution are between -z and z
  double squares = 0;
  for (const auto& [ids, times] : c.copies) squares += times * times;
  const double lines = static_cast<double>(c.lines), n = lines * lines / squares,
               share = (static_cast<double>(c.better) + static_cast<double>(c.ties) / 2) / lines,
               half = z * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
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

class TextScorer {
 public:
  TextScorer(const ScoreOptions& options, OpenModel& model, UserTexts& texts)
      : options_(options), model_(model), texts_(texts) {}

  // Prints or compares the scores.
  void answer(std::span<const GivenText> texts, Refusals& refusals) {
    const Tokenizer& target = *model_.tokenizers.target;
    const std::size_t at_once = std::min<std::size_t>(texts.size(), model_.pool.threads());
    std::vector<std::optional<ScoredLine>> lines;  // none: refused
    std::vector<std::string> refused;
    std::vector<Example> examples;
    for (const GivenText& text : texts) {
      std::optional<ScoredLine>& line = lines.emplace_back();
      refused.push_back(refusals.refusal_of(text, [&] {
        ScoredLine read = texts_.scored(text);
        for (const Example& e : read.examples) {
          texts_.check_length(Side::source, e.source.size(), text.name, at_once);
          texts_.check_length(Side::target, e.target.size(), text.name, at_once);
        }
        examples.insert(examples.end(), read.examples.begin(), read.examples.end());
        line = std::move(read);
      }));
    }
    const int top_k = options_.json || options_.tokens ? options_.top_k : -1;
    const auto scores = label_odds(model_.model, model_.values, examples, model_.pool, top_k);
    std::vector<double> sums;  // of the log-probabilities of each line
    std::size_t next = 0;
    for (const auto& l : lines) {
      std::vector<TokenOdds> odds;
      for (std::size_t i = 0; l && i < l->examples.size(); ++i, ++next)
        odds.insert(odds.end(), scores[next].begin(), scores[next].end());
      double& sum = sums.emplace_back(0);
      for (const TokenOdds& token : odds) sum += token.log_probability;
      if (options_.texts.against) continue;
      const Json score = l ? score_json(*l, sum, odds, target)
                           : Json{{"logprob", nullptr}, {"error", refused[&l - lines.data()]}};
      options_.json ? print_line(score) : print_score(score, options_.tokens);
    }
    for (std::size_t i = 1; options_.texts.against && i < lines.size(); i += 2)
      compare(lines[i - 1], sums[i - 1], lines[i], sums[i]);
  }

  const Comparison& comparison() const { return comparison_; }

 private:
  void compare(const std::optional<ScoredLine>& a, double a_sum, const std::optional<ScoredLine>& b,
               double b_sum) {
    const bool both = a && b && !a->ids.empty() && !b->ids.empty(),
               same = both && a->ids == b->ids && a->source_ids == b->source_ids;
    comparison_.lines += both;
    comparison_.left_out += !both;
    comparison_.ties += both && (same || a_sum == b_sum);
    comparison_.better += both && !same && a_sum > b_sum;
    if (both) ++comparison_.copies[{a->source_ids, a->ids, b->source_ids, b->ids}];
  }

  const ScoreOptions& options_;
  OpenModel& model_;
  UserTexts& texts_;
  Comparison comparison_;
};

}  // namespace

Exit run_score(CommandLine& line) {
  ScoreOptions o;
  line.add_model();
  line.add_with();
  line.add_precision();
  line.add_texts(o.texts, "one line to score; \"source ||| target\" in quotes");
  line.add_targets(o.texts, "score this, given TEXT");
  line.app().add_flag("--tokens", o.tokens,
                      "also print each token and what was expected in its place");
  line.app()
      .add_option("--top-k", o.top_k, "how many alternatives to list")
      ->check(in_range(0, 1'000'000));
  line.app()
      .add_option("--against", o.texts.against,
                  "how often is a line of --file more probable than that of FILE?")
      ->type_name("FILE");
  line.only_where({"--top-k"}, "with --tokens or --json",
                  [&](auto*) { return o.tokens || line.json(); });
  line.only_where({"--against"}, "with --file", [&](auto*) { return o.texts.file.has_value(); });
  line.only_where({"--tokens", "--top-k", "--target-file"}, "without --against",
                  [&](auto*) { return !o.texts.against; });
  if (!line.parse()) return Exit::ok;
  o.json = line.json();

  OpenModel m(line);
  UserTexts as_read(*m.objective, m.config, m.tokenizers, m.log);
  TextScorer scorer(o, m, as_read);
  const Exit exit = answer_texts(
      line,
      {.instructions = m.objective->traits().pairs() ? "Type a source ||| its target."
                                                     : "Type a text to see its log-probability.",
       .settings = std::vector<std::string>(o.tokens || o.json ? 1 : 0, "top-k")},
      {.most = kScoredLines}, as_read, [&](std::span<const GivenText> texts, Refusals& refusals) {
        scorer.answer(texts, refusals);
      });
  if (!o.texts.against) return exit;
  const Json compared = comparison_json(scorer.comparison());
  o.json ? print_line(compared) : print_comparison(compared);
  return exit;
}

}  // namespace heed
