// A random sample of lines, limited in total size, drawn in one pass over the text. Every line gets
// a hash of the seed and its number. When the kept lines exceed the limit, those with the largest
// hashes are dropped; a line longer than the limit is never kept. The seed and the lines determine
// the sample. Lines keep their order. Owns copies of the lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

class LineSample {
 public:
  LineSample(std::uint64_t seed, std::size_t max_bytes) : seed_(seed), max_bytes_(max_bytes) {}

  // Lines longer than 4096 bytes are cut, before a space if possible, and count as several.
  void add(std::string_view text);
  // The kept lines, in order, without newlines. Leaves the sample empty.
  std::vector<std::string> take();

  std::uint64_t bytes_seen() const { return bytes_seen_; }
  std::uint64_t bytes_kept() const { return bytes_kept_; }

 private:
  struct Line {
    std::uint64_t hash, number;
    std::string text;
  };
  void add_line(std::string_view line);

  std::uint64_t seed_;
  std::size_t max_bytes_;
  std::vector<Line> heap_;  // largest hash on top
  std::uint64_t lines_ = 0, bytes_seen_ = 0, bytes_kept_ = 0;
};

}  // namespace heed
