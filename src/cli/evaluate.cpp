// heed evaluate RUN, heed bleu HYP REF...
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table.h"
#include "data/data_facts.h"
#include "data/dataset.h"
#include "evaluate/bleu.h"
#include "evaluate/scorer.h"
#include "evaluate/translation.h"
#include "evaluate/yardsticks.h"
#include "show/advice.h"
#include "store/layout.h"
#include "store/origin.h"
#include "store/run_folder.h"
#include "text/utf8.h"
#include "train/divergence.h"
#include "train/start.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

// `references` as in evaluate/bleu.h.
Json quality_of(std::span<const std::string> hypotheses, std::span<const std::string> references,
                const BleuOptions& o) {
  const Bleu bleu = corpus_bleu(hypotheses, references, o);
  const Chrf chrf = corpus_chrf(hypotheses, references, o.lowercase);
  return {{"bleu", bleu.score},
          {"bleu_line", bleu.line()},
          {"signature", bleu.signature},
          {"chrf", chrf.score},
          {"chrf_signature", chrf.signature},
          {"cer", character_error_rate(hypotheses, references, o.lowercase)},
          {"exact_match", exact_match(hypotheses, references, o.lowercase)}};
}

// As print_fields() shows it. Of a model's translations it also says how they were made.
Json quality_fields(const Json& r) {
  const auto number = [&](const char* key) { return fixed<2>(r[key]) + " "; };
  std::string of = plain(r["signature"]);
  if (r.contains("beam_size"))
    of += fmt::format(", beam size {}, length penalty {:g}", r["beam_size"].get<int>(),
                      r["length_penalty"].get<double>());
  return {{"BLEU", number("bleu") + " " + plain(r["bleu_line"])},
          {"BLEU of", of},
          {"chrF2", number("chrf") + " " + plain(r["chrf_signature"])},
          {"character errors", number("cer") + "%"},
          {"exact match", number("exact_match") + "%"}};
}

using TextLines = std::vector<std::string>;

TextLines read_lines(const std::string& path) {
  const std::string text = read_text(std::span(&path, 1), {});
  const auto lines = lines_of(text);
  return {lines.begin(), lines.end()};
}

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

// Each figure with its unit, the model's loss among the yardsticks. `ends`: the model writes </s>.
void print_evaluation(const Json& r, bool ends) {
  const auto number = [&](const char* key, int digits) {
    return format_fixed(r[key].get<double>(), digits);
  };
  const bool masked = r.contains("masked_perplexity");
  const std::string data = r["data"], checkpoint = r["checkpoint"];
  const std::int64_t step = r["step"];
  const bool named = checkpoint == step_folder_name(step);
  Json fields{
      {"data", data + ", checkpoint " + checkpoint + (named ? "" : fmt::format(", step {}", step))},
      {"tokens", format_count(r["tokens"].get<std::int64_t>()) + (masked ? " masked" : "")},
      {"loss", number("loss", 4) + " nats per token" +
                   (r.contains("loss_of") ? " of " + plain(r["loss_of"]) : "")},
      {masked ? "masked perplexity" : "perplexity",
       number(masked ? "masked_perplexity" : "perplexity", 3) + " per token"},
      {masked ? "masked accuracy" : "accuracy",
       number("accuracy", 4) + (masked ? " of the masked tokens"
                                : ends ? " of the tokens, </s> aside"
                                       : " of the tokens")}};
  if (r.contains("with")) fields["together with"] = joined(r["with"]);
  if (r.contains("pseudo_perplexity"))
    fields["pseudo-perplexity"] =
        fmt::format("{} per token, each of {} masked in turn", number("pseudo_perplexity", 3),
                    format_count(r["pseudo_tokens"].get<std::int64_t>()));
  if (r.contains("left_out"))
    fields["left out"] =
        counted(format_count(r["left_out"].get<std::int64_t>()), "pair") + ", too long to be read";
  if (r.contains("bits_per_byte"))
    fields["bits per byte"] = number("bits_per_byte", 4) +
                              " (compares models with different tokenizers; perplexity does not)";
  if (r.contains("bleu")) fields.update(quality_fields(r));
  print_fields(fields);
  if (r.contains("yardsticks")) print_yardsticks(r);
}

