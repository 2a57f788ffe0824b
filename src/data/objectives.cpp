// The objectives, each a class, and the table of them.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/noise.h"
#include "base/std_names.h"
#include "data/objective.h"

namespace heed {
namespace {

// prefix_lm: the encoder reads up to source_length tokens before a tile of target_length
// tokens (<s> alone if there are none), the decoder writes the tile from <s> on. A text is
// continued a tile at a time: then the last source_length tokens are the new source.
class PrefixLm final : public TextObjective {
 public:
  explicit PrefixLm(const RunConfig& c)
      : TextObjective(c,
                      {.longest_source = c.objective.source_length,
                       .longest_target = c.objective.target_length,
                       .scored_given = Given::maybe_source},
                      c.objective.target_length) {}

  TokenIds framed_source(TokenIds tokens) const override {
    if (tokens.empty()) tokens.push_back(Tokenizer::kBos);
    return tokens;
  }

  Example continued(const TokenIds& text, bool) const override {
    return {framed_source(last_of(text, traits().longest_source)), framed_target({})};
  }

 private:
  void read_tile(const Ids& text, Tile tile, int64_t, Example& out) const override {
    text.copy(tile.begin - min<size_t>(tile.begin, traits().longest_source), tile.begin,
              out.source);
    out.source = framed_source(std::move(out.source));
    out.target.push_back(Tokenizer::kBos);
    text.copy(tile.begin, tile.end - 1, out.target);
    text.copy(tile.begin, tile.end, out.labels);
  }
};

// causal_lm: the decoder predicts every token of a tile of target_length tokens from the one before
// it; <s> comes before the text. A text is continued until the decoder has read target_length
// tokens; then it starts again with the last half of them.
class CausalLm final : public TextObjective {
 public:
  explicit CausalLm(const RunConfig& c)
      : TextObjective(c, {.longest_target = c.objective.target_length}, c.objective.target_length) {
  }

  TokenIds framed_source(TokenIds) const override { return {}; }

  // Windows of at most target_length labels, 1 <= stride <= target_length: every token is scored
  // once, and all but the first see at least target_length - stride tokens before them.
  ExampleList evaluation(const Split& split, int stride = 0) const override {
    if (stride == 0) return Objective::evaluation(split);
    if (stride > traits().longest_target)
      throw usage_error("--stride must be at most the model's target_length, {}.", tile_length_);
    const int64_t n = split.target.size(), length = tile_length_;
    const int64_t more = n <= length ? 0 : (n - length + stride - 1) / stride;
    return {n == 0 ? 0 : 1 + more, [this, &split, stride](int64_t index, Example& out) {
              const size_t begin = index * stride;
              const size_t end = min(split.target.size(), begin + tile_length_);
              // Where the previous window ended.
              const size_t scored = index == 0 ? 0 : begin + tile_length_ - stride;
              out.clear();
              read_tile(split.target, {begin, end}, kEvaluation, out);
              std::fill_n(out.labels.begin(), scored - begin, -1);
            }};
  }

  Example continued(const TokenIds& text, bool again) const override {
    return {{},
            last_of(framed_target(text), again ? max<size_t>(1, tile_length_ / 2) : tile_length_)};
  }

 private:
  void read_tile(const Ids& text, Tile tile, int64_t, Example& out) const override {
    if (tile.begin == 0) out.target.push_back(Tokenizer::kBos);
    text.copy(tile.begin == 0 ? 0 : tile.begin - 1, tile.end - 1, out.target);
    text.copy(tile.begin, tile.end, out.labels);
  }
};

// masked_lm: the encoder reads <s> and a tile of source_length tokens, and predicts a fraction
// of them: of these 80 % are shown as [MASK], 10 % as a random token, 10 % as they are (Devlin et
// al. 2019, section 3.1). A line is scored with each of its tokens masked in turn.
class MaskedLm final : public TextObjective {
 public:
  explicit MaskedLm(const RunConfig& c)
      : TextObjective(c,
                      {.longest_source = c.objective.source_length + 1,
                       .before_source = 1,
                       .use = &kFills,
                       .bits_per_byte = false,
                       .specials = {string(kMaskText)}},
                      c.objective.source_length),
        mask_fraction_(c.objective.mask_fraction) {}

  TokenIds framed_source(TokenIds tokens) const override {
    return framed_target(std::move(tokens));
  }

