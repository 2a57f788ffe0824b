// What held-out data has in common with the training data, and what it has not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct Dataset;
struct Split;
enum class Side;

// Of the lines of a text, or of pairs: a 64-bit hash of each line of at least 40 characters, or
// of each pair, and how many there are of each length.
class LineFacts {
 public:
  void add(std::string_view text);  // the next part of a text, cut anywhere
  void add(std::string_view source, std::string_view target);

  bool pairs = false;
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint32_t> of_length;  // in bytes, of both sides

 private:
  void add_length(std::size_t bytes);
  std::string open_;  // the line that goes on
};

// How many of the held-out hashes the training data has too.
std::int64_t common(const LineFacts& train, const LineFacts& held_out);
// "3 of 40 held-out pairs are in the training data", or "".
std::string leaks(const LineFacts& train, const LineFacts& held_out);

// Adds to the data's notes and warnings what its held-out part has in common with the other, and
// that a tenth of it is longer than all that is trained on.
void say_common(Dataset& data);

// How often each id is in a split, of pairs perhaps on one side alone.
std::vector<std::int64_t> counts_of(const Split& split, std::optional<Side> side = {});

}  // namespace heed
