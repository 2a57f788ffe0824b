// heed score RUN [TEXT]
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "base/format.h"
#include "cli/command.h"
#include "cli/open_model.h"
#include "cli/output.h"
#include "cli/texts.h"
#include "data/user_text.h"
#include "evaluate/scorer.h"
#include "text/piece_model.h"

namespace heed {
namespace {

constexpr const char* kScoreNotes =
    "Prints the log-probability (nats) of TEXT, of every line of --file or of standard input, one "
    "number per line; on a terminal heed asks for texts. All models start from <s>. Pairs: the "
    "target and </s>, given the text; without --target or --target-file a text or line is \"source "
    "||| target\".\n"
    "Text: the tokens of the line without </s>. With --target or --target-file an "
    "encoder-decoder scores these, and the text is what comes before (default: <s> alone). Lines "
    "longer than target_length are cut into tiles, as in training. Pairs that are too long have an "
    "empty line (with --json, logprob null), and the exit code is 3 at the end.\n"
    "Masked models: "
    "pseudo-log-probability, each token masked in turn.\n"
    "With --json, an object per line: logprob, "
    "bos_id, source_ids (what the encoder reads of the source), ids (the scored labels), tokens, "
    "token_logprobs; and for each token what the model expected in its place: ranks (1: nothing "
    "was more probable), entropies (nats; 0: it was certain), alternatives (the most probable "
    "tokens: id, token, logprob).\n"
    "--tokens prints, after each line, its tokens: log-probability, "
    "token, rank, entropy, and the alternatives with their probabilities in percent; between them "
    "are tabs.";

constexpr std::size_t kScoredLines = 256;  // scored at a time

std::string shown_piece(const Tokenizer& t, int id) {
  return with_space_marks(printable(t.piece(id)));
}

void print_tokens(const std::vector<TokenOdds>& tokens, const Tokenizer& t) {
  for (const TokenOdds& token : tokens) {
    std::vector<std::string> best;
    for (const ScoredToken& b : token.best)
      best.push_back(
          fmt::format("{} {:.0f}%", shown_piece(t, b.id), 100 * std::exp(b.log_probability)));
    print(fmt::format("\t{:.6f}\t{}\t{}\t{:.3f}\t{}\n", token.log_probability,
                      shown_piece(t, token.id), token.rank, token.entropy, joined(best, "  ")));
  }
}

void print_score(const ScoredLine& line, const std::vector<TokenOdds>& odds, const Tokenizer& t,
                 bool json, bool tokens) {
  double sum = 0;
  for (const TokenOdds& token : odds) sum += token.log_probability;
  if (!json) print(fmt::format("{:.6f}\n", sum));
  if (!json && tokens) print_tokens(odds, t);
  if (!json) return;
  nlohmann::ordered_json j{{"logprob", sum},
                           {"bos_id", Tokenizer::kBos},
                           {"source_ids", line.source_ids},
                           {"ids", line.ids},
                           {"tokens", t.pieces(line.ids)}};
  j.update(json_of(odds, t));
  print_line(j);
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

  // Prints the scores; returns unknown tokens. A line that is too long costs itself alone.
  Unknown answer(std::span<const GivenText> texts) {
    const Tokenizer& target = *model_.tokenizers.target;
    std::vector<std::optional<ScoredLine>> lines;  // none: too long
    std::vector<Example> examples;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto [given, scored] = sides_before(texts, i);
      lines.push_back(model_.objective->score(given, scored, target.size()));
      try {
        for (const Example& e : lines.back()->examples) {
          texts_.check_length(Side::source, e.source.size(), texts[i].name);
          texts_.check_length(Side::target, e.target.size(), texts[i].name);
        }
      } catch (const Error& e) {
        if (!texts[i].is_line) throw;
        print_error(e.what());
        too_long_ = true;
        lines.back().reset();
        continue;
      }
      examples.insert(examples.end(), lines.back()->examples.begin(), lines.back()->examples.end());
    }
    const int top_k = options_.json || options_.tokens ? options_.top_k : -1;
    const auto scores = label_odds(model_.model, model_.values, examples, model_.pool, top_k);
    std::size_t next = 0;
    for (const auto& l : lines) {
      if (!l) {
        print(options_.json ? "{\"logprob\":null}\n" : "\n");
        continue;
      }
      std::vector<TokenOdds> odds;
      for (std::size_t i = 0; i < l->examples.size(); ++i, ++next)
        odds.insert(odds.end(), scores[next].begin(), scores[next].end());
      print_score(*l, odds, target, options_.json, options_.tokens);
    }
    return texts_.take_unknown();
  }

  bool too_long() const { return too_long_; }

 private:
  // sides_of(texts[i]); before an error the texts before it are answered.
  std::pair<TokenIds, TokenIds> sides_before(std::span<const GivenText> texts, std::size_t i) {
    try {
      return sides_of(texts[i]);
    } catch (const Error&) {
      if (i > 0) answer(texts.first(i));
      throw;
    }
  }

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
  bool too_long_ = false;
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
  line.app().add_flag("--tokens", o.tokens,
                      "also print each token and what was expected in its place");
  line.app()
      .add_option("--top-k", o.top_k, "with --tokens or --json: how many alternatives to list")
      ->check(in_range(0, 1'000'000));
  line.app().footer(kScoreNotes);
  if (!line.parse()) return Exit::ok;
  o.json = line.json();

  OpenModel m(line);
  const Given source = m.objective->traits().scored_given;
  check_targets(o.texts, source);
  TextScorer scorer(o, m);
  const Exit exit = answer_texts(
      o.texts,
      {.command = "score",
       .instructions = source == Given::source ? "Type a source ||| its target."
                                               : "Type a text to see its log-probability.",
       .line = &line,
       .settings = {"top-k"}},
      {.most = kScoredLines, .fill = true}, m.config, m.log,
      [&](std::span<const GivenText> texts) { return scorer.answer(texts); });
  return exit == Exit::ok && scorer.too_long() ? Exit::data : exit;
}

}  // namespace heed