  ScoredLine score(const TokenIds&, const TokenIds& line, int) const override {
    return score_in_turn(line, [this](const TokenIds& tokens, size_t i) {
      Example e{framed_source(tokens), {}, TokenIds(1 + tokens.size(), -1)};
      e.labels[1 + i] = tokens[i];
      e.source[1 + i] = kMaskId;
      return e;
    });
  }

  bool is_mask(int id) const override { return id == kMaskId; }

  // All tokens to fill in are masks; if there is none among those shown, the one in their middle
  // is.
  Question question(const Split& split, Tile prompt, int shown, int) const override {
    Question q;
    Example& read = q.read;
    read_tile(split.target, tile_at(split, prompt.begin), kEvaluation, read);
    const size_t n = min<size_t>(read.labels.size(), shown);
    const auto seen = [n](const TokenIds& ids) { return TokenIds(ids.begin(), ids.begin() + n); };
    if (ranges::count(seen(read.labels), -1) == ptrdiff_t(n))
      read.labels[n / 2] = read.source[n / 2];
    for (size_t i = 0; i < n; ++i)
      if (read.labels[i] >= 0) read.source[i] = kMaskId;
    q.prompts = {seen(read.source)};
    q.expected = {seen(read.labels)};
    erase(q.expected[0], -1);
    return q;
  }

 private:
  static constexpr int kMaskId = Tokenizer::kFirstFurther;

  void read_tile(const Ids& text, Tile tile, int64_t epoch, Example& out) const override {
    text.copy(tile.begin, tile.end, out.source);
    out.source = framed_source(std::move(out.source));
    out.labels.push_back(-1);
    const uint64_t key = noise_key(seed_, Purpose::mask, epoch);
    for (size_t i = tile.begin; i < tile.end; ++i) {
      const uint64_t token_key = combine(key, i);
      int& shown = out.source[1 + i - tile.begin];
      out.labels.push_back(-1);
      if (uniform01(token_key, 0) >= mask_fraction_) continue;
      out.labels.back() = shown;
      const double fate = uniform01(token_key, 1);
      constexpr int kFirst = kMaskId + 1;  // ordinary token
      if (fate < 0.8)
        shown = kMaskId;
      else if (fate < 0.9)
        shown = kFirst + int(uniform01(token_key, 2) * (text.vocab() - kFirst));
    }
  }

  double mask_fraction_;
};

// span_corruption: the encoder reads a tile of source_length tokens in which sentinels stand for
// some spans; the decoder writes each sentinel and its span, then one more sentinel and </s> (T5:
// Raffel et al. 2020, JMLR 21(140), sections 3.1.4 and 3.3.4):
//
//   tile     The fox ran to the river and drank
//   source   The <extra_id_0> to the river <extra_id_1>
//   labels   <extra_id_0> fox ran <extra_id_1> and drank <extra_id_2> </s>
//
// All labels are scored, sentinels too. Of a tile of n tokens these are masked:
//
//   tokens = round(n * mask_fraction)     at least 1, and at least one token stays
//   spans  = round(tokens / mean_span)    at least 1, with a token that stays between two of them
//
// As in T5's random_spans_noise_mask, all ways to cut the masked tokens into spans are equally
// likely, and so are all ways to place the rest around them. T5's noise always ends a tile and
// never begins one; here a span may lie anywhere, since a user may put [MASK] anywhere. A line is
// scored with each of its tokens masked in turn: its probability as the first of a span.
class SpanCorruption final : public TextObjective {
 public:
  explicit SpanCorruption(const RunConfig& c)
      : TextObjective(c, traits_of(c.objective), c.objective.source_length), config_(c.objective) {}

  TokenIds framed_source(TokenIds tokens) const override { return tokens; }

  ScoredLine score(const TokenIds&, const TokenIds& line, int) const override {
    return score_in_turn(line, [](const TokenIds& tokens, size_t i) {
      Example e{tokens, {Tokenizer::kBos, sentinel(0)}, {-1, tokens[i]}};
      e.source[i] = sentinel(0);
      return e;
    });
  }

