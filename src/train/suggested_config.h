// The config that suits a text: what `heed train TEXT` trains, and what `heed init` writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/data_config.h"
#include "data/own_text.h"

namespace heed {

struct OwnText {
  std::string name;                // for people: "a.txt, b.txt, c.txt and 9 more"
  std::vector<std::string> files;  // as the config will name them
  TextFacts facts;
  bool pairs = false;        // one file of pairs (TSV), for a model that translates
  std::string like = "gpt";  // one of families()
  double minutes = 5;
};

// The values of --like.
std::vector<std::string> families();

struct Suggestion {
  TokenizerConfig::Type tokenizer = TokenizerConfig::char_;
  std::string tokens;  // which ones, and why
  int vocab_size = 0;  // bpe
  int d_model = 128, n_heads = 4, d_ff = 512, encoder_layers = 0, decoder_layers = 4;
  double dropout = 0.1, learning_rate = 2e-3, valid_fraction = 0.1;
  double step_minutes = 0;        // on the machine that sizes are chosen for
  double minutes_for_larger = 0;  // with which a larger model would be chosen; 0: none
  double weight_decay = 0;        // 0: the optimizer's own
  double passes = 0;              // through the text, at most: more would only memorise it
  std::int64_t steps = 0;         // estimated to fit into the minutes
  double validation = 0;          // what one costs, in steps: a third of training on its tokens
};

// Of so many steps, with validations and film, in steps.
double whole_cost(double steps, double validation);
// The steps that there is time for with all that, but no more than are useful, or 300, which a
// small text needs. The number of their validations divides them.
std::int64_t steps_in_time(double in_time, double useful, double validation);

Suggestion suggest(const OwnText& text);

// JSON with comments.
std::string suggested_config(const OwnText& text, const Suggestion& s);

}  // namespace heed
