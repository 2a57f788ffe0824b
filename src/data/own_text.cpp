#include "data/own_text.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "base/utf8.h"
#include "data/corpus.h"

namespace heed {

void check_writable(const std::string& path) {
  if (find_invalid_utf8(path) != std::string::npos)
    throw Error(Exit::usage,
                printable(path) + ": this path is not valid UTF-8, which a config is written in.",
                "another name for the file or folder; or a link elsewhere");
}

TextFacts text_facts(std::span<const std::string> files) {
  TextFacts facts;
  std::vector<std::uint64_t> counts(0x110000);  // of each code point
  scan_text(files, {.any_bytes = true}, [&](std::string_view text) {
    facts.bytes += text.size();
    facts.utf8 = facts.utf8 && find_invalid_utf8(text) == std::string_view::npos;
    for (std::size_t at = 0; facts.utf8 && at < text.size();) {
      const CodePoint c = code_point_at(text, at);
      ++counts[c.value];
      at += c.length;
    }
  });
  if (!facts.utf8) return facts;
  std::erase(counts, 0);
  std::ranges::sort(counts, std::greater<>());
  facts.distinct = static_cast<int>(counts.size());
  for (const std::uint64_t n : counts) facts.characters += n;
  std::uint64_t covered = 0;
  for (; static_cast<double>(covered) < 0.99995 * static_cast<double>(facts.characters);
       ++facts.common)
    covered += counts[facts.common];
  return facts;
}

}  // namespace heed
