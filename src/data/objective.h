// What a model learns: which ids its halves read, and which labels it predicts.
//
// An objective (prefix_lm, causal_lm, masked_lm, seq2seq, span_corruption) is one class and one row
// of the table in objectives.cpp. Everything that depends on it is here: the halves of the model,
// the examples of an epoch, how a user's text is framed, scored and continued. Beside it, the
// pages (show/web), the sizes for a text (train/suggested_config) and other programs' models
// (store/huggingface.json) know it by name. An Objective is made from a config alone and is
// immutable: any thread may call it.
//
// Texts come here as ids without <s> and </s>, and are framed as the model reads them:
//
//   seq2seq    source: tokens and </s>          target: <s> and tokens; joined: <s>, source, tokens
//   prefix_lm  source: tokens, or <s> alone     target: <s> and tokens
//   causal_lm                                   target: <s> and tokens
//   masked_lm  source: <s> and tokens
//   span_corruption  source: tokens                target: <s> and tokens
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/std_names.h"
#include "data/run_config.h"
#include "data/split.h"
#include "text/tokenizer.h"

namespace heed {

using TokenIds = vector<int>;

// One sequence per side read, and the labels of the output side (-1: not scored).
struct Example {
  TokenIds source, target;
  TokenIds labels = {};
  // Of examples of a split, for each label: which of its tokens it is, or of its pairs it is from.
  vector<int64_t> places = {};
  int tokens() const { return int(source.size() + target.size()); }
  int64_t scored() const {
    return ranges::count_if(labels, [](int label) { return label >= 0; });
  }
  void clear() {
    for (TokenIds* ids : {&source, &target, &labels}) ids->clear();
    places.clear();
  }
};

// Examples 0 to count - 1. get() reuses the vectors of `out`; any thread may call it.
struct ExampleList {
  int64_t count = 0;
  function<void(int64_t index, Example& out)> get;
};

// A line as `heed score` reads it: what the encoder reads, if anything; the scored labels;
// the examples that score them, in this order.
struct ScoredLine {
  TokenIds source_ids, ids;
  vector<Example> examples;
};

// What a report asks at every step: the example whose attention is shown, and texts to continue
// (or fill in) with what really follows; nothing where nobody knows.
struct Question {
  Example read;
  vector<TokenIds> prompts, expected;
};

// What a model does with a text that a user types, and the words for it.
struct Use {
  string_view command;       // of heed
  string_view takes;         // "texts to continue"
  string_view instructions;  // what to type
};
inline constexpr Use kContinues{"sample", "texts to continue",
                                "Type how a text begins, or nothing."},
    kTranslates{"translate", "texts to translate", "Type a line to translate."},
    kFills{"fill", "texts with a [MASK]", "Type a text with one [MASK] or more."};

// Tokens [begin, end) of a text.
struct Tile {
  size_t begin, end;
};

// What a line's score depends on: a required source, an optional one, or the line alone.
enum class Given { source, maybe_source, nothing };

// Static properties of an objective.
struct ObjectiveTraits {
  // The most ids that the model reads of each side, <s> and </s> included; 0: it has no such side.
  int longest_source = 0, longest_target = 0;
  int trained_on = 0;            // it was trained on no more ids, but can read more; 0: it cannot
  int before_source = 0;         // ids before the text in a framed source
  bool joined = false;           // without an encoder: the decoder reads the source, after <s>
  const Use* use = &kContinues;  // of those above, or another
  Given scored_given = Given::nothing;
  bool bits_per_byte = true;     // every byte of a text is scored
  vector<string> specials = {};  // further special tokens, with the ids from 3 on

  bool pairs() const { return use == &kTranslates; }  // learns from pairs, else from text
  bool encoder() const { return longest_source > 0 && !joined; }
  bool decoder() const { return longest_target > 0; }
};

// How a user writes a token to be filled in.
inline constexpr string_view kMaskText = "[MASK]";

class Objective {
 public:
  static constexpr int64_t kEvaluation = -1;  // the epoch of data that is only scored

  virtual ~Objective() = default;
  const ObjectiveTraits& traits() const { return traits_; }

  // An epoch's examples: in epoch 0, 1, 2, ... in a keyed order, so (epoch, index) is enough to
  // resume; for kEvaluation in their natural order, always the same.
  virtual int64_t count(const Split& split, int64_t epoch) const = 0;
  void example(const Split& split, int64_t epoch, int64_t index, Example& out) const;
  // Those of kEvaluation. The objective and the split must outlive the list. `stride` > 0: examples
  // that begin every `stride` tokens and score what earlier ones did not; Error (usage) unless the
  // objective has such windows.
  virtual ExampleList evaluation(const Split& split, int stride = 0) const;
  // Bytes of the text that an evaluation scores; 0 if it does not score every byte of it.
  uint64_t scored_bytes(const Split& split) const {
    return traits_.bits_per_byte && !split.lossy ? split.target_bytes : 0;
  }

  const Use& use() const { return *traits_.use; }
  bool continues() const { return &use() == &kContinues; }  // text and answer are one text
  bool fills() const { return &use() == &kFills; }          // the answer is for the masks of a text
  // Error (usage) unless `command` is for such models; `run` is for the hint.
  void check_use(string_view command, const string& run) const;
  // The side that a text alone is read as.
  Side text_side() const { return traits_.longest_source > 0 ? Side::source : Side::target; }

