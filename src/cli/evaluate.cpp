// heed evaluate RUN
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table.h"
#include "data/dataset.h"
#include "evaluate/bleu.h"
#include "evaluate/scorer.h"
#include "evaluate/translation.h"
#include "evaluate/yardsticks.h"
#include "store/layout.h"
#include "store/run_folder.h"
#include "text/utf8.h"
#include "train/divergence.h"
#include "train/resume.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

void print_yardsticks(const Json& r) {
  Json rows = r["yardsticks"];
  rows.push_back({{"name", "this model"}, {"nats_per_token", r["loss"]}});
  std::vector<Column> columns = {{"yardsticks", "name"},
                                 {"nats per token", "nats_per_token", fixed<4>}};
  if (r.contains("bits_per_byte")) {
    rows.back()["bits_per_byte"] = r["bits_per_byte"];
    columns.push_back({"bits per byte", "bits_per_byte", fixed<4>});
  }
  print_table(rows, columns);
}

// Each figure with its unit, the model's loss among the yardsticks. `pseudo`: a masked model's
// pseudo-perplexity.
void print_evaluation(const Json& r, bool pseudo) {
  const auto number = [&](const char* key, int digits) {
    return format_fixed(r[key].get<double>(), digits);
  };
  const std::string data = r["data"], checkpoint = r["checkpoint"];
  const std::int64_t step = r["step"];
  const bool named = checkpoint == step_folder_name(step);
  Json fields{
      {"data", data + ", checkpoint " + checkpoint + (named ? "" : fmt::format(", step {}", step))},
      {"tokens", format_count(r["tokens"].get<std::int64_t>())},
      {"loss", number("loss", 4) + " nats per token"},
      {pseudo ? "pseudo-perplexity" : "perplexity", number("perplexity", 3) + " per token"},
      {pseudo ? "masked accuracy" : "accuracy",
       number("accuracy", 4) + (pseudo ? " of the masked tokens" : " of the tokens")}};
  if (r.contains("left_out"))
    fields["left out"] =
        counted(format_count(r["left_out"].get<std::int64_t>()), "pair") + ", too long to be read";
  if (r.contains("bits_per_byte"))
    fields["bits per byte"] = number("bits_per_byte", 4) +
                              " (compares models with different tokenizers; perplexity does not)";
  if (r.contains("bleu")) {
    fields["BLEU"] = number("bleu", 2) + "  " + r["bleu_line"].get<std::string>();
    fields["BLEU of"] =
        fmt::format("{}, beam size {}, length penalty {:g}", r["signature"].get<std::string>(),
                    r["beam_size"].get<int>(), r["length_penalty"].get<double>());
    fields["chrF2"] = number("chrf", 2) + "  " + r["chrf_signature"].get<std::string>();
    fields["exact match"] = number("exact_match", 2) + " %";
  }
  print_fields(fields);
  if (r.contains("yardsticks")) print_yardsticks(r);
}

struct EvaluateOptions {
  std::vector<std::string> files;
  std::string target_file, tokenize = "13a";
  bool bleu = false, lowercase = false;
  int stride = 0;
  BeamOptions beam;
};

void check_options(const EvaluateOptions& o, const TrainedModel& m) {
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw Error(Exit::usage, what, "heed evaluate --help");
  };
  const bool pairs = m.objective->traits().pairs();
  require(!pairs || o.files.empty() == o.target_file.empty(),
          "this model was trained on pairs: --file and --target-file belong together.");
  require(!pairs || o.files.size() <= 1, "this model was trained on pairs: it takes one --file.");
  CommandLine::require_one_input(std::ranges::count(o.files, "-") > 0, o.target_file == "-");
  require(pairs || o.target_file.empty(),
          "this model was trained on text: --target-file does not apply.");
  require(!o.bleu || pairs,
          "--bleu needs a model that was trained on pairs (" + objectives_on(true) + ").");
  require(!o.files.empty() || m.config.data.has_validation(),
          "the run has no held-out data (data.valid_fraction 0): expected --file.");
}

// The scored data.
struct Scored {
  Split split;
  std::optional<Split> train;  // if it was read too
  bool changed = false;        // the data is not what the run was trained on
};

