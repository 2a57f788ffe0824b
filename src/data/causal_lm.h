// causal_lm: the decoder predicts every token of a tile of target_length tokens from the one before
// it; <s> comes before the text. A text is continued until the decoder has read target_length
// tokens; then it starts again with the last half of them.
#pragma once

#include <algorithm>

#include "base/error.h"
#include "data/text_objective.h"

namespace heed {

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
      throw Error(Exit::usage, "--stride must be at most the model's target_length, " +
                                   std::to_string(tile_length_) + ".");
    const auto n = static_cast<std::int64_t>(split.target.size());
    const auto length = static_cast<std::int64_t>(tile_length_);
    const std::int64_t more = n <= length ? 0 : (n - length + stride - 1) / stride;
    return {n == 0 ? 0 : 1 + more, [this, &split, stride](std::int64_t index, Example& out) {
              const std::size_t begin = static_cast<std::size_t>(index) * stride;
              const std::size_t end = std::min(split.target.size(), begin + tile_length_);
              // Where the previous window ended.
              const std::size_t scored = index == 0 ? 0 : begin + tile_length_ - stride;
              out.clear();
              read_tile(split.target, {begin, end}, kEvaluation, out);
              std::fill_n(out.labels.begin(), scored - begin, -1);
            }};
  }

  Example continued(const TokenIds& text, bool again) const override {
    return {{},
            last_of(framed_target(text),
                    again ? std::max<std::size_t>(1, tile_length_ / 2) : tile_length_)};
  }

  // The beginning of the tile is the prompt. Its first row reads the token before the tile.
  Question question(const Split& split, int shown, int written) const override {
    const Tile tile = shown_tile(split);
    Question q;
    read_tile(split.target, tile, kEvaluation, q.read);
    const std::size_t rows = std::min<std::size_t>(q.read.target.size(), shown / 2);
    const std::size_t end = tile.begin + rows - 1;
    q.prompts.push_back(part(split.target, std::max<std::size_t>(tile.begin, 1) - 1, end));
    q.expected.push_back(part(split.target, end, end + written));
    return q;
  }

 private:
  void read_tile(const Ids& text, Tile tile, std::int64_t, Example& out) const override {
    if (tile.begin == 0) out.target.push_back(Tokenizer::kBos);
    text.copy(tile.begin == 0 ? 0 : tile.begin - 1, tile.end - 1, out.target);
    text.copy(tile.begin, tile.end, out.labels);
  }
};

}  // namespace heed
