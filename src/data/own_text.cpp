#include "data/own_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/folders.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/nearest.h"
#include "base/text_kind.h"
#include "base/utf8.h"
#include "data/corpus.h"
#include "data/dataset.h"

namespace heed {
namespace fs = std::filesystem;

FoundTexts find_texts(const std::vector<std::string>& paths, bool any_bytes) {
  FoundTexts found;
  for (const std::string& path : paths) {
    if (path == "-")
      throw Error(Exit::usage, "- (standard input) stands alone, and only heed train takes it.");
    std::error_code none;
    const bool folder = fs::is_directory(path, none);
    const std::size_t before = found.files.size();
    for (const std::string& file : text_files({path})) {
      refuse_pipe(file);
      const std::string kind = any_bytes ? "" : other_kind(first_bytes(file));
      const bool passed_over = folder || (kind == kEmptyKind && paths.size() > 1);
      if (!kind.empty() && !passed_over) {
        if (const std::string model = other_program(file); !model.empty())
          throw_other_program(file, model, Exit::data);
        throw_no_text(shown_path(file), kind);
      }
      (kind.empty() ? found.files : found.left_out).push_back(file);
    }
    if (!folder) continue;
    const bool without_texts = found.files.size() == before;
    if (const std::string model = other_program(path);
        !model.empty() && (without_texts || path_exists(fs::path(path) / "config.json")))
      throw_other_program(path, model, Exit::data);
    if (without_texts)
      throw Error(Exit::data,
                  path + ": is a folder without text files; expected some directly in it.",
                  "texts in UTF-8; folders in it by their names");
    for (const std::string& name : names_in(path))
      if (const fs::path inner = fs::path(path) / name;
          !name.starts_with('.') && fs::is_directory(inner, none))
        found.left_out.push_back((inner / "").string());
  }
  if (found.files.empty()) throw_no_text(paths.front(), kEmptyKind);
  return found;
}

bool is_tsv(const std::string& path) {
  const std::string name = lower_case(path);
  return name.ends_with(".tsv") || name.ends_with(".tsv.gz");
}

void check_writable(const std::string& path) {
  if (find_invalid_utf8(path) != std::string::npos)
    throw Error(Exit::usage,
                printable(path) + ": this path is not valid UTF-8, so a config cannot name it.",
                "another name for the file or folder; or a link elsewhere");
}

TextFacts text_facts(std::span<const std::string> files, bool any_bytes) {
  TextFacts facts;
  std::vector<std::uint64_t> counts(0x110000);  // of each code point
  for (const std::string& file : files) {
    std::uint64_t size = 0, lines = 0, bad = 0;
    scan_text({&file, 1}, {.any_bytes = true, .decoded = !any_bytes}, [&](std::string_view text) {
      each_code_point(text, [&](CodePoint c, std::size_t at) {
        if (c.value == kInvalidCodePoint) {
          ++bad;
          if (facts.first_bad.empty())
            facts.first_bad = fmt::format("{}:{} (offset {} in the file)", shown_path(file),
                                          lines + 1, size + at);
          c.value = kReplacement;
        }
        if (c.value == '\n') ++lines;
        ++counts[c.value];
      });
      size += text.size();
    });
    facts.bytes += size;
    facts.too_many_bad = facts.too_many_bad || too_many_bad(bad, size);
  }
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