// `given`: the pairs that the options name, as written; read only once: they may come from a pipe.
Scored load_scored(const EvaluateOptions& o, const std::optional<Pairs>& given, OpenModel& m) {
  Scored s;
  if (given) {
    s.split = load_pairs(as_read(*given, read_options(m.config)), m.config, m.tokenizers,
                         m.pool.threads());
  } else if (!o.files.empty()) {
    s.split = load_text(o.files, m.config, m.tokenizers);
  } else {
    HeldOut held = held_out(m);
    s.changed = held.changed;
    if (s.changed) m.log.warn("the data files have changed since the run was trained");
    s.train = std::move(held.data.train);
    s.split = std::move(held.data.valid);
  }
  if (s.split.unknown.count > 0) m.log.info(s.split.unknown.summary());
  for (const std::string& note : s.split.notes) m.log.info(note);
  for (const std::string& warning : s.split.warnings) m.log.warn(warning);
  return s;
}

// As logged by training if the data is the same, else measured.
Yardsticks yardsticks_on(Scored& s, OpenModel& m) {
  try {
    if (s.train && !s.changed)
      if (Yardsticks y = read_events(run_of_checkpoint(m.folder)).yardsticks; !y.empty()) return y;
  } catch (const Error&) {  // metrics.jsonl cannot be read: they are measured
  }
  try {
    if (!s.train) {
      HeldOut held = held_out(m);
      s.changed = held.changed;
      s.train = std::move(held.data.train);
    }
  } catch (const Error& e) {
    m.log.info(fmt::format("no yardsticks: {}", e.what()));
    return {};
  }
  if (s.changed) {
    m.log.info("no yardsticks, because the data files have changed since the run was trained");
    return {};
  }
  return measure_yardsticks(*m.objective, *m.tokenizers.target, *s.train, s.split, m.pool);
}

// A config that reads data as it is written.
RunConfig as_written(RunConfig config) {
  config.data.lowercase = false;
  config.data.normalize = Normalize::none;
  return config;
}

// The pairs on the `scored` lines. The references stay as they are written: data.normalize is the
// model's business.
void measure_translations(const EvaluateOptions& o, std::optional<Pairs> given,
                          const std::vector<std::size_t>& scored, OpenModel& m, Json& result) {
  const bool lowercase = o.lowercase || m.config.data.lowercase;
  if (!given) given = read_held_out_pairs(as_written(config_of_data(m)), data_folder(m));
  std::vector<TokenIds> sources;
  std::vector<std::string> references;
  for (std::size_t i = 0; i < given->size(); ++i) {
    if (!std::ranges::binary_search(scored, given->lines[i])) continue;
    sources.push_back(
        m.tokenizers.source().encode(as_read(given->source[i], read_options(m.config))));
    references.emplace_back(given->target[i]);
  }
  std::vector<std::string> hypotheses;
  std::size_t exact = 0, cut = 0;
  for (const auto& found : translate(m, m.pool, sources, o.beam)) {
    hypotheses.push_back(found.empty() ? "" : found.front().text);
    cut += !found.empty() && !found.front().ended;
    const auto cased = [&](const std::string& text) { return lowercase ? to_lower(text) : text; };
    exact += cased(hypotheses.back()) == cased(references[hypotheses.size() - 1]);
  }
  if (cut > 0)
    m.log.warn(fmt::format("{} of {} translations did not end within {}", cut, hypotheses.size(),
                           limit_in_words(o.beam.max_length, m.config.model)));
  const Bleu bleu = corpus_bleu(hypotheses, references, {o.tokenize, lowercase});
  const Chrf chrf = corpus_chrf(hypotheses, references, lowercase);
  result["bleu"] = bleu.score;
  result["bleu_line"] = bleu.line();
  result["signature"] = bleu.signature;
  result["chrf"] = chrf.score;
  result["chrf_signature"] = chrf.signature;
  result["not_ended"] = cut;
  result["beam_size"] = o.beam.beam_size;
  result["length_penalty"] = o.beam.length_penalty;
  result["exact_match"] =
      100.0 * static_cast<double>(exact) / static_cast<double>(hypotheses.size());
}

std::string data_name(const EvaluateOptions& o) {
  std::vector<std::string> files = o.files;
  if (!o.target_file.empty()) files.push_back(o.target_file);
  return files.empty() ? "validation" : joined(files, " + ");
}

