// The texts that a user names on the command line, before there is a config: which files they are,
// whether a config can name them, and what they contain.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heed {

struct FoundTexts {
  std::vector<std::string> files;
  std::vector<std::string> left_out;  // in folders: other files, and subfolders ("a/b/")
};

// The named files; for a folder, the texts directly in it. A file whose beginning has zero bytes or
// is mostly not UTF-8 is not a text, unless any_bytes. Error (data) on a named file that is not a
// text, or a folder without any.
FoundTexts find_texts(const std::vector<std::string>& paths, bool any_bytes);

// Is it a table of pairs (source, tab, target) by its name, perhaps packed?
bool is_tsv(const std::string& path);

// Error (usage) if a config cannot write this path, because it is not UTF-8.
void check_writable(const std::string& path);

struct TextFacts {
  std::uint64_t bytes = 0;
  bool too_many_bad = false;     // bytes that are not UTF-8 (data/corpus.h); each is a U+FFFD here
  std::string first_bad = "";    // where: "a.txt:3 (offset 70 in the file)"
  std::uint64_t characters = 0;  // code points
  int distinct = 0;              // different ones
  int common = 0;                // the most frequent ones that make up 99.995 % of the text
};

// Reads the files once, as bytes if `any_bytes`. Memory: a chunk. Errors as scan_text(), except
// invalid UTF-8.
TextFacts text_facts(std::span<const std::string> files, bool any_bytes = false);

}  // namespace heed
