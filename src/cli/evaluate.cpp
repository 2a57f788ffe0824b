// heed evaluate RUN
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include <fmt/core.h>
#include "base/format.h"
#include "cli/command.h"
#include "cli/open_model.h"
#include "cli/output.h"
#include "data/data_files.h"
#include "data/dataset.h"
#include "evaluate/bleu.h"
#include "evaluate/chrf.h"
#include "evaluate/scorer.h"
#include "evaluate/translation.h"
#include "evaluate/yardsticks.h"
#include "nn/finite.h"
#include "store/layout.h"
#include "store/run_folder.h"
#include "text/utf8.h"
#include "train/divergence.h"
#include "train/resume.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

void print_yardsticks(const Json& r) {
  print(fmt::format("{:20}{:>14}", "yardsticks", "nats per token"));
  const bool bits = r.contains("bits_per_byte");
  print(bits ? "   bits per byte\n" : "\n");
  const auto row = [&](const std::string& name, const Json& nats, const Json& in_bits) {
    print(fmt::format("  {:18}{:14.4f}", name, nats.get<double>()) +
          (bits && in_bits.is_number() ? fmt::format("{:16.4f}\n", in_bits.get<double>()) : "\n"));
  };
  for (const Json& y : r["yardsticks"])
    row(y["name"].get<std::string>(), y["nats_per_token"], y["bits_per_byte"]);
  row("this model", r["loss"], r.value("bits_per_byte", Json()));
}
// Each figure with its unit, the model's loss among the yardsticks. `pseudo`: a masked model's
// pseudo-perplexity.
void print_evaluation(const Json& r, bool pseudo) {
  const auto line = [](const char* name, const std::string& value) {
    print_prose(fmt::format("{:20}{}\n", name, value));
  };
  const auto number = [&](const char* key, int digits) {
    return format_fixed(r[key].get<double>(), digits);
  };
  const std::string data = r["data"], checkpoint = r["checkpoint"];
  const std::int64_t step = r["step"];
  line("data",
       fmt::format("{}, checkpoint {}{}", data, checkpoint,
                   checkpoint == step_folder_name(step) ? "" : fmt::format(", step {}", step)));
  line("tokens", format_count(r["tokens"].get<std::int64_t>()));
  line("loss", number("loss", 4) + " nats per token");
  line(pseudo ? "pseudo-perplexity" : "perplexity", number("perplexity", 3) + " per token");
  line(pseudo ? "masked accuracy" : "accuracy",
       number("accuracy", 4) + (pseudo ? " of the masked tokens" : " of the tokens"));
  if (r.contains("bits_per_byte"))
    line("bits per byte", number("bits_per_byte", 4) +
                              " (compares models with different tokenizers; perplexity does not)");
  if (r.contains("yardsticks")) print_yardsticks(r);
  if (!r.contains("bleu")) return;
  line("BLEU", number("bleu", 2) + "  " + r["bleu_line"].get<std::string>());
  line("", fmt::format("{}, beam size {}, length penalty {:g}", r["signature"].get<std::string>(),
                       r["beam_size"].get<int>(), r["length_penalty"].get<double>()));
  line("chrF2", number("chrf", 2) + "  " + r["chrf_signature"].get<std::string>());
  line("exact match", number("exact_match", 2) + " %");
}