struct EvaluateOptions {
  std::vector<std::string> files, target_files;
  bool bleu = false;
  BleuOptions how;
  int stride = 0;
  BeamOptions beam;

  std::vector<std::string> all_files() const {
    std::vector<std::string> all = files;
    all.insert(all.end(), target_files.begin(), target_files.end());
    return all;
  }
};

void check_options(const EvaluateOptions& o, const TrainedModel& m) {
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw Error(Exit::usage, what, "heed evaluate --help");
  };
  const bool pairs = m.objective->traits().pairs();
  require(!pairs || o.files.empty() == o.target_files.empty(),
          "this model was trained on pairs: --file and --target-file belong together.");
  require(o.bleu || o.target_files.size() <= 1, "several --target-file are references for --bleu.");
  require(!pairs || o.files.size() <= 1, "this model was trained on pairs: it takes one --file.");
  CommandLine::require_one_input(o.all_files());
  require(!o.files.empty() || m.config.data.has_validation(),
          "the run has no held-out data (data.valid_fraction 0): expected --file.");
}

struct Scored {
  Split split;
  std::optional<HeldOut> run;  // the run's data, if it can be read
};

// `given`: the pairs that the options name, as written; read only once: they may come from a pipe.
Scored load_scored(const EvaluateOptions& o, const std::optional<Pairs>& given, OpenModel& m) {
  Scored s;
  if (given)
    s.split = load_pairs(as_read(*given, read_options(m.config)), m.config, m.tokenizers,
                         m.pool.threads());
  else if (!o.files.empty())
    s.split = load_text(o.files, m.config, m.tokenizers);
  try {
    s.run = held_out(m);
  } catch (const Error& e) {
    if (o.files.empty()) throw;
    m.log.info(fmt::format("no yardsticks: {}", e.what()));
  }
  const auto warn = [&](const LineFacts& train, const std::string& of) {
    if (const std::string leak = leaks(train, s.split.facts); !leak.empty()) m.log.warn(leak + of);
  };
  if (o.files.empty()) {
    if (s.run->changed) m.log.warn("the data files have changed since the run was trained");
    s.split = std::move(s.run->data.valid);
  } else if (s.run) {
    warn(s.run->data.train.facts, "");
    const std::string from = read_origin(m.run).init_from;
    warn(earlier_facts(from), " of " + from);
  }
  for (const TrainedModel& other : m.others)
    warn(earlier_facts(other.folder.string()), " of " + other.run);
  if (s.split.unknown.count > 0) m.log.info(s.split.unknown.summary());
  for (const std::string& note : s.split.notes) m.log.info(note);
  for (const std::string& warning : s.split.warnings) m.log.warn(warning);
  return s;
}

// As logged by training if the data is the same, else measured.
Yardsticks yardsticks_on(const EvaluateOptions& o, const Scored& s, OpenModel& m) {
  if (!s.run) return {};
  if (s.run->changed) {
    m.log.info("no yardsticks, because the data files have changed since the run was trained");
    return {};
  }
  try {
    if (o.files.empty())
      if (Yardsticks y = read_events(run_of_checkpoint(m.folder)).yardsticks; !y.empty()) return y;
  } catch (const Error&) {  // metrics.jsonl cannot be read: they are measured
  }
  return measure_yardsticks(*m.objective, *m.tokenizers.target, s.run->data.train, s.split, m.pool);
}

// The pairs that were scored. The references stay as they are written: data.normalize is the
// model's business.
void measure_translations(const EvaluateOptions& o, std::optional<Pairs> given, const Split& scored,
                          OpenModel& m, Json& result) {
  if (!given) given = read_held_out_pairs(as_written(config_of_data(m)), data_folder(m));
  std::vector<TokenIds> sources;
  TextLines references, hypotheses;
  for (std::int64_t i = 0; i < std::ssize(scored.lines); ++i)
    sources.push_back(scored.sentence(Side::source, i));
  given->references.insert(given->references.begin(), given->target);
  for (const auto& lines : given->references)
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (std::ranges::binary_search(scored.lines, given->lines[i]))
        references.emplace_back(lines[i]);
  std::vector<TokenIds> cut;
  for (const auto& found : translate(m, m.pool, sources, o.beam)) {
    if (!found.empty() && !found.front().ended) cut.push_back(sources[hypotheses.size()]);
    hypotheses.push_back(found.empty() ? "" : found.front().text);
  }
  if (!cut.empty())
    m.log.warn(fmt::format("{} of {} translations did not end within {}", cut.size(),
                           hypotheses.size(), limit_in_words(o.beam.max_length, m, cut)));
  result.update(quality_of(hypotheses, references,
                           {o.how.tokenize, o.how.lowercase || m.config.data.lowercase}));
  result["not_ended"] = cut.size();
  result["beam_size"] = o.beam.beam_size;
  result["length_penalty"] = o.beam.length_penalty;
}

