#include "base/text_kind.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
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

constexpr std::size_t kTableLines = 5;  // looked at

std::vector<std::string_view> first_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (lines.size() < kTableLines && text.find('\n') != text.npos) {
    lines.push_back(text.substr(0, text.find('\n')));
    text.remove_prefix(lines.back().size() + 1);
    if (lines.back().ends_with('\r')) lines.back().remove_suffix(1);
  }
  return lines;
}

// Of `separator`, outside of quotes.
std::size_t separators(std::string_view line, char separator) {
  std::size_t n = 0;
  bool quoted = false;
  for (const char c : line) {
    quoted = quoted != (c == '"');
    n += !quoted && c == separator;
  }
  return n;
}

// A row of names, and as many cells in each of the next lines. (Verse has commas too, but a space
// after each, or they end its lines.)
bool is_table(const std::vector<std::string_view>& lines, char separator) {
  const std::size_t n = separators(lines[0], separator);
  return n > 0 && std::string_view(",;.").find(lines[0].back()) == std::string_view::npos &&
         lines[0].find(std::string{separator, ' '}) == std::string_view::npos &&
         std::ranges::all_of(lines, [&](auto line) { return separators(line, separator) == n; });
}

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
  if (begin.size() > 1 && begin[0] == '<' && std::isalpha(static_cast<unsigned char>(begin[1])) &&
      first.find("</") != first.npos)
    return "HTML or XML";
  if (begin.starts_with("{\\rtf")) return "RTF";
  if (begin.starts_with("\\documentclass")) return "LaTeX";
  const std::vector<std::string_view> lines = first_lines(first);
  if (lines.size() < 2) return "";
  if (std::ranges::all_of(lines, [](std::string_view line) {
        return line.starts_with("{\"") && line.ends_with('}');
      }))
    return "JSON lines";
  const std::size_t inner = first.find_first_not_of(" \t\r\n", 1);
  if (inner < first.size() && ((first[0] == '{' && first[inner] == '"') ||
                               (first[0] == '[' && (first[inner] == '{' || first[inner] == '"'))))
    return "JSON";
  return is_table(lines, ',') || is_table(lines, ';') ? "CSV" : "";
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
