// heed score RUN [TEXT]
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/texts.h"
#include "data/user_text.h"
#include "evaluate/scorer.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kScoredLines = 256;  // scored at a time

Json score_json(const ScoredLine& line, const std::vector<TokenOdds>& odds, const Tokenizer& t) {
  double sum = 0;
  for (const TokenOdds& token : odds) sum += token.log_probability;
  Json j{{"logprob", sum},
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

class TextScorer {
 public:
  TextScorer(const ScoreOptions& options, OpenModel& model)
      : options_(options),
        model_(model),
        texts_(*model.objective, model.config, model.tokenizers, model.log) {}

  // Prints the scores; returns unknown tokens.
  Unknown answer(std::span<const GivenText> texts, Refusals& refusals) {
    const Tokenizer& target = *model_.tokenizers.target;
    const std::size_t at_once = std::min<std::size_t>(texts.size(), model_.pool.threads());
    std::vector<std::optional<ScoredLine>> lines;  // none: refused
    std::vector<Example> examples;
    for (const GivenText& text : texts) {
      std::optional<ScoredLine>& line = lines.emplace_back();
      refusals.passes(text, [&] {
        ScoredLine read = texts_.scored(text);
        for (const Example& e : read.examples) {
          texts_.check_length(Side::source, e.source.size(), text.name, at_once);
          texts_.check_length(Side::target, e.target.size(), text.name, at_once);
        }
        examples.insert(examples.end(), read.examples.begin(), read.examples.end());
        line = std::move(read);
      });
    }
    const int top_k = options_.json || options_.tokens ? options_.top_k : -1;
    const auto scores = label_odds(model_.model, model_.values, examples, model_.pool, top_k);
    std::size_t next = 0;
    for (const auto& l : lines) {
      std::vector<TokenOdds> odds;
      for (std::size_t i = 0; l && i < l->examples.size(); ++i, ++next)
        odds.insert(odds.end(), scores[next].begin(), scores[next].end());
      const Json score = l ? score_json(*l, odds, target) : Json{{"logprob", nullptr}};
      options_.json ? print_line(score) : print_score(score, options_.tokens);
    }
    return texts_.take_unknown();
  }

 private:
  const ScoreOptions& options_;
  OpenModel& model_;
  UserTexts texts_;
};

}  // namespace

Exit run_score(CommandLine& line) {
  ScoreOptions o;
  line.add_model();
  line.add_texts(o.texts, "one line to score; \"source ||| target\" in quotes");
  line.add_targets(o.texts, "score this, given TEXT");
  line.app().add_flag("--tokens", o.tokens,
                      "also print each token and what was expected in its place");
  line.app()
      .add_option("--top-k", o.top_k, "how many alternatives to list")
      ->check(in_range(0, 1'000'000));
  line.only_where({"--top-k"}, "with --tokens or --json",
                  [&](auto*) { return o.tokens || line.json(); });
  if (!line.parse()) return Exit::ok;
  o.json = line.json();

  OpenModel m(line);
  TextScorer scorer(o, m);
  return answer_texts(
      line,
      {.instructions = m.objective->traits().pairs() ? "Type a source ||| its target."
                                                     : "Type a text to see its log-probability.",
       .settings = {"top-k"}},
      {.most = kScoredLines, .fill = true}, m.config, m.log,
      [&](std::span<const GivenText> texts, Refusals& refusals) {
        return scorer.answer(texts, refusals);
      });
}

}  // namespace heed