  // A user's text, with every kMaskText replaced by the special token that it stands for. Error
  // (data) if there are more than the model can fill in.
  virtual string with_mask_tokens(string_view text) const { return string(text); }
  // Is this such a token? An encoder alone answers in its row. A decoder writes the answer after
  // this token, and the token with the next id ends it.
  virtual bool is_mask(int) const { return false; }
  vector<int> masks_in(const TokenIds& ids) const {  // their places
    vector<int> places;
    for (int i = 0; i < ssize(ids); ++i)
      if (is_mask(ids[i])) places.push_back(i);
    return places;
  }

  // What surrounds the tokens of a text.
  virtual TokenIds framed_source(TokenIds tokens) const = 0;
  static TokenIds framed_target(TokenIds tokens) {
    tokens.insert(tokens.begin(), Tokenizer::kBos);
    return tokens;
  }
  TokenIds framed(Side side, TokenIds tokens) const {
    return side == Side::source ? framed_source(std::move(tokens))
                                : framed_target(std::move(tokens));
  }
  // If pairs are joined, puts the framed source into the framed target, without labels.
  void join(Example& pair) const {
    if (!traits_.joined) return;
    pair.target.insert(pair.target.begin() + 1, pair.source.begin(), pair.source.end());
    if (!pair.labels.empty()) pair.labels.insert(pair.labels.begin(), pair.source.size(), -1);
  }
  int longest(Side side) const {
    return side == Side::source ? traits_.longest_source : traits_.longest_target;
  }
  // Checks the length of a framed side of `ids` ids: Error (data) if the model cannot read it, or
  // if there is no memory for the attention of `at_once` such texts; a warning if it was not
  // trained on any that long, else "". `name` names the text.
  string fit(Side side, size_t ids, const string& name, size_t at_once = 0) const;

  // `source`: what the line is conditioned on; may be empty. `vocab`: the number of ids of the
  // line's tokenizer.
  virtual ScoredLine score(const TokenIds& source, const TokenIds& line, int vocab) const = 0;

  // What the model reads to continue `text`; `again`: when the decoder is full, with
  // longest_target ids. By default the text is a source, and the decoder starts at <s>.
  virtual Example continued(const TokenIds& text, bool /*again*/) const {
    return {framed_source(text), framed_target({})};
  }
  // Ids that are never written; by default the special ones, except a </s> that ends a text.
  virtual TokenIds never_written(const Tokenizer& tokenizer) const;

  // Its text begins with these tokens of a split, which has an example; pairs need none. At most
  // `shown` tokens of Question::read will be shown; `expected` has at most `written`. By default
  // what follows is expected.
  virtual Question question(const Split& split, Tile prompt, int shown, int written) const;
  // Of a text alone.
  Question question_on(const TokenIds& text) const;

 protected:
  Objective(const RunConfig& config, ObjectiveTraits traits)
      : seed_(config.seed), traits_(std::move(traits)), heads_(config.model.n_heads) {}

  // Example `number` in natural order, into an `out` whose vectors are empty.
  virtual void build(const Split& split, int64_t epoch, int64_t number, Example& out) const = 0;

  uint64_t seed_;  // of the draws

 private:
  ObjectiveTraits traits_;
  int heads_;
};

// Of n tokens: [0, offset), [offset, offset + length), ...; the last may be shorter.
struct Tiles {
  size_t n, length, offset = 0;  // offset < length, <= n

  int64_t count() const { return (offset > 0) + (n - offset + length - 1) / length; }
  Tile operator[](int64_t i) const {
    if (offset > 0 && i == 0) return {0, offset};
    const size_t begin = offset + (i - (offset > 0)) * length;
    return {begin, min(n, begin + length)};
  }
};

// What the objectives on plain text share: an epoch covers the text once, in tiles that begin at a
// keyed offset (at 0 when only scoring), and a line is scored in tiles as well.
class TextObjective : public Objective {
 public:
  int64_t count(const Split& split, int64_t epoch) const override;
  // The line follows the source, as one text.
  ScoredLine score(const TokenIds& source, const TokenIds& line, int vocab) const override;

 protected:
  TextObjective(const RunConfig& config, ObjectiveTraits traits, int tile_length)
      : Objective(config, std::move(traits)), tile_length_(tile_length) {}

  void build(const Split& split, int64_t epoch, int64_t number, Example& out) const override;
  // The example of one tile of a text.
  virtual void read_tile(const Ids& text, Tile tile, int64_t epoch, Example& out) const = 0;
  Tiles tiles_of(size_t n, int64_t epoch) const;
  // Masks each token of a line in turn: its pseudo-log-likelihood (Salazar et al. 2020).
  // ask(tokens, i): the example that predicts token i of a tile.
  using Ask = function<Example(const TokenIds& tokens, size_t i)>;
  ScoredLine score_in_turn(const TokenIds& line, const Ask& ask) const;
  // The one that begins at a token.
  Tile tile_at(const Split& split, size_t begin) const {
    return {begin, min(begin + tile_length_, split.target.size())};
  }

  size_t tile_length_;
};

// Ids [begin, end) of a text, which may end earlier.
TokenIds part(const Ids& text, size_t begin, size_t end);
// At most the last n ids.
TokenIds last_of(const TokenIds& ids, size_t n);

// A row of the table.
struct ObjectiveKind {
  KindDoc doc;  // its name is objective.type
  unique_ptr<const Objective> (*make)(const RunConfig& config);
};
// The table. A row may be added before the first config is read.
vector<ObjectiveKind>& objectives();
// "a, b or c": the objectives that learn from pairs, or those that learn from text.
string objectives_on(bool pairs);

// The objective of a config.
unique_ptr<const Objective> make_objective(const RunConfig& config);
// The names of its further special tokens.
vector<string> further_specials(const RunConfig& config);

}  // namespace heed
