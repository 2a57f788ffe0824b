#include "train/suggested_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/json.h"
#include "base/utf8.h"
#include "show/advice.h"

namespace heed {
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

// As much work as the layers of a GPT of n.
struct Layers {
  int encoder, decoder;
  static Layers gpt(int n) { return {0, n}; }
  static Layers prefix_lm(int n) { return {1, n}; }
  static Layers bert(int n) { return {n, 0}; }
  static Layers t5(int n) { return {n / 2, (n + 2) / 4}; }
  static Layers translation(int n) { return {n / 2 + 1, n / 2 + 1}; }
};
struct Block {
  int feed_forward_thirds;  // d_ff is so many thirds of d_model, rounded to a multiple of 8
  const char* keys;
};
// That of Qwen3, which other programs open (heed export).
constexpr Block kQwen3 = {
    8, R"("activation": "silu", "feed_forward": "gated", "norm_type": "rms", "bias": false)"};
constexpr Block kPlain = {12, R"("activation": "gelu")"};

struct Family {
  const char *like, *objective, *meaning;
  Layers (*layers)(int n);
  Block block = kPlain;
};
constexpr Family kFamilies[] = {
    {"gpt", R"("causal_lm", "target_length": 128)",
     "A decoder alone, as GPT: it predicts each token from those before it.", Layers::gpt, kQwen3},
    {"prefix_lm", R"("prefix_lm", "source_length": 64, "target_length": 128)",
     "The encoder reads source_length tokens, the decoder writes what follows.", Layers::prefix_lm},
    {"bert", R"("masked_lm", "source_length": 96)",
     "An encoder alone, as BERT: it fills in masked tokens.", Layers::bert},
    {"t5", R"("span_corruption", "source_length": 48)",
     "Encoder and decoder, as T5: it fills in masked spans of tokens.", Layers::t5},
};
constexpr Family kTranslation = {"", R"("seq2seq", "label_smoothing": 0.1)",
                                 "The encoder reads a sentence, the decoder translates it.",
                                 Layers::translation};

const Family& family_of(const OwnText& text) {
  return text.pairs ? kTranslation : *std::ranges::find(kFamilies, text.like, &Family::like);
}

// bpe needs ids for the characters that make up most of the text, 256 bytes and special tokens.
int pieces_for(const TextFacts& f) {
  const auto bytes = static_cast<double>(f.bytes);
  const int words = bytes < 300e3 ? 500 : bytes < 5e6 ? 1000 : bytes < 50e6 ? 2000 : 4000;
  const int room = std::min(f.distinct, f.common + f.common / 10 + 50) + 300;
  return std::max(words + f.common / 2, room);
}

double bytes_per_token(const Suggestion& s) {
  return s.tokenizer == TokenizerConfig::bpe ? 2.5 : 1;
}

// The weights forget what is older than 1 / (rate * weight_decay) steps (Wang and Aitchison 2024,
// arXiv 2405.13698). With muon about two passes through the text work well: the shorter the text,
// the stronger the decay, up to the strongest that was measured on more than one text. It is meant
// for the suggested rate, pieces and batch, and does not change if --set changes those.
constexpr double kRememberedPasses = 2;
double weight_decay_for(double rate, double steps_of_a_pass) {
  return std::clamp(1 / (rate * kRememberedPasses * steps_of_a_pass), 0.01, 3.0);
}

// Few enough that scoring them takes a small part of the minutes.
double held_out_tokens(double minutes) {
  return std::clamp(20e3 * minutes, 1e3, 100e3);
}

double steps_of_a_pass(const OwnText& text, const Suggestion& s) {
  return static_cast<double>(text.facts.bytes) / bytes_per_token(s) / kBatchTokens;
}

// The minutes of a step, at 6 operations for each weight and token.
double step_minutes(const Suggestion& s) {
  const double d = s.d_model, layers = s.encoder_layers + s.decoder_layers;
  const double weights = 12 * layers * d * d + d * std::max(256, s.vocab_size);
  return 6 * weights * kBatchTokens / kFlopsPerSecond / 60;
}

// To read the text, to cut it into tokens and to measure the yardsticks.
double minutes_before(const OwnText& text) {
  const auto bytes = static_cast<double>(text.facts.bytes);
  return (0.6e-6 * std::min(bytes, 1e6) + 0.2e-6 * bytes + 1e-6 * std::min(bytes, 12e6)) / 60;
}

void choose_size(Suggestion& s, const OwnText& text) {
  for (const Size& row : kSizes) {
    if (static_cast<double>(text.facts.bytes) < row.bytes) break;
    Suggestion larger = s;
    const Family& family = family_of(text);
    const Layers layers = family.layers(row.layers);
    larger.encoder_layers = layers.encoder;
    larger.decoder_layers = layers.decoder;
    larger.d_model = row.d_model;
    larger.n_heads = row.d_model / 32;
    larger.d_ff = (family.block.feed_forward_thirds * row.d_model / 3 + 7) / 8 * 8;
    larger.learning_rate = row.learning_rate;
    larger.step_minutes = step_minutes(larger);
    s.minutes_for_larger = row.steps * larger.step_minutes;
    if (text.minutes < s.minutes_for_larger) return;
    s = larger;
  }
  s.minutes_for_larger = 0;
}

// As many as take a small part of the time; one, at the end, in any case.
int validations_in(double steps, double validation) {
  constexpr double kShare = 0.15;
  int n = kMostValidations;
  while (n > 1 && (kMostValidations % n > 0 || n * validation > kShare * steps)) --n;
  return n;
}

// A path, or a list of them, as JSON.
std::string json_of(const std::vector<std::string>& files) {
  return files.size() == 1 ? Json(files[0]).dump() : Json(files).dump();
}

}  // namespace

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const Family& f : kFamilies) names.push_back(f.like);
  return names;
}

