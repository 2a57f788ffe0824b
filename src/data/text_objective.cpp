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
  if (fills()) {
    ScoredLine scored{framed_source(line), line, {}};
    const ExampleList list = in_turn(text);
    for (std::int64_t i = 0; i < list.count; ++i) list.get(i, scored.examples.emplace_back());
    return scored;
  }
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

ExampleList TextObjective::in_turn(const Ids& text) const {
  if (!fills()) return {};
  return {static_cast<std::int64_t>(text.size()), [this, &text](std::int64_t i, Example& out) {
            const auto at = static_cast<std::size_t>(i), begin = at - at % tile_length_;
            out = masked(part(text, begin, begin + tile_length_), at - begin);
          }};
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
