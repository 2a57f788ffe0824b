// What is kept of the lines of a text, or of pairs, to tell whether held-out data is training data
// too, and whether it is longer than all of that: a 64-bit hash of each line of at least 40
// characters (of each pair, whose sides must both be equal), and how many lines have which length.
// Shorter lines are equal by chance, as are headings and names in a play.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

class LineFacts {
 public:
  void add(std::string_view text);  // the next part of a text, cut anywhere
  void add_pair(std::string_view source, std::string_view target);

  bool pairs = false;
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint32_t> of_length;  // how many lines have so many bytes (of both sides)

 private:
  void add_line(std::string_view line);
  void count(std::size_t bytes);

  std::string open_;  // a line that goes on
};

// "3 of 40 held-out lines are in the training data" or ""; and the share that is.
struct Leak {
  std::string text;
  double share = 0;
};
Leak leak_between(const LineFacts& train, const LineFacts& held_out);

// "45 of 50 held-out pairs are longer than any that was trained on", if a tenth is; else "".
std::string longer_in_words(const LineFacts& train, const LineFacts& held_out);

}  // namespace heed