double whole_cost(double steps, double validation) {
  const double frames = 2 + std::log2(std::max(steps, 1.0));  // at steps 0, 1, 2, 4, 8, ...
  return steps + validations_in(steps, validation) * validation + kFrameSteps * frames;
}

std::int64_t steps_in_time(double in_time, double useful, double validation) {
  const double most = std::min(in_time, std::max(300.0, useful)),
               besides = whole_cost(most, validation) - most,
               steps = std::clamp(std::min(most, in_time - besides), 24.0, 1e9);
  return std::llround(steps / kMostValidations) * kMostValidations;
}

Suggestion suggest(const OwnText& text) {
  const auto bytes = static_cast<double>(text.facts.bytes);
  Suggestion s;
  if (text.facts.too_many_bad) {
    s.tokenizer = TokenizerConfig::byte;
    s.tokens = fmt::format(
        "single bytes, because the text is not valid UTF-8: {}. To have characters, convert it "
        "(iconv -f LATIN1 -t UTF-8 FILE, if it is Latin-1), or drop a few such bytes "
        "(iconv -c -f UTF-8 -t UTF-8 FILE)",
        text.facts.first_bad);
  } else if (text.pairs || bytes >= kFewBytes) {
    s.tokenizer = TokenizerConfig::bpe;
    s.tokens = bytes < kFewBytes
                   ? "pieces of words, shared by both sides"
                   : "pieces of words, because there is enough text to learn them from";
    s.vocab_size = pieces_for(text.facts);
  } else {
    s.tokens = "single characters, because the text is too short to learn pieces of words from";
  }
  choose_size(s, text);
  s.valid_fraction =
      bytes < 500 ? 0 : std::min(0.1, held_out_tokens(text.minutes) * bytes_per_token(s) / bytes);
  const bool gpt = !text.pairs && text.like == "gpt";
  s.passes = useful_passes(gpt);
  const double pass = steps_of_a_pass(text, s);
  s.validation = s.valid_fraction * pass / 3;
  const bool both = s.encoder_layers > 0 && s.decoder_layers > 0;  // a token passes one side
  s.steps = steps_in_time((text.minutes - minutes_before(text)) / s.step_minutes * (both ? 2 : 1),
                          s.passes * pass, s.validation);
  s.weight_decay = weight_decay_for(s.learning_rate, pass);
  // With this decay 0.1 was better than 0 and 0.2; with a weak one a text read often needs more.
  s.dropout = gpt || static_cast<double>(s.steps) < 20 * pass ? 0.1 : 0.2;
  return s;
}