void add_evaluate_options(CommandLine& line, EvaluateOptions& o) {
  CLI::App& app = line.app();
  line.add_model();
  line.add_list("--file", o.files,
                "text to score (may be repeated; read in order); for pairs: the source lines",
                "FILE");
  line.add_file("--target-file", o.target_file, "for pairs: the target lines", "FILE");
  app.add_option("--stride", o.stride,
                 "causal_lm: start a window every N tokens, so that windows overlap; 0: no overlap")
      ->check(in_range(0, 1'000'000));
  app.add_flag("--bleu", o.bleu, "also translate the source lines: BLEU, chrF2, exact match");
  line.add_beam(o.beam);
  app.add_option("--tokenize", o.tokenize, "how BLEU splits lines (none: at spaces)")
      ->check(CLI::IsMember(bleu_tokenizers()));
  app.add_flag("--lowercase", o.lowercase, "BLEU and chrF2 ignore case");
}

struct Measured {
  Json result;
  Yardsticks yardsticks;
};

Measured measure(const EvaluateOptions& o, OpenModel& m) {
  std::optional<Pairs> given;
  if (!o.target_file.empty())
    given = read_parallel(o.files.front(), o.target_file, read_options(as_written(m.config)));
  Scored scored = load_scored(o, given, m);
  const Split& split = scored.split;
  const Evaluation e =
      evaluate(m.model, m.values, m.objective->evaluation(split, o.stride), m.pool);
  if (e.sums.tokens == 0)
    throw Error(Exit::data, "the text is too short: there is no token to score.");
  require_finite(e.sums);
  if (e.loss() > divergence_threshold(m.model))
    m.log.warn("the loss is far above that of untrained weights: these are ruined");
  Json result{{"data", data_name(o)},         {"checkpoint", checkpoint_name(m.folder)},
              {"step", m.state.step},         {"loss", e.loss()},
              {"perplexity", e.perplexity()}, {"accuracy", e.accuracy()}};
  if (const std::uint64_t bytes = m.objective->scored_bytes(split); bytes > 0)
    result["bits_per_byte"] = e.bits_per_byte(bytes);
  result["tokens"] = e.sums.tokens;
  result["bytes"] = split.target_bytes;
  if (split.unknown.count > 0) result["unknown_tokens"] = split.unknown.count;
  if (split.dropped > 0) result["left_out"] = split.dropped;
  Yardsticks y = yardsticks_on(scored, m);
  if (!y.empty()) result["yardsticks"] = json_of(y);
  if (o.bleu) measure_translations(o, std::move(given), split.lines, m, result);
  return {std::move(result), std::move(y)};
}

void print_comparison(double loss, const Yardsticks& yardsticks, OpenModel& m) {
  print_prose(compared(loss, yardsticks) + "\n");
  if (std::ranges::none_of(yardsticks,
                           [&](const Yardstick& y) { return y.nats_per_token <= loss; }))
    return;
  const std::int64_t step = m.state.step;
  // Averages and copies do not go on themselves.
  const bool longer = step > 0 && is_run(m.run) &&
                      checkpoint_name(m.folder) == step_folder_name(step) &&
                      can_go_on(m.config, step);
  m.log.info(fmt::format("to do better: train {}on more text, or a larger model",
                         longer ? "longer, " : ""));
  if (longer)
    m.log.info(fmt::format("  heed resume {} --more {}", shell_word(m.run),
                           std::max<std::int64_t>(1, step / 2)));
}

}  // namespace

Exit run_evaluate(CommandLine& line) {
  EvaluateOptions o;
  add_evaluate_options(line, o);
  if (!line.parse()) return Exit::ok;
  OpenModel m(line);
  if (o.beam.max_length == 0) o.beam.max_length = translation_limit(m.state.longest_target);
  check_options(o, m);
  const Measured measured = measure(o, m);
  const bool whole = !measured.result.contains("left_out");
  const Exit exit = whole ? Exit::ok : Exit::data;
  if (!whole) print_error("the figures are without pairs that are too long for the model.");
  if (line.json()) {
    print_line(measured.result);
    return exit;
  }
  print_evaluation(measured.result, m.objective->fills() && !m.model.has_decoder());
  if (!measured.yardsticks.empty())
    print_comparison(measured.result["loss"], measured.yardsticks, m);
  return exit;
}

}  // namespace heed
