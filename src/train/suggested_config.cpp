#include "train/suggested_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/format.h"
#include "base/utf8.h"

namespace heed {
namespace {

// What a text of at most so many bytes gets. The less text, the smaller the model, the more dropout
// and the fewer passes: a large model soon knows a small text by heart.
struct Size {
  double bytes;
  int d_model, layers;
  double dropout, passes, learning_rate;
};
constexpr Size kSizes[] = {
    {3e3, 32, 2, 0.0, 300, 5e-3},     {30e3, 64, 2, 0.1, 150, 4e-3}, {150e3, 96, 3, 0.2, 60, 3e-3},
    {600e3, 128, 4, 0.2, 40, 2.5e-3}, {1e18, 128, 4, 0.1, 30, 2e-3},
};
// A longer training is worth a larger model, if there is much text.
struct Growth {
  double minutes, bytes;
  int d_model, layers;
};
constexpr Growth kGrowths[] = {{20, 600e3, 192, 4}, {60, 2e6, 256, 6}, {600, 20e6, 384, 8}};

// Pieces of words need some text to be learnt from.
constexpr double kCharactersBelow = 50e3;
constexpr double kFlopsPerSecond = 60e9;  // of two cores: for heed init, which does not measure
constexpr double kHeldOutBytes = 300e3;   // at most: scoring them takes time

struct Family {
  const char *like, *objective, *meaning;
  int (*encoder_layers)(int layers);
};
constexpr Family kFamilies[] = {
    {"gpt", R"("causal_lm", "target_length": 128)",
     "A decoder alone, as GPT: it predicts each token from those before it.",
     [](int) { return 0; }},
    {"prefix_lm", R"("prefix_lm", "source_length": 64, "target_length": 64)",
     "The encoder reads source_length tokens, the decoder writes what follows.",
     [](int) { return 1; }},
    {"bert", R"("masked_lm", "source_length": 96)",
     "An encoder alone, as BERT: it fills in masked tokens.", [](int layers) { return layers; }},
    {"t5", R"("span_corruption", "source_length": 64)",
     "Encoder and decoder, as T5: it fills in masked spans of tokens.",
     [](int layers) { return (layers + 1) / 2; }},
};
constexpr Family kTranslation = {
    "", R"("seq2seq", "label_smoothing": 0.1)",
    "The encoder reads a sentence, the decoder writes its translation.",
    [](int layers) { return (layers + 1) / 2; }};

const Family& family_of(const OwnText& text) {
  if (text.pairs) return kTranslation;
  for (const Family& f : kFamilies)
    if (text.like == f.like) return f;
  throw Error(Exit::usage, fmt::format("--like {}: expected {}.", text.like, joined(families())));
}

int rounded_up(double x, int unit) {
  return unit * static_cast<int>(std::ceil(x / unit));
}

void choose_tokenizer(const OwnText& text, Suggestion& s) {
  const auto bytes = static_cast<double>(text.facts.bytes);
  if (!text.facts.utf8) {
    s.tokenizer = TokenizerConfig::byte;
  } else if (bytes >= kCharactersBelow) {
    s.tokenizer = TokenizerConfig::bpe;
    // Besides pieces there must be room for every character, 256 bytes and the special ids.
    s.vocab_size = rounded_up(
        std::max(std::clamp(bytes / 500, 500.0, 4000.0), 1.25 * (text.facts.distinct + 300)), 100);
  } else if (text.pairs) {
    s.tokenizer = TokenizerConfig::word;
  }
}

// Rough: 6 operations for each weight and token, and 3 or 4 bytes for a piece.
std::int64_t guessed_steps(const OwnText& text, const Suggestion& s) {
  const bool pieces = s.tokenizer == TokenizerConfig::bpe;
  const double d = s.d_model, layers = s.encoder_layers + s.decoder_layers;
  const double weights = 12 * layers * d * d + d * (pieces ? s.vocab_size : 256);
  const double in_time = text.minutes * 60 * kFlopsPerSecond / (6 * weights * s.batch_tokens);
  const double tokens = static_cast<double>(text.facts.bytes) / (pieces ? 3.3 : 1);
  return std::llround(std::clamp(std::min(in_time, s.passes * tokens / s.batch_tokens), 20.0, 1e9));
}

// The keys of the section data.
std::string data_of(const OwnText& text, const Suggestion& s) {
  const nlohmann::json files = text.files;
  const std::string named = files.size() == 1 ? files[0].dump() : files.dump();
  return fmt::format(R"("{}": {}, "valid_fraction": {:.3g})", text.pairs ? "pairs" : "train", named,
                     s.valid_fraction);
}

}  // namespace

const std::vector<std::string>& families() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Family& f : kFamilies) all.push_back(f.like);
    return all;
  }();
  return names;
}

