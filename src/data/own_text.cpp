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
#include "base/stored_input.h"
#include "base/utf8.h"
#include "data/corpus.h"
#include "data/data_files.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char *kUtf16 = "text in UTF-16 (iconv -f UTF-16 -t UTF-8 makes it UTF-8)",
                     *kEmpty = "empty";
// First bytes of files often mistaken for texts.
constexpr std::pair<std::string_view, const char*> kBeginnings[] = {
    {"\xFF\xFE", kUtf16},       {"\xFE\xFF", kUtf16},
    {"%PDF-", "a PDF"},         {"\x89PNG", "a PNG picture"},
    {"\xFF\xD8\xFF", "a JPEG"}, {"PK\x03\x04", "a zip archive, as .docx, .odt and .epub are"},
};

// What a file is, by its first bytes; "" for text.
std::string other_kind(std::string_view first) {
  if (first.empty()) return kEmpty;
  for (const auto& [bytes, kind] : kBeginnings)
    if (first.starts_with(bytes)) return kind;
  if (first.find('\0') != std::string_view::npos) return "binary data, with bytes of value 0";
  std::size_t invalid = 0;
  each_code_point(first,
                  [&](CodePoint c, std::size_t) { invalid += c.value == kInvalidCodePoint; });
  return 2 * invalid > first.size() ? "text in another encoding, or binary data" : "";
}

[[noreturn]] void throw_no_text(const std::string& name, const std::string& kind) {
  throw Error(Exit::data, fmt::format("{}: this is {}; expected text in UTF-8.", name, kind),
              kind == kUtf16   ? "iconv -f UTF-16 -t UTF-8 " + shell_word(name) + " > utf8.txt"
              : kind == kEmpty ? "a file with text in it"
                               : "its text as plain text (pdftotext, a word processor, iconv -f "
                                 "ENCODING -t UTF-8); heed train --set tokenizer.type=byte takes "
                                 "any bytes");
}

}  // namespace

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
      const bool passed_over = folder || (kind == kEmpty && paths.size() > 1);
      if (!kind.empty() && !passed_over) throw_no_text(shown_path(file), kind);
      (kind.empty() ? found.files : found.left_out).push_back(file);
    }
    if (folder && found.files.size() == before)
      throw Error(Exit::data,
                  path + ": is a folder without text files; expected some directly in it.",
                  "texts in UTF-8; folders in it by their names");
    if (!folder) continue;
    for (const std::string& name : names_in(path))
      if (const fs::path inner = fs::path(path) / name;
          !name.starts_with('.') && fs::is_directory(inner, none))
        found.left_out.push_back((inner / "").string());
  }
  if (found.files.empty()) throw_no_text(paths.front(), kEmpty);
  return found;
}

void check_writable(const std::string& path) {
  if (find_invalid_utf8(path) != std::string::npos)
    throw Error(Exit::usage,
                printable(path) + ": this path is not valid UTF-8, so a config cannot name it.",
                "another name for the file or folder; or a link elsewhere");
}

TextFacts text_facts(std::span<const std::string> files) {
  TextFacts facts;
  std::vector<std::uint64_t> counts(0x110000);  // of each code point
  for (const std::string& file : files) {
    std::uint64_t size = 0, lines = 0;
    scan_text({&file, 1}, {.any_bytes = true}, [&](std::string_view text) {
      if (size == 0 && text.starts_with(kByteOrderMark)) facts.byte_order_mark = true;
      for (std::size_t at = 0; facts.invalid.empty() && at < text.size();) {
        const CodePoint c = code_point_at(text, at);
        if (c.value == kInvalidCodePoint) {
          facts.invalid =
              fmt::format("{}:{} (offset {} in the file)", shown_path(file), lines + 1, size + at);
          break;
        }
        if (c.value == '\n') ++lines;
        ++counts[c.value];
        at += c.length;
      }
      size += text.size();
    });
    facts.bytes += size;
  }
  if (!facts.invalid.empty()) return facts;
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
