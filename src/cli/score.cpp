// heed score RUN [TEXT]
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "base/log.h"
#include "cli/command.h"
#include "cli/long_text.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "data/corpus.h"
#include "data/data_files.h"
#include "data/user_text.h"
#include "evaluate/scorer.h"
#include "math/blas.h"
#include "store/trained_model.h"

namespace heed {
namespace {

constexpr const char* kScoreNotes =
    "Prints the log-probability (nats) of TEXT or of every line of --target, one number per line;\n"
    "on a terminal without either heed asks for texts. All models start from <s>.\n"
    "Pairs: the line and </s>, given the line of --source (TEXT: \"source ||| target\").\n"
    "Text: the tokens of the line without </s>; an encoder-decoder reads the line of --source as\n"
    "the text before it (default: <s> alone). Lines longer than target_length are cut into tiles,\n"
    "as in training.\n"
    "Masked models: pseudo-log-probability, each token masked in turn.\n"
    "With --json, an object per line: logprob, bos_id, source_ids (what the encoder reads of\n"
    "--source), ids (the scored labels), tokens, token_logprobs.";

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
  std::string run, checkpoint, source, target;
  std::optional<std::string> text;
  bool json = false, tokens = false;
  int threads = 0;
};

// Lines on both sides, in order; line `first` (from 0) is the first of a file.
struct ScoredTexts {
  std::span<const std::string> sources, targets;
  std::size_t first = 0;
};

class TextScorer {
 public:
  TextScorer(const ScoreOptions& options, const TrainedModel& model, Log& log)
      : options_(options),
        model_(model),
        log_(log),
        pool_(thread_count(options.threads, model.config)) {
    prepare_blas(pool_.threads());
  }

  void answer(const ScoredTexts& texts) {
    const Tokenizer& source = model_.tokenizers.source();
    const Tokenizer& target = *model_.tokenizers.target;
    std::vector<ScoredLine> lines;
    std::vector<Example> examples;
    for (std::size_t i = 0; i < texts.targets.size(); ++i) {
      const std::string name = fmt::format("line {}", texts.first + i + 1);
      unknown_ += source.unknown(texts.sources[i]);
      unknown_ += target.unknown(texts.targets[i]);
      if (model_.objective->traits().pairs)
        warned_ = warned_ || warn_if_long(model_, source, texts.sources[i], name, log_) ||
                  warn_if_long(model_, target, texts.targets[i], name, log_);
      lines.push_back(model_.objective->score(source.encode(texts.sources[i]),
                                              target.encode(texts.targets[i]), target.size()));
      for (const Example& e : lines.back().examples) {
        check_positions(model_.config.model, std::max(e.source.size(), e.target.size()), name,
                        "<s> or </s>");
        examples.push_back(e);
      }
    }
    const auto scores = label_log_probs(model_.model, model_.values, examples, pool_);
    std::size_t next = 0;
    for (const ScoredLine& l : lines) {
      std::vector<double> token_log_probs;
      for (std::size_t i = 0; i < l.examples.size(); ++i, ++next)
        token_log_probs.insert(token_log_probs.end(), scores[next].begin(), scores[next].end());
      print_score(l, token_log_probs, target, options_.json, options_.tokens);
    }
    flush_output();
  }

  // One line; of a model of pairs "source ||| target".
  void answer_one(std::string_view text) {
    std::string source;
    if (model_.objective->traits().pairs) {
      const std::size_t bar = text.find(kBetweenSides);
      if (bar == std::string_view::npos)
        throw Error(Exit::data,
                    "this model scores pairs: expected a source, \" ||| \" and a target.",
                    "heed score " + options_.run + " \"a source ||| its target\"");
      source = normalized(text.substr(0, bar), model_.config, model_.tokenizers.source());
      text.remove_prefix(bar + kBetweenSides.size());
    }
    const std::string target = normalized(text, model_.config, *model_.tokenizers.target);
    answer({{&source, 1}, {&target, 1}});
    tell_unknown();
  }

  void tell_unknown() { heed::tell_unknown(unknown_, "scored", log_); }

 private:
  static constexpr std::string_view kBetweenSides = " ||| ";

  const ScoreOptions& options_;
  const TrainedModel& model_;
  Log& log_;
  Pool pool_;
  Unknown unknown_;
  bool warned_ = false;
};

void score_files(const ScoreOptions& o, const TrainedModel& m, TextScorer& scorer) {
  const ObjectiveTraits& traits = m.objective->traits();
  if (traits.pairs && o.source.empty())
    throw Error(Exit::usage, "this model scores pairs: --source is missing.", "heed score --help");
  const bool continues = traits.encoder() && traits.decoder() && !traits.prompt_is_source;
  if (!o.source.empty() && !traits.pairs && !continues)
    throw Error(Exit::usage, "this model reads one text: --source does not apply.");
  if (o.source == "-" && o.target == "-")
    throw Error(Exit::usage, "--source and --target cannot both be standard input.");
  const ReadOptions options = read_options(m.config);
  const std::vector<std::string> targets = read_lines(o.target, options);
  std::vector<std::string> sources(targets.size());
  if (!o.source.empty()) sources = read_lines(o.source, options);
  const auto shown = [](const std::string& path) { return path == "-" ? "standard input" : path; };
  if (sources.size() != targets.size())
    throw Error(Exit::data, fmt::format("{} has {} lines, {} has {}.", shown(o.source),
                                        sources.size(), shown(o.target), targets.size()));
  for (std::size_t begin = 0; begin < targets.size(); begin += kScoredLines) {
    const std::size_t n = std::min(targets.size() - begin, kScoredLines);
    scorer.answer(
        {std::span(sources).subspan(begin, n), std::span(targets).subspan(begin, n), begin});
  }
  scorer.tell_unknown();
}

}  // namespace

Exit run_score(CommandLine& line) {
  ScoreOptions o;
  line.add_model(o.run, o.checkpoint);
  auto* text = line.add_text(o.text, "one line to score; \"source ||| target\" in quotes");
  line.add_file("--source", o.source, "file of lines that the lines of --target depend on")
      ->excludes(text);
  line.add_file("--target", o.target, "file of lines to score; - is standard input")
      ->excludes(text);
  line.app().add_flag("--tokens", o.tokens, "also print the number of each token");
  line.add_threads(o.threads);
  line.add_json(o.json);
  line.app().footer(kScoreNotes);
  if (!line.parse()) return Exit::ok;
  const bool texts = answers_texts(o.text, !o.source.empty() || !o.target.empty());
  if (!texts && o.target.empty())
    throw Error(Exit::usage, "expected a text, or --target.", "heed score --help");

  Log log({.quiet = line.quiet()});
  const TrainedModel m = load_trained_model(o.run, o.checkpoint);
  TextScorer scorer(o, m, log);
  if (texts)
    return answer_texts(
        o.text,
        {"score", m.objective->traits().pairs ? "Type a source ||| its target."
                                              : "Type a text to see its log-probability."},
        log, [&](const std::string& typed) { scorer.answer_one(typed); });
  score_files(o, m, scorer);
  return Exit::ok;
}

}  // namespace heed