  string with_mask_tokens(string_view text) const override {
    for (const string& name : traits().specials)
      if (text.find(name) != text.npos)
        throw data_error("the text has {}, a name that stands for a masked span.", name)
            .hint("[MASK] in its place");
    string out;
    size_t masks = 0;
    // A sentinel before the last for each; the longest target must have room for them, each with
    // one token.
    const size_t most =
        min<size_t>(traits().specials.size() - 1, (traits().longest_target - 1) / 2);
    for (size_t at; (at = text.find(kMaskText)) != text.npos; ++masks) {
      if (masks == most)
        throw data_error("the text has too many [MASK]: this model fills in at most {}.", masks);
      out += string(text.substr(0, at)) + traits().specials[masks];
      text.remove_prefix(at + kMaskText.size());
    }
    return out + string(text);
  }
  bool is_mask(int id) const override {
    return id >= sentinel(0) && id < sentinel(traits().specials.size());
  }

  TokenIds never_written(const Tokenizer&) const override {
    return {Tokenizer::kUnk, Tokenizer::kBos};
  }

  Question question(const Split& split, Tile prompt, int, int written) const override {
    Question q;
    read_tile(split.target, tile_at(split, prompt.begin), kEvaluation, q.read);
    q.prompts.push_back(q.read.source);
    q.expected.push_back(q.read.labels);
    q.expected[0].resize(min<size_t>(written, q.read.labels.size() - 1));  // no </s>
    return q;
  }

 private:
  struct Noise {
    int tokens, spans;
  };
  static Noise noise_of(int n, const ObjectiveConfig& c) {
    if (n < 2) return {0, 0};
    const auto rounded = [](double x, int most) { return clamp<int>(std::lround(x), 1, most); };
    const int tokens = rounded(n * c.mask_fraction, n - 1);
    return {tokens, rounded(tokens / c.mean_span, min(tokens, n - tokens + 1))};
  }

  static constexpr int sentinel(int i) { return Tokenizer::kFirstFurther + i; }

  static ObjectiveTraits traits_of(const ObjectiveConfig& c) {
    const Noise most = noise_of(c.source_length, c);
    vector<string> sentinels;  // one for each span, and the one after the last
    const double spans = std::ceil(c.source_length * c.mask_fraction / c.mean_span);
    for (int i = 0; i <= spans; ++i) sentinels.push_back(fmt::format("<extra_id_{}>", i));
    return {.longest_source = c.source_length,
            .longest_target = 2 + most.spans + most.tokens,  // <s> and the last sentinel, too
            .use = &kFills,
            .bits_per_byte = false,
            .specials = sentinels};
  }

  // `items` cut into `runs` runs of at least one item, every way equally likely: selection sampling
  // of the places where a run begins (Knuth, The Art of Computer Programming 2, 3.4.2 S).
  struct RandomRuns {
    uint64_t key;
    int items, runs;  // left

    int next() {
      --runs;
      int length = 1;
      for (int places = items - 1; places > 0; --places, ++length)
        if (uniform01(key, places) * places < runs) break;
      items -= length;
      return length;
    }
  };

  void read_tile(const Ids& text, Tile tile, int64_t epoch, Example& out) const override {
    const int n = tile.end - tile.begin;
    const Noise noise = noise_of(n, config_);
    const uint64_t key = noise_key(seed_, Purpose::mask, epoch, tile.begin);
    // Imagines one more unmasked token at each end of the tile, so that a span may lie there.
    RandomRuns kept{combine(key, 0), n - noise.tokens + 2, noise.spans + 1};
    RandomRuns masked{combine(key, 1), noise.tokens, noise.spans};
    size_t at = tile.begin;
    const auto move = [&](int count, TokenIds& to) {
      text.copy(at, at + count, to);
      at += count;
    };
    // A sentinel is where its span begins.
    const auto place = [&](int count) {
      for (int i = 0; i < count; ++i) out.places.push_back(min(at + i, tile.end - 1));
    };
    for (int i = 0; i <= noise.spans; ++i) {
      move(kept.next() - (i == 0) - (i == noise.spans), out.source);
      out.labels.push_back(sentinel(i));
      place(1);
      if (i == noise.spans) break;
      out.source.push_back(sentinel(i));
      const int count = masked.next();
      place(count);
      move(count, out.labels);
    }
    out.target.push_back(Tokenizer::kBos);
    out.target.insert(out.target.end(), out.labels.begin(), out.labels.end());
    out.labels.push_back(Tokenizer::kEos);
    place(1);
  }

