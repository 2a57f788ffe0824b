// heed score RUN [TEXT]
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "cli/command.h"
#include "cli/open_model.h"
#include "cli/output.h"
#include "cli/texts.h"
#include "data/user_text.h"
#include "evaluate/scorer.h"

namespace heed {
namespace {

constexpr const char* kScoreNotes =
    "Prints the log-probability (nats) of TEXT, of every line of --file or of standard input, one\n"
    "number per line; on a terminal heed asks for texts. All models start from <s>.\n"
    "Pairs: the target and </s>, given the text; without --target or --target-file a text or line\n"
    "is \"source ||| target\".\n"
    "Text: the tokens of the line without </s>. With --target or --target-file an encoder-decoder\n"
    "scores these, and the text is what comes before (default: <s> alone). Lines longer than\n"
    "target_length are cut into tiles, as in training.\n"
    "Masked models: pseudo-log-probability, each token masked in turn.\n"
    "With --json, an object per line: logprob, bos_id, source_ids (what the encoder reads of the\n"
    "source), ids (the scored labels), tokens, token_logprobs.";

constexpr std::size_t kScoredLines = 256;  // scored at a time

void print_score(const ScoredLine& line, const std::vector<double>& token_log_probs,
                 const Tokenizer& t, bool json, bool tokens) {
  double sum = 0;
  for (const double x : token_log_probs) sum += x;
  if (json)
    return print_line({{"logprob", sum},
                       {"bos_id", Tokenizer::kBos},
                       {"source_ids", line.source_ids},
                       {"ids", line.ids},
                       {"tokens", t.pieces(line.ids)},
                       {"token_logprobs", token_log_probs}});
  print(fmt::format("{:.6f}\n", sum));
  if (!tokens) return;
  for (std::size_t i = 0; i < line.ids.size(); ++i)
    print(fmt::format("\t{:.6f}\t{}\n", token_log_probs[i], t.piece(line.ids[i])));
}

struct ScoreOptions {
  TextArguments texts;
  bool json = false, tokens = false;
};

class TextScorer {
 public:
  TextScorer(const ScoreOptions& options, OpenModel& model)
      : options_(options),
        model_(model),
        texts_(*model.objective, model.config, model.tokenizers, model.log) {}

  // Prints the scores; returns unknown tokens.
  Unknown answer(std::span<const GivenText> texts) {
    const Tokenizer& target = *model_.tokenizers.target;
    std::vector<ScoredLine> lines;
    std::vector<Example> examples;
    for (const GivenText& text : texts) {
      const auto [given, scored] = sides_of(text);
      lines.push_back(model_.objective->score(given, scored, target.size()));
      for (const Example& e : lines.back().examples) {
        texts_.check_length(Side::source, e.source.size(), text.name);
        texts_.check_length(Side::target, e.target.size(), text.name);
        examples.push_back(e);
      }
    }
    const auto scores = label_log_probs(model_.model, model_.values, examples, model_.pool);
    std::size_t next = 0;
    for (const ScoredLine& l : lines) {
      std::vector<double> token_log_probs;
      for (std::size_t i = 0; i < l.examples.size(); ++i, ++next)
        token_log_probs.insert(token_log_probs.end(), scores[next].begin(), scores[next].end());
      print_score(l, token_log_probs, target, options_.json, options_.tokens);
    }
    return texts_.take_unknown();
  }

 private:
  static constexpr std::string_view kBetweenSides = " ||| ";

  // The given and the scored side. A line of pairs without its own target holds both.
  std::pair<TokenIds, TokenIds> sides_of(const GivenText& t) {
    std::string_view given, scored = t.text;
    if (t.target) {
      given = t.text;
      scored = *t.target;
    } else if (model_.objective->traits().scored_given == Given::source) {
      const std::size_t bar = scored.find(kBetweenSides);
      if (bar == std::string_view::npos)
        throw Error(
            Exit::data,
            t.name + ": this model scores pairs: expected a source, \" ||| \" and a target.",
            "heed score " + model_.run + " TEXT --target T, or --target-file");
      given = scored.substr(0, bar);
      scored.remove_prefix(bar + kBetweenSides.size());
    }
    const auto ids = [&](Side side, std::string_view text) {
      return texts_.line(side, texts_.normalized(side, text, t.name));
    };
    return {ids(Side::source, given), ids(Side::target, scored)};
  }

  const ScoreOptions& options_;
  OpenModel& model_;
  UserTexts texts_;
};

void check_targets(const TextArguments& given, Given source) {
  if (!given.target && !given.target_file) return;
  if (source == Given::nothing)
    throw Error(Exit::usage, "this model reads one text: --target does not apply.",
                "TEXT, or the lines of --file");
  if (source == Given::source && given.target && !given.text)
    throw Error(Exit::usage, "--target needs the TEXT that it belongs to.");
}

}  // namespace

Exit run_score(CommandLine& line) {
  ScoreOptions o;
  line.add_model();
  line.add_texts(o.texts, "one line to score; \"source ||| target\" in quotes");
  line.add_targets(o.texts, "score this, given TEXT");
  line.app().add_flag("--tokens", o.tokens, "also print the log-probability of each token");
  line.add_threads();
  line.app().footer(kScoreNotes);
  if (!line.parse()) return Exit::ok;
  o.json = line.json();

  OpenModel m(line);
  const Given source = m.objective->traits().scored_given;
  check_targets(o.texts, source);
  TextScorer scorer(o, m);
  return answer_texts(
      o.texts,
      {"score", source == Given::source ? "Type a source ||| its target."
                                        : "Type a text to see its log-probability."},
      {.most = kScoredLines, .fill = true}, m.config, m.log,
      [&](std::span<const GivenText> texts) { return scorer.answer(texts); });
}

}  // namespace heed