Suggestion suggest(const OwnText& text) {
  const auto bytes = static_cast<double>(text.facts.bytes);
  Suggestion s;
  choose_tokenizer(text, s);
  const Size* size = std::ranges::find_if(kSizes, [&](const Size& x) { return bytes <= x.bytes; });
  int layers = size->layers;
  s.d_model = size->d_model;
  for (const Growth& g : kGrowths)
    if (text.minutes >= g.minutes && bytes >= g.bytes) {
      s.d_model = g.d_model;
      layers = g.layers;
    }
  s.n_heads = std::max(2, s.d_model / 32);
  s.encoder_layers = family_of(text).encoder_layers(layers);
  s.decoder_layers = layers - s.encoder_layers;
  s.dropout = size->dropout;
  s.passes = size->passes;
  s.learning_rate = size->learning_rate;
  s.batch_tokens = s.d_model < 96 ? 1024 : 2048;
  s.valid_fraction = bytes < 500 ? 0 : std::min(0.1, kHeldOutBytes / bytes);
  s.steps = guessed_steps(text, s);
  return s;
}

std::string suggested_config(const OwnText& text, const Suggestion& s, const std::string& name) {
  const Family& family = family_of(text);
  std::string tokenizer = fmt::format(R"("{}")", type_name(s.tokenizer));
  if (s.vocab_size > 0) tokenizer += fmt::format(R"(, "vocab_size": {})", s.vocab_size);
  if (s.tokenizer == TokenizerConfig::bpe) tokenizer += R"(, "sample_bytes": 3000000)";
  const std::int64_t steps = s.steps > 0 ? s.steps : 1000;  // how often, if the end is another one
  const std::int64_t tenth = std::max<std::int64_t>(1, steps / 10);
  return fmt::format(
      R"(// {name}. Train it: heed train THIS_FILE; every key: heed config --docs
// Change first: model.d_model and the number of layers (larger learns more, and slower), train.max_steps.
{{
  // Paths start at the folder of this file. The end of the text is held out, to measure with.
  "data": {{{data}}},
  // char: characters; bpe: learnt pieces of words; word: words; byte: the bytes of any file.
  "tokenizer": {{"type": {tokenizer}}},
  // n_heads divides d_model. More dropout helps a small text, less a large one.
  "model": {{
    "d_model": {d_model}, "n_heads": {n_heads}, "d_ff": {d_ff}, "encoder_layers": {encoder}, "decoder_layers": {decoder},
    "positions": "rotary", "norm": "pre", "activation": "gelu", "dropout": {dropout}
  }},
  // {meaning}
  "objective": {{"type": {objective}}},
  // The rate rises for warmup_steps, then falls to min_learning_rate at train.max_steps.
  "optimizer": {{
    "type": "adamw", "learning_rate": {rate:g}, "min_learning_rate": {low:g}, "weight_decay": 0.1,
    "schedule": "cosine", "warmup_steps": {warmup}
  }},
  // A step reads batch_tokens tokens. patience: stop after so many validations without a new best.
  "train": {{
    "batch_tokens": {batch}, "max_steps": {steps}, "log_every": {log}, "eval_every": {eval}, "save_every": {eval},
    "patience": {patience}
  }}
}}
)",
      fmt::arg("name", printable(name)), fmt::arg("data", data_of(text, s)),
      fmt::arg("tokenizer", tokenizer), fmt::arg("d_model", s.d_model),
      fmt::arg("n_heads", s.n_heads), fmt::arg("d_ff", 4 * s.d_model),
      fmt::arg("encoder", s.encoder_layers), fmt::arg("decoder", s.decoder_layers),
      fmt::arg("dropout", s.dropout), fmt::arg("meaning", family.meaning),
      fmt::arg("objective", family.objective), fmt::arg("rate", s.learning_rate),
      fmt::arg("low", s.learning_rate / 10), fmt::arg("warmup", std::min<std::int64_t>(150, tenth)),
      fmt::arg("batch", s.batch_tokens), fmt::arg("steps", s.steps),
      fmt::arg("log", std::max<std::int64_t>(1, tenth / 4)), fmt::arg("eval", tenth),
      fmt::arg("patience", s.valid_fraction > 0 ? 5 : 0));
}

}  // namespace heed