void add_bleu(CLI::App& app, BleuOptions& o) {
  app.add_option("--tokenize", o.tokenize, "how BLEU splits lines (none: at spaces)")
      ->check(CLI::IsMember({"13a", "none"}));
  app.add_flag("--lowercase", o.lowercase, "the figures of translations ignore case");
}

void add_evaluate_options(CommandLine& line, EvaluateOptions& o) {
  CLI::App& app = line.app();
  line.add_model();
  line.add_with();
  line.add_precision();
  line.add_list("--file", o.files,
                "text to score (may be repeated; read in order); for pairs: the source lines",
                "FILE");
  line.add_list("--target-file", o.target_files,
                "the target lines (repeated: more references for --bleu)", "FILE");
  app.add_option("--stride", o.stride,
                 "causal_lm: start a window every N tokens, so that windows overlap; 0: no overlap")
      ->check(in_range(0, 1'000'000));
  app.add_flag("--bleu", o.bleu, "also translate the source lines: BLEU, chrF2, errors");
  line.add_beam(o.beam);
  add_bleu(app, o.how);
  line.only_where({"--target-file", "--bleu"}, "for a model of pairs",
                  [](auto* model) { return !model || model->data.has_pairs(); });
  line.only_where(
      {"--beam-size", "--max-length", "--no-repeat", "--min-tokens", "--tokenize", "--lowercase"},
      "with --bleu", [&o](auto*) { return o.bleu; });
  line.only_where({"--length-penalty"}, "with --bleu and a --beam-size above 1",
                  [&o](auto*) { return o.bleu && o.beam.beam_size > 1; });
}

// Each token masked in turn (Salazar et al. 2020), line by line as `heed score` does: a forward
// pass a token, so only where they take a minute or so.
void add_pseudo_perplexity(const Split& split, OpenModel& m, Json& result) {
  constexpr double kMostOperations = 2e12;
  constexpr std::size_t kAtOnce = 4096;
  if (!m.objective->fills() || split.target.size() == 0) return;
  const double most = kMostOperations / (2.0 * static_cast<double>(m.values.size()) *
                                         m.objective->longest(Side::source));
  if (static_cast<double>(split.target.size()) > most)
    return m.log.info(
        fmt::format("no pseudo-perplexity: it takes a forward pass a token, and at most {} are "
                    "made; of a part of the text: heed evaluate --file",
                    format_count(static_cast<std::int64_t>(most))));
  TokenIds ids, line;
  split.target.copy(0, split.target.size(), ids);
  ids.push_back(Tokenizer::kEos);
  double sum = 0;
  std::int64_t tokens = 0;
  std::vector<Example> examples;
  for (const int id : ids) {
    const bool end = id == Tokenizer::kEos;
    if (!end && m.tokenizers.target->decode(std::array{id}) != "\n") {
      line.push_back(id);
      continue;
    }
    std::ranges::move(m.objective->score({}, line, m.tokenizers.target->size()).examples,
                      std::back_inserter(examples));
    line.clear();
    if (!end && examples.size() < kAtOnce) continue;
    for (const auto& odds : label_odds(m.model, m.values, examples, m.pool, -1))
      for (const TokenOdds& token : odds) sum += token.log_probability, ++tokens;
    examples.clear();
  }
  if (tokens == 0) return;
  result["pseudo_perplexity"] = std::exp(-sum / static_cast<double>(tokens));
  result["pseudo_tokens"] = tokens;
}