constexpr const char* kEvaluateNotes =
    "Scores every token once, by default those of the run's held-out data. loss is in nats per "
    "token, without label smoothing. bits per byte counts one newline per pair; it is left out "
    "where the tokens do not give back the text: <unk>, changed text, the spaces that words lose, "
    "bytes that are not UTF-8. Unknown tokens are read as <unk>, and predicting\n"
    "<unk> there is "
    "right. Masked models: fixed masks, pseudo-perplexity and the accuracy of the masked tokens; "
    "with a decoder, figures for all it writes: spans, sentinels and </s>. Perplexities of models "
    "with different tokenizers do not compare; bits per byte do. Yardsticks score the same tokens: "
    "all ids equally likely (uniform), by their frequency in training (unigram), an interpolated "
    "Kneser-Ney n-gram model of the training tokens, and what xz needs for the text after the "
    "training text. For pairs they see only the target side. Of a long training text they see the "
    "last 5,000,000 tokens; the n-gram model stops learning at 4 million n-grams, and xz sees the "
    "last 8 MiB. They are left out if the training text has changed.\n"
    "BLEU scores translations by "
    "beam search (--beam-size) against the lines as they are written; the \"bleu\" in a training "
    "log scores greedy ones, split at spaces: --beam-size 1 --tokenize none.\n"
    "--json keys: data, "
    "checkpoint, step, loss, perplexity, accuracy, bits_per_byte, tokens, bytes, unknown_tokens if "
    "there are any, yardsticks (name, nats_per_token, bits_per_byte), and with --bleu also bleu, "
    "bleu_line (precisions, brevity penalty), chrf, exact_match (percent), signature, "
    "chrf_signature, not_ended (translations cut at --max-length), beam_size, length_penalty.";

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
    s.split = load_pairs(as_read(*given, read_options(m.config)), m.config, m.tokenizers);
  } else if (!o.files.empty()) {
    s.split = load_text(o.files, m.config, m.tokenizers);
  } else {
    Dataset data = load_dataset(config_of_data(m), data_folder(m), m.tokenizers);
    s.changed = data.hash.all() != m.state.data_hash;
    if (s.changed) m.log.warn("the data files have changed since the run was trained");
    s.train = std::move(data.train);
    s.split = std::move(data.valid);
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
      Dataset data = load_dataset(config_of_data(m), data_folder(m), m.tokenizers);
      s.changed = data.hash.all() != m.state.data_hash;
      s.train = std::move(data.train);
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

// The references stay as they are written: data.normalize is the model's business.
void measure_translations(const EvaluateOptions& o, std::optional<Pairs> given, OpenModel& m,
                          Json& result) {
  const bool lowercase = o.lowercase || m.config.data.lowercase;
  if (!given) given = read_held_out_pairs(as_written(config_of_data(m)), data_folder(m));
  std::vector<TokenIds> sources;
  for (const std::string_view line : given->source)
    sources.push_back(m.tokenizers.source().encode(as_read(line, read_options(m.config))));
  const std::vector<std::string> references(given->target.begin(), given->target.end());
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

}  // namespace

Exit run_evaluate(CommandLine& line) {
  EvaluateOptions o;
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
  app.add_option("--tokenize", o.tokenize, "how BLEU splits lines: 13a, none (at spaces), char, zh")
      ->check(CLI::IsMember(bleu_tokenizers()));
  app.add_flag("--lowercase", o.lowercase, "BLEU and chrF2 ignore case");
  app.footer(kEvaluateNotes);
  if (!line.parse()) return Exit::ok;

  OpenModel m(line);
  if (o.beam.max_length == 0) o.beam.max_length = translation_limit(m.state.longest_target);
  check_options(o, m);
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
  const Yardsticks y = yardsticks_on(scored, m);
  if (!y.empty()) result["yardsticks"] = json_of(y);
  if (o.bleu) measure_translations(o, std::move(given), m, result);
  if (line.json())
    print_line(result);
  else
    print_evaluation(result, m.objective->fills() && !m.model.has_decoder());
  if (line.json() || y.empty()) return Exit::ok;
  print_prose(compared(e.loss(), y) + "\n");
  if (std::ranges::any_of(y, [&](const Yardstick& x) { return x.nats_per_token <= e.loss(); })) {
    const std::int64_t step = m.state.step;
    // What was kept of an earlier end, averages and copies do not go on themselves.
    const bool longer = step > 0 && is_run(m.run) &&
                        checkpoint_name(m.folder) == step_folder_name(step) &&
                        can_go_on(m.config, step, m.run);
    m.log.info(fmt::format("to do better: train {}on more text, or a larger model",
                           longer ? "longer, " : ""));
    if (longer)
      m.log.info(fmt::format("  heed resume {} --more {}", shell_word(m.run),
                             std::max<std::int64_t>(1, step / 2)));
  }
  return Exit::ok;
}

}  // namespace heed