  ObjectiveConfig config_;
};

// seq2seq: pairs of lines. The encoder reads the source and </s>, the decoder writes the target and
// </s>, starting from <s>. Without an encoder the decoder reads <s>, the source, </s> and the
// target, as a GPT reads a text, and learns the same labels. What it writes is one line.
class Seq2Seq final : public Objective {
 public:
  explicit Seq2Seq(const RunConfig& c)
      : Objective(c, {.longest_source = longest_of(c) - joins(c),
                      .longest_target = longest_of(c),
                      .trained_on = c.model.positions != Positions::learned ? most_learnt(c) : 0,
                      .joined = joins(c),
                      .use = &kTranslates,
                      .scored_given = Given::source}) {}

  int64_t count(const Split& split, int64_t) const override { return split.sentences(); }

  TokenIds framed_source(TokenIds tokens) const override {
    tokens.push_back(Tokenizer::kEos);
    return tokens;
  }

  ScoredLine score(const TokenIds& source, const TokenIds& line, int) const override {
    TokenIds ids = line;
    ids.push_back(Tokenizer::kEos);
    return {framed_source(source), ids, {framed_pair({source, {}, line})}};
  }

  // Nothing that would end the line is written, either.
  TokenIds never_written(const Tokenizer& tokenizer) const override {
    TokenIds never = Objective::never_written(tokenizer);
    for (int id = tokenizer.first_ordinary_id(); id < tokenizer.size(); ++id)
      if (tokenizer.text_after(-1, id).find_first_of("\n\r") != string::npos) never.push_back(id);
    return never;
  }

  // The second of four pairs is read: one that can be shown whole, and at least half as long as the
  // mean.
  Question question(const Split& split, Tile, int shown, int) const override {
    const int64_t count = split.sentences(), both = split.source.size() + split.target.size();
    Question q;
    int64_t first = -1;
    do example(split, kEvaluation, min(++first + 1, count - 1), q.read);
    while ((int(max(q.read.source.size(), q.read.target.size())) > shown ||
            2 * count * q.read.tokens() < both) &&
           first + 4 < count);
    for (int64_t i = first; i < min(count, first + 4); ++i) {
      q.prompts.push_back(split.sentence(Side::source, i));
      q.expected.push_back(split.sentence(Side::target, i));
    }
    return q;
  }

 private:
  static bool joins(const RunConfig& c) { return c.model.encoder_layers == 0; }
  static int most_learnt(const RunConfig& c) { return (1 + joins(c)) * (c.data.max_length + 1); }
  // As long as training needs; longer if the model reads more.
  static int longest_of(const RunConfig& c) { return max(c.model.max_length, most_learnt(c)); }

  // Around the tokens of the source and the labels.
  Example framed_pair(Example e) const {
    e.source = framed_source(std::move(e.source));
    e.target = framed_target(e.labels);
    e.labels.push_back(Tokenizer::kEos);
    join(e);
    if (traits().joined) e.source.clear();  // the decoder reads it
    return e;
  }

  void build(const Split& split, int64_t, int64_t i, Example& out) const override {
    out = framed_pair({split.sentence(Side::source, i), {}, split.sentence(Side::target, i)});
    out.places.assign(out.labels.size(), i);
  }
};

template <class T>
unique_ptr<const Objective> make(const RunConfig& config) {
  return make_unique<T>(config);
}

}  // namespace

vector<ObjectiveKind>& objectives() {
  static vector<ObjectiveKind> kinds = {
      {{"prefix_lm",
        "the encoder reads text, the decoder writes what follows",
        {"source_length", "target_length"}},
       make<PrefixLm>},
      {{"causal_lm", "the decoder alone", {"target_length"}}, make<CausalLm>},
      {{"masked_lm", "the encoder fills in masked tokens", {"source_length", "mask_fraction"}},
       make<MaskedLm>},
      {{"seq2seq", "pairs; with encoder_layers 0 the decoder reads both sides", {}}, make<Seq2Seq>},
      {{"span_corruption",
        "the encoder reads text with sentinels in place of spans, the decoder writes the spans",
        {"source_length", "mask_fraction", "mean_span"}},
       make<SpanCorruption>},
  };
  return kinds;
}

unique_ptr<const Objective> make_objective(const RunConfig& config) {
  return kind_named(objectives(), config.objective.type).make(config);
}

vector<string> further_specials(const RunConfig& config) {
  return make_objective(config)->traits().specials;
}

string objectives_on(bool pairs) {
  vector<string> names;
  for (const ObjectiveKind& kind : objectives())
    if (kind.make({})->traits().pairs() == pairs) names.push_back(kind.doc.name);
  return listed(names, "or");
}

}  // namespace heed
