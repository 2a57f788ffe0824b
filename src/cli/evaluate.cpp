// heed evaluate RUN, heed bleu HYP REF...
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/fields.h"
#include "base/format.h"
#include "base/std_names.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "data/split.h"
#include "evaluate/scorer.h"
#include "evaluate/test_text.h"
#include "evaluate/writing.h"
#include "evaluate/yardsticks.h"
#include "store/run_folder.h"
#include "text/utf8.h"
#include "train/validation.h"

namespace heed {
namespace {

// The figures of translations, of counts against so many references each.
Json translation_figures(const Sums& sums, size_t references, const BleuOptions& o) {
  const auto signature = [&](const string& how) {
    return fmt::format("nrefs:{}|case:{}|{}|version:heed-" HEED_VERSION, references,
                       o.lowercase ? "lc" : "mixed", how);
  };
  Json json;
  for (const Figure& f : figures())
    if (f.needs == Figure::translations) json[f.key] = f.of(sums);
  json.update({{"exact_match", json["exact"]},
               {"token_unit", o.counts_words() ? "words" : "tokens"},
               {"bleu_line", bleu_line(sums)},
               {"signature", signature("eff:no|tok:" + o.tokenize + "|smooth:exp")},
               {"chrf_signature", signature("eff:yes|nc:6|nw:0|space:no")}});
  return json;
}

// A line for each figure that there is, as print_fields() shows it.
Json figure_fields(const Json& r) {
  Json fields;
  if (r.value("bleu", 1.0) == 0) fields[figure("exact").title];  // leads
  for (const Figure& f : figures()) {
    if (!r.contains(f.key)) continue;
    string note = r.value(string(f.key) + "_line", f.note);
    if (f.key == string_view("token_errors")) note += " of " + plain(r["token_unit"]);
    const Json interval =
        r.value("intervals", Json::object()).value(f.key, Json({kUnknown, kUnknown}));
    const double low = interval[0], high = interval[1];
    string text = format_fixed(r[f.key].get<double>(), f.digits);
    if (!note.empty()) text += " " + note;
    if (low < high) text += fmt::format(" (95 %: {:.2f} to {:.2f})", low, high);
    fields[f.title] = text;
  }
  if (r.contains("signature")) fields["BLEU of"] = r["signature"];
  return fields;
}

vector<string> read_lines(const string& path, Log& log) {
  const string text = read_text(span(&path, 1), {});
  const auto lines = lines_of(text);
  const auto tabs = [](string_view line) { return ranges::count(line, '\t'); };
  if (!lines.empty() && ranges::all_of(lines, tabs)) {
    throw data_error("{}:1: a line of a table; expected a sentence.", shown_path(path))
        .hint(fmt::format("cut -f{} {} > lines", tabs(lines[0]) + 1, shell_word(path)));
  }
  vector<string> spaced;
  for (size_t i = 0; i < lines.size(); ++i)
    if (stripped(lines[i]) != lines[i])
      spaced.push_back(fmt::format("{}:{}", shown_path(path), i + 1));
  if (!spaced.empty()) log.warn(spaced_in_words(spaced));
  return {lines.begin(), lines.end()};
}

// Those that Unicode's form NFC writes otherwise, such as accents as characters of their own.
size_t lines_not_nfc(const vector<string>& lines) {
  return ranges::count_if(
      lines, [](const string& line) { return normalize(line, Normalize::nfc) != line; });
}

// Each figure with its unit, and the model's loss among the yardsticks.
void print_evaluation(const Json& r, const Yardsticks& yardsticks) {
  const auto count = [&](const char* key) { return format_count(r[key].get<int64_t>()); };
  Json fields{{"data", fmt::format("{}, checkpoint {}, step {}", plain(r["data"]),
                                   plain(r["checkpoint"]), plain(r["step"]))},
              {"tokens", count("tokens") + (r.contains("masked_perplexity") ? " masked" : "")}};
  fields.update(figure_fields(r));
  if (r.contains("loss_of")) fields["loss"] = plain(fields["loss"]) + " of " + plain(r["loss_of"]);
  if (r.contains("with")) fields["together with"] = joined(r["with"]);
  if (r.contains("pseudo_perplexity"))
    fields["pseudo-perplexity"] =
        fmt::format("{} per token, each of {} masked in turn", fixed<3>(r["pseudo_perplexity"]),
                    count("pseudo_tokens"));
  if (r.contains("left_out"))
    fields["left out"] = counted(count("left_out"), "pair") + ", too long to be read";
  print_fields(fields);
  if (yardsticks.empty()) return;
  Json rows = r["yardsticks"];
  rows.push_back({{"name", "this model"},
                  {"nats_per_token", r["loss"]},
                  {"bits_per_byte", r.value("bits_per_byte", Json())}});
  print_table(rows, {{"yardsticks", "name"},
                     {"nats per token", "nats_per_token", fixed<4>},
                     {"bits per byte", "bits_per_byte", fixed<4>}});
  print_prose(compared(r["loss"], yardsticks) + "\n");
}

// As logged by training if the data is the same, else measured.
Yardsticks yardsticks_on(const NamedText& named, const TestText& text, OpenModel& m) {
  if (!text.run || !text.run->change.empty()) {
    m.log.info("no yardsticks, as they need the training text of the model");
    return {};
  }
  if (named.files.empty())
    if (Yardsticks y = read_events(run_of_checkpoint(m.folder)).yardsticks; !y.empty()) return y;
  return measure_yardsticks(*m.objective, *m.tokenizers.target, text.run->train, text.split,
                            m.pool);
}

// The pairs that were scored. The references stay as they are written: data.normalize is the
// model's business.
Json measure_translations(NamedText& named, const Split& scored, const BeamOptions& beam,
                          BleuOptions how, OpenModel& m) {
  const Pairs& written = written_pairs(m, named);
  how.lowercase |= m.config.data.lowercase;
  how.units = m.tokenizers.target.get();
  const TranslatedPairs translated = translate_pairs(m, scored, written, beam, how, m.pool, m.log);
  if (translated.not_ended > 0)
    m.log.warn(fmt::format("{} of {} translations {}; the longest target has {} tokens",
                           translated.not_ended, translated.counts.size(),
                           cut_in_words(beam.max_length, m), scored.longest(Side::target)));
  const Figure& errors = figure("token_errors");
  Sums sums;
  Json lines = Json::array();
  vector<array<string_view, 2>> pairs;
  for (size_t i = 0; i < translated.counts.size(); ++i) {
    const Sums& counts = translated.counts[i];
    const size_t at = pair_on(written, scored.lines[i]);
    sums += counts;
    pairs.push_back({written.source[at], written.target[at]});
    lines.push_back({{"line", scored.lines[i]},
                     {"translation", to_valid_utf8(translated.texts[i])},
                     {"exact", figure("exact").of(counts) > 0},
                     {"token_errors", int64_t(counts[errors.begin])},
                     {"tokens", int64_t(counts[errors.begin + 1])}});
  }
  Json json = translation_figures(sums, 1 + written.references.size(), how);
  const System units = merged(translated.counts, pairs);
  for (const Figure& f : figures())
    if (f.needs == Figure::translations) {
      const ConfidenceInterval interval = interval_of(units, f, m.pool);
      json["intervals"][f.key] = {interval.low, interval.high};
    }
  json.update({{"not_ended", translated.not_ended},
               {"beam_size", beam.beam_size},
               {"length_penalty", beam.length_penalty},
               {"lines", lines}});
  return json;
}

void add_bleu(CommandLine& line, BleuOptions& o) {
  line.add_choice("--tokenize", o.tokenize, "how BLEU splits lines (none: at spaces)",
                  {"13a", "none"});
  line.app.add_flag("--lowercase", o.lowercase, "the figures of translations ignore case");
}

// Each token masked in turn (Salazar et al. 2020), line by line as `heed score` does: a forward
// pass a token, so only where they take a minute or so.
void add_pseudo_perplexity(const Split& split, OpenModel& m, Json& result) {
  constexpr double kMostOperations = 2e12;
  constexpr size_t kAtOnce = 4096;
  if (!m.objective->fills() || split.target.size() == 0) return;
  const double most =
      kMostOperations / (2.0 * double(m.values.size()) * m.objective->longest(Side::source));
  if (double(split.target.size()) > most)
    return m.log.info(
        fmt::format("no pseudo-perplexity: it takes a forward pass a token, and at most {} are "
                    "made; a --file with fewer lines has one",
                    format_count(int64_t(most))));
  TokenIds line;
  double sum = 0;
  int64_t tokens = 0;
  vector<Example> examples;
  for (size_t i = 0; i <= split.target.size(); ++i) {
    const bool end = i == split.target.size();
    if (!end && m.tokenizers.target->decode(std::array{split.target[i]}) != "\n") {
      line.push_back(split.target[i]);
      continue;
    }
    ranges::move(m.objective->score({}, line, m.tokenizers.target->size()).examples,
                 std::back_inserter(examples));
    line.clear();
    if (!end && examples.size() < kAtOnce) continue;
    for (const auto& odds : label_odds(m.predictor(), examples, m.pool, -1))
      for (const TokenOdds& token : odds) sum += token.log_probability, ++tokens;
    examples.clear();
  }
  if (tokens == 0) return;
  result["pseudo_perplexity"] = exp(-sum / double(tokens));
  result["pseudo_tokens"] = tokens;
}

Json measure(const NamedText& named, const Split& split, int stride, OpenModel& m) {
  const Json with = report_others(m, split);
  const Evaluation e = evaluate(m.predictor(), m.objective->evaluation(split, stride), m.pool);
  require_finite(e.sums.objective);
  if (e.loss() > divergence_threshold(m.net))
    m.log.warn("the loss is far above that of untrained weights: these are ruined");
  Json result{{"data", named.files.empty() ? "validation" : joined(named.all_files(), " + ")},
              {"checkpoint", checkpoint_name(m.folder)},
              {"step", m.state.step}};
  const Sums sums = e.counts(m.objective->scored_bytes(split));
  const bool masked = m.objective->fills() && !m.net.has_decoder();
  for (const Figure& f : figures())
    if (f.needs == Figure::tokens || (f.needs == Figure::bytes && sums[kBytes] > 0) ||
        f.needs == (masked ? Figure::masked_tokens : Figure::unmasked_tokens))
      result[f.key] = f.of(sums);
  result["tokens"] = e.sums.tokens;
  add_pseudo_perplexity(split, m, result);
  if (e.sums.tokens == 0 && !result.contains("pseudo_perplexity"))
    throw data_error("there is no token to predict (the text may be too short).");
  if (!with.empty()) result["with"] = with;
  result["bytes"] = split.target_bytes;
  if (split.unknown.count > 0) result["unknown_tokens"] = split.unknown.count;
  if (split.dropped > 0) result["left_out"] = split.dropped;
  if (named.target_files.size() > 1) result["loss_of"] = named.target_files[0];
  return result;
}

}  // namespace

Exit run_bleu(CommandLine& line) {
  string path, other;
  vector<string> files;
  BleuOptions how;
  line.add_file("HYP", path, "translations, one a line; - is standard input")->required();
  line.add_list("REF", files, "references, a line for each; one file or several", "FILE")
      ->required()
      ->expected(-1);
  line.add_file("--to", other, "other translations of the same lines: which are better?");
  add_bleu(line, how);
  line.parse();
  vector<string> all = files;
  all.insert(all.end(), {path, other});
  line.require_one_input(all);
  Log log({.quiet = line.quiet});
  const vector<string> hypotheses = read_lines(path, log);
  const size_t not_nfc = lines_not_nfc(hypotheses);
  const auto lines_beside = [&](const string& file) {
    vector<string> lines = read_lines(file, log);
    require_lines(file, lines.size(), path, hypotheses.size());
    const auto [few, many] = ranges::minmax({lines_not_nfc(lines), not_nfc});
    if (50 * many > lines.size() && 4 * few < many)
      log.warn(
          fmt::format("only one of {} and {} is in the Unicode form NFC, so that equal words "
                      "differ: uconv -x any-nfc FILE",
                      shown_path(path), shown_path(file)));
    return lines;
  };
  vector<vector<string>> references(hypotheses.size());
  for (const string& file : files)
    for (size_t i = 0; const string& text : lines_beside(file)) references[i++].push_back(text);
  const auto counts_of = [&](const vector<string>& lines) {
    System counts;
    for (size_t i = 0; i < lines.size(); ++i)
      counts.push_back(translation_counts(lines[i], references[i], how));
    return counts;
  };
  const System counts = counts_of(hypotheses);
  if (!other.empty()) {
    compare_outputs({path, other}, {counts, counts_of(lines_beside(other))}, joined(files, " + "),
                    line);
    return Exit::ok;
  }
  Sums sums;
  for (const Sums& of_line : counts) sums += of_line;
  const Json result = translation_figures(sums, files.size(), how);
  line.json ? print_line(result) : print_fields(figure_fields(result));
  return Exit::ok;
}

Exit run_evaluate(CommandLine& line) {
  NamedText named;
  BeamOptions beam;
  BleuOptions how;
  bool bleu = false;
  int stride = 0;
  line.add_model();
  line.add_with();
  line.add_precision();
  line.add_list("--file", named.files,
                "text to score (may be repeated; read in order); for pairs: the source lines",
                "FILE");
  line.add_list("--target-file", named.target_files,
                "the target lines (repeated: more references for --bleu)", "FILE");
  line.add_number(
      "--stride", stride,
      "causal_lm: start a window every N tokens, so that windows overlap; 0: no overlap", 0,
      1'000'000);
  line.app.add_flag("--bleu", bleu, "also translate the source lines: BLEU, chrF2, errors");
  line.add_beam(beam);
  add_bleu(line, how);
  line.parse();
  OpenModel m(line);
  if (beam.max_length == 0) beam.max_length = translation_limit(m.state.longest_target);
  const bool pairs = m.objective->traits().pairs();
  line.only_where(pairs, {"--target-file", "--bleu"}, "for a model of pairs");
  if (!pairs) bleu = false, named.target_files.clear();
  line.only_where(bleu,
                  {"--beam-size", "--max-length", "--no-repeat", "--min-tokens", "--length-penalty",
                   "--tokenize", "--lowercase"},
                  "with --bleu, for a model of pairs");
  if (!bleu && named.target_files.size() > 1)
    throw usage_error("several --target-file are references for --bleu.");
  if (pairs && named.files.size() > 1)
    throw usage_error("this model was trained on pairs: it takes one --file.");
  line.require_one_input(named.all_files());
  const TestText text = test_text(m, named, m.pool, m.log);
  Json result = measure(named, text.split, stride, m);
  const Yardsticks yardsticks = yardsticks_on(named, text, m);
  if (!yardsticks.empty()) result["yardsticks"] = yardsticks;
  if (bleu) result.update(measure_translations(named, text.split, beam, how, m));
  const bool whole = text.split.dropped == 0;
  if (!whole) print_error("the figures are without pairs that are too long for the model.");
  line.json ? print_line(result) : print_evaluation(result, yardsticks);
  return whole ? Exit::ok : Exit::data;
}

}  // namespace heed