std::string suggested_config(const OwnText& text, const Suggestion& s) {
  const Family& family = family_of(text);
  std::string tokenizer = fmt::format(R"("{}")", type_name(s.tokenizer));
  if (is_subword(s.tokenizer) && s.vocab_size > 0)
    tokenizer += fmt::format(R"(, "vocab_size": {}, "sample_bytes": 1000000)", s.vocab_size);
  const std::string decay =
      s.weight_decay > 0 ? fmt::format(R"("weight_decay": {:.1g}, )", s.weight_decay) : "";
  const auto every = [&](int times) { return std::max<std::int64_t>(1, s.steps / times); };
  return fmt::format(
      R"(// {name}. Train it: heed train THIS_FILE; every key: heed config --docs
// Change first: d_model and the number of layers (larger learns more, and slower), max_steps.
{{
  // Paths start at the folder of this file. {held_out}
  "data": {{"{key}": {files}, "valid_fraction": {valid:.3g}}},
  // char: characters; bpe: learnt pieces of words; word: words; byte: the bytes of any file.
  "tokenizer": {{"type": {tokenizer}}},
  // n_heads divides d_model.
  "model": {{
    "d_model": {d_model}, "n_heads": {n_heads}, "d_ff": {d_ff},
    "encoder_layers": {encoder}, "decoder_layers": {decoder},
    "positions": "rotary", "norm": "pre", "qk_norm": true,
    {block},
    "init": "gpt2", "dropout": {dropout}
  }},
  // {meaning}
  "objective": {{"type": {objective}}},
  // The rate rises for warmup_steps, then falls to min_learning_rate at max_steps{last}.{less}
  "optimizer": {{
    "type": "muon", "learning_rate": {rate:g}, "min_learning_rate": {low:g},
    "betas": [0.9, 0.95], {decay}"schedule": "{schedule}", "warmup_steps": {warmup}
  }},
  // A step reads batch_tokens tokens; max_steps is a guess of what fits into {minutes} and helps.
  // patience: stop after so many validations without a new best (0: never).
  "train": {{
    "batch_tokens": {batch}, "max_steps": {steps}, "patience": {patience},
    "log_every": {log}, "eval_every": {eval}, "save_every": {eval}
  }}
}}
)",
      fmt::arg("name", printable(text.name)), fmt::arg("key", text.pairs ? "pairs" : "train"),
      fmt::arg("files", json_of(text.files)), fmt::arg("valid", s.valid_fraction),
      fmt::arg("held_out", s.valid_fraction > 0
                               ? "The end of the text is held out, to measure with."
                               : "Of so short a text nothing is held out."),
      fmt::arg("minutes", counted(fmt::format("{:g}", text.minutes), "minute")),
      fmt::arg("tokenizer", tokenizer), fmt::arg("d_model", s.d_model),
      fmt::arg("n_heads", s.n_heads), fmt::arg("d_ff", s.d_ff),
      fmt::arg("block", family.block.keys), fmt::arg("encoder", s.encoder_layers),
      fmt::arg("decoder", s.decoder_layers), fmt::arg("dropout", s.dropout),
      fmt::arg("meaning", family.meaning), fmt::arg("schedule", text.pairs ? "cosine" : "wsd"),
      fmt::arg("last", text.pairs ? "" : ", over the last\n  // decay_fraction (0.2) of the steps"),
      fmt::arg("objective", family.objective), fmt::arg("rate", s.learning_rate),
      fmt::arg("low", s.learning_rate / 20), fmt::arg("decay", decay),
      fmt::arg("less", decay.empty()
                           ? ""
                           : "\n  // The less text there is, the stronger the weight_decay."),
      fmt::arg("batch", kBatchTokens), fmt::arg("steps", s.steps),
      fmt::arg("warmup", std::min<std::int64_t>(100, every(10))),
      fmt::arg("patience", text.pairs && s.valid_fraction > 0 ? 5 : 0), fmt::arg("log", every(48)),
      fmt::arg("eval", every(validations_in(static_cast<double>(s.steps), s.validation))));
}

}  // namespace heed
