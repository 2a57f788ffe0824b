#include "base/text_kind.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "base/nearest.h"
#include "base/utf8.h"

namespace heed {

const char* const kEmptyKind = "empty";

namespace {

constexpr const char* kUtf16 = "text in UTF-16 (iconv -f UTF-16 -t UTF-8 makes it UTF-8)";
// First bytes of files often mistaken for texts.
constexpr std::pair<std::string_view, const char*> kBeginnings[] = {
    {"\xFF\xFE", kUtf16},       {"\xFE\xFF", kUtf16},
    {"%PDF-", "a PDF"},         {"\x89PNG", "a PNG picture"},
    {"\xFF\xD8\xFF", "a JPEG"}, {"PK\x03\x04", "a zip archive, as .docx, .odt and .epub are"},
};

}  // namespace

std::string other_kind(std::string_view first) {
  if (first.empty()) return kEmptyKind;
  for (const auto& [bytes, kind] : kBeginnings)
    if (first.starts_with(bytes)) return kind;
  if (first.find('\0') != std::string_view::npos)
    return "binary data or UTF-16, with bytes of value 0";
  std::size_t invalid = 0;
  each_code_point(first,
                  [&](CodePoint c, std::size_t) { invalid += c.value == kInvalidCodePoint; });
  return 2 * invalid > first.size() ? "text in another encoding, or binary data" : "";
}

std::string markup_of(std::string_view first) {
  first.remove_prefix(std::min(first.find_first_not_of(" \t\r\n"), first.size()));
  const std::string begin = lower_case(first.substr(0, 20));
  if (begin.starts_with("<!doctype html") || begin.starts_with("<html")) return "HTML";
  if (begin.starts_with("<?xml")) return "XML";
  if (begin.starts_with("{\\rtf")) return "RTF";
  std::vector<std::string_view> lines;
  while (lines.size() < 2 && first.find('\n') != first.npos) {
    lines.push_back(first.substr(0, first.find('\n')));
    first.remove_prefix(lines.back().size() + 1);
    if (lines.back().ends_with('\r')) lines.back().remove_suffix(1);
  }
  if (lines.size() < 2) return "";
  const auto is_object = [](std::string_view line) {
    return line.starts_with("{\"") && line.ends_with('}');
  };
  if (std::ranges::all_of(lines, is_object)) return "JSON lines";
  const auto commas = std::ranges::count(lines[0], ',');
  const bool table = commas > 0 && commas == std::ranges::count(lines[1], ',') &&
                     std::ranges::none_of(lines, [](std::string_view line) {
                       return line.find(", ") != line.npos || line.ends_with('.');
                     });
  return table ? "CSV" : "";
}

void throw_no_text(const std::string& name, const std::string& kind, bool is_file) {
  throw Error(Exit::data, fmt::format("{}: this is {}; expected text in UTF-8.", name, kind),
              kind == kUtf16 ? "iconv -f UTF-16 -t UTF-8 " +
                                   (is_file ? shell_word(name) + " > utf8.txt" : "FILE")
              : kind == kEmptyKind ? "a file with text in it"
                                   : "its text as plain text (pdftotext, a word processor, iconv "
                                     "-f ENCODING -t UTF-8); heed train --set tokenizer.type=byte "
                                     "takes any bytes");
}

}  // namespace heed
