#include "data/text_objective.h"

#include <algorithm>

#include "base/noise.h"

namespace heed {

Tiles TextObjective::tiles_of(std::size_t n, std::int64_t epoch) const {
  Tiles tiles{n, tile_length_};
  const std::size_t most = std::min(tile_length_, n);
  if (epoch != kEvaluation && most > 0)
    tiles.offset = combine(noise_key(seed_, Purpose::offset), epoch) % most;
  return tiles;
}

std::int64_t TextObjective::count(const Split& split, std::int64_t epoch) const {
  return tiles_of(split.target.size(), epoch).count();
}

void TextObjective::build(const Split& split, std::int64_t epoch, std::int64_t number,
                          Example& out) const {
  read_tile(split.target, tiles_of(split.target.size(), epoch)[number], epoch, out);
}

ScoredLine TextObjective::score(const TokenIds& source, const TokenIds& line, int vocab) const {
  Ids text(vocab);
  for (const TokenIds* ids : {&source, &line})
    for (const int id : *ids) text.push_back(id);
  ScoredLine scored{framed_source(source), line, {}};
  const Tiles tiles = tiles_of(line.size(), kEvaluation);
  for (std::int64_t i = 0; i < tiles.count(); ++i) {
    const Tile of_line = tiles[i];
    read_tile(text, {source.size() + of_line.begin, source.size() + of_line.end}, kEvaluation,
              scored.examples.emplace_back());
  }
  if (!scored.examples.empty()) scored.source_ids = scored.examples.front().source;
  return scored;
}

ScoredLine TextObjective::score_in_turn(const TokenIds& line, const Ask& ask) const {
  ScoredLine scored{framed_source(line), line, {}};
  const Tiles tiles = tiles_of(line.size(), kEvaluation);
  for (std::int64_t i = 0; i < tiles.count(); ++i) {
    const TokenIds tokens(line.begin() + static_cast<std::ptrdiff_t>(tiles[i].begin),
                          line.begin() + static_cast<std::ptrdiff_t>(tiles[i].end));
    for (std::size_t j = 0; j < tokens.size(); ++j) scored.examples.push_back(ask(tokens, j));
  }
  return scored;
}

Tile TextObjective::shown_tile(const Split& split) const {
  const Tiles tiles = tiles_of(split.target.size(), kEvaluation);
  return tiles[std::min<std::int64_t>(1, tiles.count() - 1)];
}

TokenIds part(const Ids& text, std::size_t begin, std::size_t end) {
  TokenIds ids;
  text.copy(begin, std::min(end, text.size()), ids);
  return ids;
}

TokenIds last_of(const TokenIds& ids, std::size_t n) {
  return {ids.end() - static_cast<std::ptrdiff_t>(std::min(n, ids.size())), ids.end()};
}

}  // namespace heed
