// The texts that a user names on the command line, before there is a config: whether one can name
// them, and what is in them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heed {

// Error (usage) if a config cannot write this path, because it is not UTF-8.
void check_writable(const std::string& path);

struct TextFacts {
  std::uint64_t bytes = 0;
  bool utf8 = true;              // without it, those below stay 0
  std::uint64_t characters = 0;  // code points
  int distinct = 0;              // different ones
  int common = 0;                // the most frequent of them, which make up 99.995 % of the text
};

// Reads the files once. Memory: a chunk. Errors as scan_text(), but for invalid UTF-8.
TextFacts text_facts(std::span<const std::string> files);

}  // namespace heed
