// A text cut into tiles: what an objective on plain text takes as its examples.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

}  // namespace heed
