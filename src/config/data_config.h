// The data of a run and what it is for: the sections `data`, `tokenizer` and `objective` of a
// config. Plain values; paths as written, from the config's folder. A config has one of train,
// source + target, pairs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/std_names.h"
#include "config/fields.h"

namespace heed {

// A normalisation form of Unicode (UAX #15).
enum class Normalize { none, nfc, nfkc, nfd, nfkd };

struct DataConfig {
  PathList train;  // text: files and folders
  string source;   // parallel lines
  string target;
  string pairs;    // source <tab> target
  string columns;  // of pairs: "1,3:2"; "": both
  PathList valid;
  string valid_source;
  string valid_target;
  string valid_pairs;
  double valid_fraction = 0.1;  // the end of the data, if there is no valid file
  int64_t limit = 0;            // bytes of text, or pairs, to train on; 0: all
  Normalize normalize = Normalize::none;
  bool lowercase = false;
  int max_length = 256;  // tokens of one side of a pair; longer pairs are dropped

  bool changes_text() const { return lowercase || normalize != Normalize::none; }
  bool has_pairs() const { return train.empty(); }
  bool has_valid_files() const {
    return !valid.empty() || !valid_source.empty() || !valid_target.empty() || !valid_pairs.empty();
  }
  bool has_validation() const { return has_valid_files() || valid_fraction > 0; }
};

// The paths that it names, with their keys: {"pairs", &d.pairs}.
using DataPath = pair<string, string*>;
vector<DataPath> paths_of(DataConfig& d);

// `pairs`: where a key is for pairs alone.
vector<Field> fields(DataConfig& c, const When& pairs);

// Whether punctuation marks stay attached to words or are tokens of their own.
enum class Punctuation { keep, split };

// TokenizerTrainer rejects impossible values.
struct TokenizerConfig {
  enum Type { char_, byte, word, bpe, unigram, none };  // none: of `target` alone
  static constexpr array<string_view, 5> kTypeNames = {"char", "byte", "word", "bpe", "unigram"};
  Type type = char_;
  string file = {};  // an existing vocabulary, relative to the folder of the config; "": learnt
  // Number of ids, including special ones. 0: everything found (char, word), 256 and the special
  // ones (byte), 4000 (bpe, unigram; more if the characters of the text alone need half of it).
  int vocab_size = 0;
  int min_frequency = 1;                        // char, word: rarer ones become <unk>
  int64_t sample_bytes = 10'000'000;            // bpe, unigram learn from at most this much text
  Punctuation punctuation = Punctuation::keep;  // word
};

// Those of a run.
struct TokenizersConfig : TokenizerConfig {
  bool shared = true;  // one vocabulary for source and target
  TokenizerConfig target{.type = none};
  bool own_target() const { return target.type != none; }
  const TokenizerConfig& of_target() const { return own_target() ? target : *this; }
};

constexpr string_view type_name(TokenizerConfig::Type type) {
  return TokenizerConfig::kTypeNames[type];
}

// Has it an id for every character that it knows?
constexpr bool is_char_or_byte(TokenizerConfig::Type type) {
  return type == TokenizerConfig::char_ || type == TokenizerConfig::byte;
}

constexpr bool is_subword(TokenizerConfig::Type type) {
  return type == TokenizerConfig::bpe || type == TokenizerConfig::unigram;
}

vector<Field> fields(TokenizersConfig& c, const When& pairs);

// What the model learns to predict.
struct ObjectiveConfig {
  string type = "prefix_lm";  // a name in the table of data/objectives.cpp
  int source_length = 64;     // most tokens that an encoder reads (text objectives)
  int target_length = 64;     // tokens of a tile (text objectives)
  double mask_fraction = 0.15;
  double mean_span = 3;
  double label_smoothing = 0.0;
};

vector<Field> fields(ObjectiveConfig& c, const vector<KindDoc>& objectives);

}  // namespace heed