std::pair<Json, Yardsticks> measure(const EvaluateOptions& o, OpenModel& m) {
  std::optional<Pairs> given;
  if (!o.target_files.empty())
    given = read_parallel(o.files.front(), o.target_files[0], read_options(as_written(m.config)),
                          std::span(o.target_files).subspan(1));
  const Scored scored = load_scored(o, given, m);
  const Split& split = scored.split;
  const Evaluation e =
      evaluate(m.model, m.values, m.objective->evaluation(split, o.stride), m.pool);
  require_finite(e.sums);
  if (e.loss() > divergence_threshold(m.model))
    m.log.warn("the loss is far above that of untrained weights: these are ruined");
  const bool masked = m.objective->fills() && !m.model.has_decoder();
  const char* perplexity = masked ? "masked_perplexity" : "perplexity";
  Json result{{"data", o.files.empty() ? "validation" : joined(o.all_files(), " + ")},
              {"checkpoint", checkpoint_name(m.folder)},
              {"step", m.state.step},
              {"loss", e.loss()},
              {perplexity, e.perplexity()},
              {"accuracy", e.accuracy()}};
  if (const std::uint64_t bytes = m.objective->scored_bytes(split); bytes > 0)
    result["bits_per_byte"] = e.bits_per_byte(bytes);
  result["tokens"] = e.sums.tokens;
  add_pseudo_perplexity(split, m, result);
  if (e.sums.tokens == 0 && !result.contains("pseudo_perplexity"))
    throw Error(Exit::data, "there is no token to predict (the text may be too short).");
  for (const TrainedModel& other : m.others) result["with"].push_back(other.run);
  result["bytes"] = split.target_bytes;
  if (split.unknown.count > 0) result["unknown_tokens"] = split.unknown.count;
  if (split.dropped > 0) result["left_out"] = split.dropped;
  if (o.target_files.size() > 1) result["loss_of"] = o.target_files[0];
  Yardsticks y = yardsticks_on(o, scored, m);
  if (!y.empty()) result["yardsticks"] = json_of(y);
  if (o.bleu) measure_translations(o, std::move(given), split, m, result);
  return {std::move(result), std::move(y)};
}

// Of the run. Averages and copies of it are no training.
void say_advice(OpenModel& m) {
  if (!is_run(m.run) || checkpoint_name(m.folder) != step_folder_name(m.state.step)) return;
  const Advice advice = advice_on(m.run);
  if (!advice.text.empty()) m.log.info(advice.text);
  if (!advice.command.empty()) m.log.info("  " + advice.command);
}

}  // namespace

Exit run_bleu(CommandLine& line) {
  std::string path;
  TextLines files, references;
  BleuOptions how;
  line.add_file("HYP", path, "translations, one a line; - is standard input", "FILE")->required();
  line.add_list("REF", files, "references, a line for each; one file or several", "FILE");
  line.app().get_option("REF")->required()->expected(-1);
  add_bleu(line.app(), how);
  if (!line.parse()) return Exit::ok;
  TextLines all = files;
  all.push_back(path);
  line.require_one_input(all);
  const TextLines hypotheses = read_lines(path);
  for (const std::string& file : files) {
    TextLines lines = read_lines(file);
    require_lines(file, lines.size(), path, hypotheses.size());
    std::ranges::move(lines, std::back_inserter(references));
  }
  const Json result = quality_of(hypotheses, references, how);
  line.json() ? print_line(result) : print_fields(quality_fields(result));
  return Exit::ok;
}

Exit run_evaluate(CommandLine& line) {
  EvaluateOptions o;
  add_evaluate_options(line, o);
  if (!line.parse()) return Exit::ok;
  OpenModel m(line);
  if (o.beam.max_length == 0) o.beam.max_length = translation_limit(m.state.longest_target);
  check_options(o, m);
  const auto [result, yardsticks] = measure(o, m);
  const bool whole = !result.contains("left_out");
  const Exit exit = whole ? Exit::ok : Exit::data;
  if (!whole) print_error("the figures are without pairs that are too long for the model.");
  if (line.json()) {
    print_line(result);
    return exit;
  }
  print_evaluation(result, !m.objective->continues());
  if (!yardsticks.empty()) print_prose(compared(result["loss"], yardsticks) + "\n");
  flush_output();  // the figures come first
  if (m.others.empty()) say_advice(m);
  return exit;
}

}  // namespace heed
