// prefix_lm: the encoder reads up to source_length tokens before a tile of target_length
// tokens (<s> alone if there are none), the decoder writes the tile from <s> on. A text is
// continued a tile at a time: then the last source_length tokens are the new source.
#pragma once

#include <algorithm>

#include "data/text_objective.h"

namespace heed {

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

  Question question(const Split& split, int, int written) const override {
    const Tile tile = shown_tile(split);
    Question q;
    read_tile(split.target, tile, kEvaluation, q.read);
    q.prompts.push_back(part(split.target, window_begin(tile), tile.begin));
    q.expected.push_back(part(split.target, tile.begin, tile.begin + written));
    return q;
  }

 private:
  std::size_t window_begin(Tile tile) const {
    return tile.begin - std::min<std::size_t>(tile.begin, traits().longest_source);
  }

  void read_tile(const Ids& text, Tile tile, std::int64_t, Example& out) const override {
    text.copy(window_begin(tile), tile.begin, out.source);
    out.source = framed_source(std::move(out.source));
    out.target.push_back(Tokenizer::kBos);
    text.copy(tile.begin, tile.end - 1, out.target);
    text.copy(tile.begin, tile.end, out.labels);
  }
};

}  // namespace heed
