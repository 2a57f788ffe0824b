#include "train/suggested_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "base/files.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "config/fields_json.h"
#include "show/advice.h"
#include "store/huggingface.h"
#include "store/run_folder.h"
#include "text/utf8.h"

namespace heed {

extern const char* const suggested_config_json;

namespace {

// Models by length of text. Of those for a text the largest wins that has time for enough steps.
// The trials behind this and what follows are in docs/lab-book.md, "What was tried".
struct Size {
  double bytes;
  double steps;  // that are enough
  int d_model, layers;
  double learning_rate;
};
constexpr Size kSizes[] = {{0, 0, 64, 2, 6e-3},         {4e3, 0, 64, 3, 6e-3},
                           {20e3, 600, 96, 3, 7e-3},    {100e3, 800, 128, 4, 8e-3},
                           {600e3, 2000, 192, 5, 6e-3}, {600e3, 4000, 256, 6, 5e-3}};

constexpr double kFewBytes = 50e3;  // to learn pieces of words takes more
// For guesses: the speed of a whole training step on two Zen 3 cores. A text and its minutes get
// the same model (with the same dropout) everywhere; only the steps are planned from measurements.
constexpr double kFlopsPerSecond = 70e9;
constexpr int kBatchTokens = 2048;
constexpr int kMostValidations = 12;
constexpr double kFrameSteps = 1.5;  // what a frame of the film costs, in steps

// What a model of a family is, with as much work as a GPT of n layers.
void shape_gpt(RunConfig& c, int n) {
  c.objective.type = "causal_lm";
  c.objective.target_length = 128;
  c.model.decoder_layers = n;
  // The block of Qwen3, which other programs open (heed export).
  c.model.activation = Activation::silu;
  c.model.feed_forward = FeedForwardType::gated;
  c.model.norm_type = NormType::rms;
  c.model.bias = false;
}
void shape_prefix_lm(RunConfig& c, int n) {
  c.objective.type = "prefix_lm";
  c.objective.target_length = 128;
  c.model.encoder_layers = 1;
  c.model.decoder_layers = n;
}
void shape_bert(RunConfig& c, int n) {
  c.objective.type = "masked_lm";
  c.objective.source_length = 96;
  c.model.encoder_layers = n;
}
void shape_t5(RunConfig& c, int n) {
  c.objective.type = "span_corruption";
  c.objective.source_length = 48;
  c.model.encoder_layers = n / 2;
  c.model.decoder_layers = (n + 2) / 4;
}
void shape_translation(RunConfig& c, int n) {
  c.objective.type = "seq2seq";
  c.objective.label_smoothing = 0.1;
  c.model.encoder_layers = c.model.decoder_layers = n / 2 + 1;
}

struct Family {
  const char* like;
  void (*shape)(RunConfig& config, int n);
};
constexpr Family kFamilies[] = {{"gpt", shape_gpt},
                                {"prefix_lm", shape_prefix_lm},
                                {"bert", shape_bert},
                                {"t5", shape_t5},
                                {"pairs", shape_translation}};

// bpe needs ids for the characters that make up most of the text, 256 bytes and special tokens.
int pieces_for(const TextFacts& f) {
  const auto bytes = double(f.bytes);
  const int words = bytes < 300e3 ? 500 : bytes < 5e6 ? 1000 : bytes < 50e6 ? 2000 : 4000;
  const int room = min(f.distinct, f.common + f.common / 10 + 50) + 300;
  return max(words + f.common / 2, room);
}

// The weights forget what is older than 1 / (rate * weight_decay) steps (Wang and Aitchison 2024,
// arXiv 2405.13698). With muon about two passes through the text work well: the shorter the text,
// the stronger the decay, up to the strongest that was measured on more than one text. It is meant
// for the suggested rate, pieces and batch, and does not change if --set changes those. `pass`: its
// steps.
constexpr double kRememberedPasses = 2;
double weight_decay_for(double rate, double pass) {
  return clamp(1 / (rate * kRememberedPasses * pass), 0.01, 3.0);
}

// The minutes of a step, at 6 operations for each weight and token.
double step_minutes(const RunConfig& c) {
  const double d = c.model.d_model, layers = c.model.encoder_layers + c.model.decoder_layers;
  const double weights = 12 * layers * d * d + d * max(256, c.tokenizer.vocab_size);
  return 6 * weights * kBatchTokens / kFlopsPerSecond / 60;
}

// To read the text, to cut it into tokens and to measure the yardsticks.
double minutes_before(const OwnText& text) {
  const auto bytes = double(text.facts.bytes);
  return (0.6e-6 * min(bytes, 1e6) + 0.2e-6 * bytes + 1e-6 * min(bytes, 12e6)) / 60;
}

void choose_size(Suggestion& s, const OwnText& text) {
  const auto shape = ranges::find(kFamilies, text.like, &Family::like)->shape;
  for (const Size& row : kSizes) {
    if (double(text.facts.bytes) < row.bytes) break;
    RunConfig larger = s.config;
    ModelConfig& m = larger.model;
    m.encoder_layers = m.decoder_layers = 0;
    shape(larger, row.layers);
    set_width(m, row.d_model);
    larger.optimizer.learning_rate = row.learning_rate;
    const double minutes = step_minutes(larger);
    if (text.minutes < row.steps * minutes) return;
    s.config = larger;
    s.step_minutes = minutes;
  }
}

// As many as take a small part of the time; one, at the end, in any case.
int validations_in(double steps, double validation) {
  constexpr double kShare = 0.15;
  int n = kMostValidations;
  while (n > 1 && (kMostValidations % n > 0 || n * validation > kShare * steps)) --n;
  return n;
}

// Chooses between pairs and a text, if the user has not.
void choose_kind(OwnText& text, Log& log) {
  const auto is_table = [](const string& file) { return table_columns(file) > 1; };
  const bool table = !text.columns.empty() || ranges::all_of(text.files, is_table);
  if (text.like.empty()) text.like = table ? "pairs" : "gpt";
  if (!text.pairs() && !text.columns.empty())
    throw usage_error("--columns are those of pairs; found --like {}.", text.like);
  if (!text.pairs()) return;
  if (text.files.size() > 1)
    throw usage_error("a table of pairs stands alone; found {}.", text.name)
        .hint("cat A B > pairs.tsv; or --like gpt, which reads them as one text");
  log.info(fmt::format(
      "pairs: each line is a source, a tab and a target{} (--like gpt reads it as a text)",
      text.columns.empty() ? "" : ", columns " + text.columns));
}

string names_of(const vector<string>& files) {
  return some_of(mapped(files, [](const auto& file) { return printable(shown_path(file)); }));
}

}  // namespace

void set_width(ModelConfig& m, int width) {
  m.d_model = width;
  m.n_heads = max(1, width / 32);
  // As many weights in two matrices as in three.
  m.d_ff = m.feed_forward == FeedForwardType::gated ? (8 * width / 3 + 7) / 8 * 8 : 4 * width;
}

string name_of_text(const string& path) {
  if (path == "-") return "stdin";
  const fs::path whole = written_out(path);
  fs::path name = is_folder(whole) ? whole.filename() : whole.stem();
  if (whole.extension() == ".gz") name = name.stem();
  return name.empty() ? "text" : name.string();
}

void read_own_text(OwnText& text, bool any_bytes, Log& log) {
  const bool two = text.files.size() == 2;
  FoundTexts found = find_texts(text.files, any_bytes);
  text.files = std::move(found.files);
  text.name = names_of(text.files);
  const TextFacts& f = text.facts = text_facts(text.files);
  string line = fmt::format("text: {}, {}", text.name, format_bytes(double(f.bytes)));
  if (text.files.size() > 1) line += fmt::format(" in {} files", text.files.size());
  if (f.bad_files.empty())
    line += fmt::format(", {}, {} different",
                        counted(format_count(int64_t(f.characters)), "character"), f.distinct);
  log.info(line);
  if (two && f.lines.size() == 2 && f.lines[0] == f.lines[1] && f.lines[0] > 1)
    log.info(fmt::format(
        "both have {} lines, and are read as one text, the second after the first; for pairs to "
        "translate:\n  paste {} {} > pairs.tsv && heed train pairs.tsv",
        format_count(int64_t(f.lines[0])), shell_word(text.files[0]), shell_word(text.files[1])));
  choose_kind(text, log);
  if (!found.left_out.empty())
    log.info("left out (not text, or a folder in the folder): " + names_of(found.left_out));
}

vector<string> families() {
  return mapped(kFamilies, [](const Family& f) { return string(f.like); });
}

double whole_cost(double steps, double validation) {
  const double frames = 2 + std::log2(max(steps, 1.0));  // at steps 0, 1, 2, 4, 8, ...
  return steps + validations_in(steps, validation) * validation + kFrameSteps * frames;
}

int64_t steps_in_time(double in_time, double useful, double validation) {
  const double most = min(in_time, max(300.0, useful)),
               besides = whole_cost(most, validation) - most,
               steps = clamp(min(most, in_time - besides), 24.0, 1e9);
  return llround(steps / kMostValidations) * kMostValidations;
}

void set_steps(RunConfig& c, int64_t steps, double validation) {
  const auto share = [&](int n) { return max<int64_t>(1, steps / n); };
  c.train.max_steps = steps;
  c.train.log_every = {share(48)};
  c.train.eval_every = c.train.save_every = {share(validations_in(double(steps), validation))};
  c.optimizer.warmup_steps = min<int64_t>(100, share(10));
}

Suggestion suggest(const OwnText& text) {
  const auto bytes = double(text.facts.bytes);
  Suggestion s;
  RunConfig& c = s.config;
  if (text.pairs())
    c.data.pairs = text.files[0], c.data.columns = text.columns;
  else
    c.data.train = {text.files, text.files.size() > 1};
  c.model.positions = Positions::rotary;
  c.model.qk_norm = true;
  c.model.init = Init::gpt2;
  c.optimizer.type = "muon";
  c.optimizer.betas = {0.9, 0.95};
  c.optimizer.schedule = text.pairs() ? "cosine" : "wsd";
  c.train.batch_tokens = kBatchTokens;
  if (!text.facts.bad_files.empty()) {
    c.tokenizer.type = TokenizerConfig::byte;
    s.tokens = fmt::format(
        "single bytes, because the text is not valid UTF-8: {}. To have characters, convert it "
        "(iconv -f LATIN1 -t UTF-8 FILE, if it is Latin-1){}",
        text.facts.first_bad,
        text.facts.bad_files.size() < text.files.size()
            ? ", or leave " + some_of(text.facts.bad_files) + " out"
            : "");
  } else if (text.pairs() || bytes >= kFewBytes) {
    c.tokenizer.type = TokenizerConfig::bpe;
    c.tokenizer.vocab_size = pieces_for(text.facts);
    c.tokenizer.sample_bytes = 1'000'000;
    s.tokens = "pieces of words, which are learnt from the text";
  } else {
    s.tokens = "single characters, because the text is too short to learn pieces of words from";
  }
  choose_size(s, text);
  // A pass through the text, in steps; and few enough held-out tokens that scoring them takes a
  // small part of the minutes.
  const double bytes_per_token = c.tokenizer.type == TokenizerConfig::bpe ? 2.5 : 1,
               pass = bytes / bytes_per_token / kBatchTokens,
               tokens = clamp(20e3 * text.minutes, 1e3, 100e3),
               held_out = bytes < 500 ? 0 : min(0.1, tokens / pass / kBatchTokens);
  c.data.valid_fraction = rounded_to(held_out, 3);
  c.train.patience = text.pairs() && c.data.valid_fraction > 0 ? 5 : 0;
  c.optimizer.min_learning_rate = rounded_to(c.optimizer.learning_rate / 20, 6);
  c.optimizer.weight_decay = rounded_to(weight_decay_for(c.optimizer.learning_rate, pass), 1);
  const bool gpt = text.like == "gpt",
             both = c.model.encoder_layers > 0 && c.model.decoder_layers > 0;
  s.passes = useful_passes(gpt);
  s.validation = held_out * pass / 3;
  // (With both halves a token passes one of them.)
  const double in_time = (text.minutes - minutes_before(text)) / s.step_minutes * (both ? 2 : 1);
  set_steps(c, steps_in_time(in_time, s.passes * pass, s.validation), s.validation);
  // With this decay 0.1 was better than 0 and 0.2; with a weak one a text read often needs more.
  c.model.dropout = gpt || double(c.train.max_steps) < 20 * pass ? 0.1 : 0.2;
  if (text.program != "") c = opened_elsewhere(c);
  return s;
}

RunConfig config_for(const string& path, const GivenKeys& given, Log& log) {
  OwnText text{.files = {path}, .columns = given.values.data.columns};
  read_own_text(text, false, log);
  return resolved(changed(given_keys(suggest(text).config), given));
}

string suggested_config(const OwnText& text, const Suggestion& s) {
  RunConfig config = s.config;
  map<string, string, std::less<>> values = {
      {"name", printable(text.name)},
      {"kind", text.pairs() ? "pairs" : "train"},
      {"opens", opens_as(resolved(given_keys(config)))},
      {"minutes", counted(fmt::format("{:g}", text.minutes), "minute")}};
  for (const Leaf& leaf : leaves(fields(config)))
    if (!unmet(leaf.field)) values[leaf.key] = dump_value(leaf.field).dump();
  values["files"] = values["data." + values["kind"]];
  if (!config.data.columns.empty())
    values["files"] += R"(, "columns": )" + Json(config.data.columns).dump();
  string out;
  for (string_view line : lines_of(suggested_config_json)) {
    string filled;
    size_t hole;
    while ((hole = line.find("{{")) != line.npos) {
      const size_t end = line.find("}}", hole);
      const auto value = values.find(line.substr(hole + 2, end - hole - 2));
      if (value == values.end()) break;  // a key without meaning here: no line
      filled.append(line, 0, hole).append(value->second);
      line.remove_prefix(end + 2);
    }
    if (hole == line.npos) out.append(filled).append(line) += '\n';
  }
  return out;
}

}  // namespace heed
