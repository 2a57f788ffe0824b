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
#pragma once

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/noise.h"
#include "data/text_objective.h"

namespace heed {

class SpanCorruption final : public TextObjective {
 public:
  explicit SpanCorruption(const RunConfig& c)
      : TextObjective(c, traits_of(c.objective), c.objective.source_length), config_(c.objective) {}

  TokenIds framed_source(TokenIds tokens) const override { return tokens; }

  ScoredLine score(const TokenIds&, const TokenIds& line, int) const override {
    return score_in_turn(line, [](const TokenIds& tokens, std::size_t i) {
      Example e{tokens, {Tokenizer::kBos, sentinel(0)}, {-1, tokens[i]}};
      e.source[i] = sentinel(0);
      return e;
    });
  }

  std::string with_mask_tokens(std::string_view text) const override {
    for (const std::string& name : traits().specials)
      if (text.find(name) != text.npos)
        throw Error(Exit::data, "the text has " + name + ", a name that stands for a masked span.",
                    "[MASK] in its place");
    std::string out;
    std::size_t masks = 0;
    for (std::size_t at; (at = text.find(kMaskText)) != text.npos; ++masks) {
      if (masks == most_masks())
        throw Error(Exit::data,
                    "the text has too many [MASK]: this model fills in at most " +
                        std::to_string(masks) +
                        ", by its objective's source_length, mask_fraction and mean_span.");
      out += std::string(text.substr(0, at)) + traits().specials[masks];
      text.remove_prefix(at + kMaskText.size());
    }
    return out + std::string(text);
  }
  bool is_mask(int id) const override {
    return id >= sentinel(0) && id < sentinel(static_cast<int>(traits().specials.size()));
  }

  TokenIds never_written(const Tokenizer&) const override {
    return {Tokenizer::kUnk, Tokenizer::kBos};
  }

  Question question(const Split& split, int, int written) const override {
    Question q;
    read_tile(split.target, shown_tile(split), kEvaluation, q.read);
    q.prompts.push_back(q.read.source);
    q.expected.push_back(q.read.labels);
    q.expected[0].resize(std::min<std::size_t>(written, q.read.labels.size() - 1));  // no </s>
    return q;
  }

 private:
  struct Noise {
    int tokens, spans;
  };
  static Noise noise_of(int n, const ObjectiveConfig& c) {
    if (n < 2) return {0, 0};
    const auto rounded = [](double x, int most) {
      return std::clamp(static_cast<int>(std::lround(x)), 1, most);
    };
    const int tokens = rounded(n * c.mask_fraction, n - 1);
    return {tokens, rounded(tokens / c.mean_span, std::min(tokens, n - tokens + 1))};
  }

  static constexpr int sentinel(int i) { return Tokenizer::kFirstFurther + i; }

  // One for each span, and the one after the last.
  static std::vector<std::string> sentinels(const ObjectiveConfig& c) {
    std::vector<std::string> names;
    const double spans = std::ceil(c.source_length * c.mask_fraction / c.mean_span);
    for (int i = 0; i <= static_cast<int>(spans); ++i)
      names.push_back("<extra_id_" + std::to_string(i) + ">");
    return names;
  }

  static ObjectiveTraits traits_of(const ObjectiveConfig& c) {
    const Noise most = noise_of(c.source_length, c);
    return {.longest_source = c.source_length,
            .longest_target = 2 + most.spans + most.tokens,  // <s> and the last sentinel, too
            .use = &kFills,
            .bits_per_byte = false,
            .specials = sentinels(c)};
  }

  // One per sentinel before the last; the longest target must have room for them, each with one
  // token.
  std::size_t most_masks() const {
    return std::min<std::size_t>(traits().specials.size() - 1, (traits().longest_target - 1) / 2);
  }

  // `items` cut into `runs` runs of at least one item, every way equally likely: selection sampling
  // of the places where a run begins (Knuth, The Art of Computer Programming 2, 3.4.2 S).
  struct RandomRuns {
    std::uint64_t key;
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

  void read_tile(const Ids& text, Tile tile, std::int64_t epoch, Example& out) const override {
    const int n = static_cast<int>(tile.end - tile.begin);
    const Noise noise = noise_of(n, config_);
    const std::uint64_t key = noise_key(seed_, Purpose::mask, epoch, tile.begin);
    // Imagines one more unmasked token at each end of the tile, so that a span may lie there.
    RandomRuns kept{combine(key, 0), n - noise.tokens + 2, noise.spans + 1};
    RandomRuns masked{combine(key, 1), noise.tokens, noise.spans};
    std::size_t at = tile.begin;
    const auto move = [&](int count, TokenIds& to) {
      text.copy(at, at + count, to);
      at += count;
    };
    for (int i = 0; i <= noise.spans; ++i) {
      move(kept.next() - (i == 0) - (i == noise.spans), out.source);
      out.labels.push_back(sentinel(i));
      if (i == noise.spans) break;
      out.source.push_back(sentinel(i));
      move(masked.next(), out.labels);
    }
    out.target.push_back(Tokenizer::kBos);
    out.target.insert(out.target.end(), out.labels.begin(), out.labels.end());
    out.labels.push_back(Tokenizer::kEos);
  }

  ObjectiveConfig config_;
};

}  // namespace heed
