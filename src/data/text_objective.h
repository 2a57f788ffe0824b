// What the objectives on plain text share: an epoch covers the text once, in tiles that begin at a
// keyed offset (at 0 when only scoring), and a line is scored in tiles as well.
#pragma once

#include <algorithm>

#include "data/objective.h"

namespace heed {

// Tokens [begin, end) of a text.
struct Tile {
  std::size_t begin, end;
};

// Of n tokens: [0, offset), [offset, offset + length), ...; the last may be shorter.
struct Tiles {
  std::size_t n, length, offset = 0;  // offset < length, <= n

  std::int64_t count() const {
    return static_cast<std::int64_t>((offset > 0) + (n - offset + length - 1) / length);
  }
  Tile operator[](std::int64_t i) const {
    if (offset > 0 && i == 0) return {0, offset};
    const std::size_t begin = offset + static_cast<std::size_t>(i - (offset > 0)) * length;
    return {begin, std::min(n, begin + length)};
  }
};

class TextObjective : public Objective {
 public:
  std::int64_t count(const Split& split, std::int64_t epoch) const override;
  // The line follows the source, as one text.
  ScoredLine score(const TokenIds& source, const TokenIds& line, int vocab) const override;

 protected:
  TextObjective(const RunConfig& config, ObjectiveTraits traits, int tile_length)
      : Objective(config, std::move(traits)), tile_length_(tile_length) {}

  void build(const Split& split, std::int64_t epoch, std::int64_t number,
             Example& out) const override;
  // The example of one tile of a text.
  virtual void read_tile(const Ids& text, Tile tile, std::int64_t epoch, Example& out) const = 0;
  Tiles tiles_of(std::size_t n, std::int64_t epoch) const;
  // Masks each token of a line in turn: its pseudo-log-likelihood (Salazar et al. 2020).
  // ask(tokens, i): the example that predicts token i of a tile.
  using Ask = std::function<Example(const TokenIds& tokens, std::size_t i)>;
  ScoredLine score_in_turn(const TokenIds& line, const Ask& ask) const;
  // The tile that a report shows: the second, since nothing precedes the first.
  Tile shown_tile(const Split& split) const;

  std::size_t tile_length_;
};

// Ids [begin, end) of a text, which may end earlier.
TokenIds part(const Ids& text, std::size_t begin, std::size_t end);
// At most the last n ids.
TokenIds last_of(const TokenIds& ids, std::size_t n);

}  // namespace heed
