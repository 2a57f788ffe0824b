// The config that suits a text: what `heed train TEXT` trains, and what `heed init` writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/tokenizer_config.h"
#include "data/own_text.h"

namespace heed {

struct OwnText {
  std::vector<std::string> files;  // as the config is to name them
  TextFacts facts;
  bool pairs = false;  // one file of pairs (TSV), for a model that translates
  std::string like = "gpt";
  double minutes = 5;
};

// What --like takes.
const std::vector<std::string>& families();

struct Suggestion {
  TokenizerConfig::Type tokenizer = TokenizerConfig::char_;
  int vocab_size = 0;  // 0: as many as the text has
  int d_model = 128, n_heads = 4, encoder_layers = 0, decoder_layers = 4;
  double dropout = 0.1;
  double learning_rate = 2e-3;
  int batch_tokens = 2048;
  double valid_fraction = 0.1;
  double passes = 0;       // through the text; more would only learn it by heart
  std::int64_t steps = 0;  // a rough guess of what fits into the minutes, or into the passes
};

Suggestion suggest(const OwnText& text);

// JSON with comments. `name` is what the text is called.
std::string suggested_config(const OwnText& text, const Suggestion& s, const std::string& name);

}  // namespace heed
