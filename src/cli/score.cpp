// heed score RUN --target F
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "cli/command.h"
#include "cli/output.h"
#include "data/corpus.h"
#include "data/data_files.h"
#include "data/user_text.h"
#include "evaluate/scorer.h"
#include "math/blas.h"
#include "store/trained_model.h"

namespace heed {
namespace {

constexpr const char* kScoreNotes =
    "Prints the log-probability (nats) of every line of --target, one number per line. All models\n"
    "start from <s>. Pairs: the line and </s>, given the line of --source. Text: the tokens of\n"
    "the line without </s>; an encoder-decoder reads the line of --source as the text before it\n"
    "(default: <s> alone). Lines longer than target_length are cut into tiles, as in training.\n"
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

}  // namespace

Exit run_score(CommandLine& line) {
  std::string run, checkpoint, source, target;
  bool json = false, tokens = false;
  int threads = 0;
  line.add_model(run, checkpoint);
  line.add_file("--source", source, "file of lines that the lines of --target depend on");
  line.add_file("--target", target, "file of lines to score; - is standard input")->required();
  line.app().add_flag("--tokens", tokens, "also print the number of each token");
  line.add_threads(threads);
  line.add_json(json);
  line.app().footer(kScoreNotes);
  if (!line.parse()) return Exit::ok;

  Log log({.quiet = line.quiet()});
  const TrainedModel m = load_trained_model(run, checkpoint);
  const ObjectiveTraits& traits = m.objective->traits();
  if (traits.pairs && source.empty())
    throw Error(Exit::usage, "this model scores pairs: --source is missing.", "heed score --help");
  const bool continues = traits.encoder() && traits.decoder() && !traits.prompt_is_source;
  if (!source.empty() && !traits.pairs && !continues)
    throw Error(Exit::usage, "this model reads one text: --source does not apply.");
  if (source == "-" && target == "-")
    throw Error(Exit::usage, "--source and --target cannot both be standard input.");
  const ReadOptions options = read_options(m.config);
  const std::vector<std::string> targets = read_lines(target, options);
  std::vector<std::string> sources(targets.size());
  if (!source.empty()) sources = read_lines(source, options);
  if (sources.size() != targets.size())
    throw Error(Exit::data, fmt::format("{} has {} lines, {} has {}.", source, sources.size(),
                                        target, targets.size()));

  Unknown unknown;
  Pool pool(thread_count(threads, m.config));
  prepare_blas(pool.threads());
  for (std::size_t begin = 0; begin < targets.size(); begin += kScoredLines) {
    const std::size_t end = std::min(targets.size(), begin + kScoredLines);
    std::vector<ScoredLine> lines;
    std::vector<Example> examples;
    for (std::size_t i = begin; i < end; ++i) {
      unknown += m.tokenizers.source().unknown(sources[i]);
      unknown += m.tokenizers.target->unknown(targets[i]);
      lines.push_back(m.objective->score(m.tokenizers.source().encode(sources[i]),
                                         m.tokenizers.target->encode(targets[i]),
                                         m.tokenizers.target->size()));
      for (const Example& e : lines.back().examples) {
        check_positions(m.config.model, std::max(e.source.size(), e.target.size()),
                        fmt::format("line {}", i + 1), "<s> or </s>");
        examples.push_back(e);
      }
    }
    const auto scores = label_log_probs(m.model, m.values, examples, pool);
    std::size_t next = 0;
    for (const ScoredLine& l : lines) {
      std::vector<double> token_log_probs;
      for (std::size_t i = 0; i < l.examples.size(); ++i, ++next)
        token_log_probs.insert(token_log_probs.end(), scores[next].begin(), scores[next].end());
      print_score(l, token_log_probs, *m.tokenizers.target, json, tokens);
    }
    flush_output();
  }
  if (unknown.count > 0) log.info("scored as <unk>: " + unknown.summary());
  return Exit::ok;
}

}  // namespace heed
