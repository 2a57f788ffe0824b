// A random sample of lines of bounded size, drawn while the text goes by. Every line gets a hash of
// (seed, its number); whenever the kept ones exceed the bound, those of the greatest hashes go, and
// a line longer than the bound is never kept. The same for the same seed and lines; order is kept.
// Owns copies of what it keeps.
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

  // Lines longer than some kilobytes are cut before spaces and count as several.
  void add(std::string_view text);
  // The lines kept, in their order, without newlines. Leaves the sample empty.
  std::vector<std::string> take();

  std::uint64_t bytes_seen() const { return bytes_seen_; }
  std::uint64_t bytes_kept() const { return bytes_kept_; }

 private:
  struct Line {
    std::uint64_t hash, number;
    std::string text;
  };
  static bool by_hash(const Line& a, const Line& b) { return a.hash < b.hash; }
  void add_line(std::string_view line);

  std::uint64_t seed_;
  std::size_t max_bytes_;
  std::vector<Line> heap_;  // the greatest hash on top
  std::uint64_t lines_ = 0, bytes_seen_ = 0, bytes_kept_ = 0;
};

}  // namespace heed
