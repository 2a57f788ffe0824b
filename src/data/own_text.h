// The texts that a user names on the command line, before there is a config: which files they are,
// whether a config can name them, and what is in them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heed {

struct FoundTexts {
  std::vector<std::string> files;
  std::vector<std::string> left_out;  // of folders: files that are no text, and folders ("a/b/")
};

// Files as they are named; for a folder, the texts directly in it. What begins with bytes of value
// 0, or with bytes most of which are not UTF-8, is no text, unless any_bytes. Error (data) where a
// file is named that is no text, or a folder without any.
FoundTexts find_texts(const std::vector<std::string>& paths, bool any_bytes);

// Error (usage) if a config cannot write this path, because it is not UTF-8.
void check_writable(const std::string& path);

struct TextFacts {
  std::uint64_t bytes = 0;
  bool byte_order_mark = false;  // a file begins with one
  std::string invalid = "";  // where the first byte is that is not UTF-8: "a.txt:3 (offset 70 in
                             // the file)". Unless empty, those below stay 0
  std::uint64_t characters = 0;  // code points
  int distinct = 0;              // different ones
  int common = 0;                // the most frequent of them, which make up 99.995 % of the text
};

// Reads the files once. Memory: a chunk. Errors as scan_text(), but for invalid UTF-8.
TextFacts text_facts(std::span<const std::string> files);

}  // namespace heed
