// masked_lm: the encoder reads <s> and a tile of source_length tokens, and predicts a fraction
// of them: of these 80 % are shown as [MASK], 10 % as a random token, 10 % as they are (Devlin et
// al. 2019, section 3.1). A line is scored with each of its tokens masked in turn.
#pragma once

#include <algorithm>

#include "base/noise.h"
#include "data/text_objective.h"

namespace heed {

class MaskedLm final : public TextObjective {
 public:
  explicit MaskedLm(const RunConfig& c)
      : TextObjective(c,
                      {.longest_source = c.objective.source_length + 1,
                       .before_source = 1,
                       .use = &kFills,
                       .bits_per_byte = false,
                       .specials = {std::string(kMaskText)}},
                      c.objective.source_length),
        mask_fraction_(c.objective.mask_fraction) {}

  TokenIds framed_source(TokenIds tokens) const override {
    tokens.insert(tokens.begin(), Tokenizer::kBos);
    return tokens;
  }

  ScoredLine score(const TokenIds&, const TokenIds& line, int) const override {
    return score_in_turn(line, [this](const TokenIds& tokens, std::size_t i) {
      Example e{framed_source(tokens), {}, TokenIds(1 + tokens.size(), -1)};
      e.labels[1 + i] = tokens[i];
      e.source[1 + i] = kMaskId;
      return e;
    });
  }

  bool is_mask(int id) const override { return id == kMaskId; }

  // A tile with a token to fill in among those shown.
  Question question(const Split& split, int shown, int) const override {
    const auto is_label = [](int label) { return label >= 0; };
    const ExampleList list = evaluation(split);
    const std::int64_t second = std::min<std::int64_t>(1, list.count - 1);
    Question q;
    TokenIds labels;
    for (std::int64_t i = second; i <= list.count; ++i) {
      list.get(i < list.count ? i : second, q.read);  // the second if there is no such tile
      labels = q.read.labels;
      if (labels.size() > static_cast<std::size_t>(shown)) labels.resize(shown);
      if (std::ranges::any_of(labels, is_label)) break;
    }
    q.prompts.push_back(q.read.source);
    q.prompts[0].resize(labels.size());
    std::ranges::copy_if(labels, std::back_inserter(q.expected.emplace_back()), is_label);
    return q;
  }

 private:
  static constexpr int kMaskId = Tokenizer::kFirstFurther;

  void read_tile(const Ids& text, Tile tile, std::int64_t epoch, Example& out) const override {
    text.copy(tile.begin, tile.end, out.source);
    out.source = framed_source(std::move(out.source));
    out.labels.push_back(-1);
    const std::uint64_t key = noise_key(seed_, Purpose::mask, epoch);
    for (std::size_t i = tile.begin; i < tile.end; ++i) {
      const std::uint64_t token_key = combine(key, i);
      int& shown = out.source[1 + i - tile.begin];
      if (uniform01(token_key, 0) >= mask_fraction_) {
        out.labels.push_back(-1);
        continue;
      }
      out.labels.push_back(shown);
      const double fate = uniform01(token_key, 1);
      constexpr int kFirst = kMaskId + 1;  // ordinary token
      if (fate < 0.8)
        shown = kMaskId;
      else if (fate < 0.9)
        shown = kFirst + static_cast<int>(uniform01(token_key, 2) * (text.vocab() - kFirst));
    }
  }

  double mask_fraction_;
};

}  // namespace heed
