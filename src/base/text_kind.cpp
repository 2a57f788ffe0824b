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

using namespace std::string_view_literals;

constexpr const char* kUtf16 = "text in UTF-16";
constexpr const char* kUtf32 = "text in UTF-32";
// First bytes of files often mistaken for texts.
constexpr std::pair<std::string_view, const char*> kBeginnings[] = {
    {"\xFF\xFE\0\0"sv, kUtf32}, {"\0\0\xFE\xFF"sv, kUtf32},
    {"\xFF\xFE", kUtf16},       {"\xFE\xFF", kUtf16},
    {"BZh", "packed by bzip2"}, {"\x28\xB5\x2F\xFD", "packed by zstd"},
    {"%PDF-", "a PDF"},         {"\x89PNG", "a PNG picture"},
    {"\xFF\xD8\xFF", "a JPEG"}, {"PK\x03\x04", "a zip archive, as .docx, .odt and .epub are"},
};

constexpr std::size_t kTableLines = 5;  // looked at

std::vector<std::string_view> first_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (lines.size() < kTableLines && !text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
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
// after each, or they end its lines; and tabs begin lines.)
bool is_table(const std::vector<std::string_view>& lines, char separator) {
  if (lines.size() < 3 || lines[0].empty()) return false;
  const std::size_t n = separators(lines[0], separator);
  return n > 0 && lines[0][0] != '\t' &&
         std::string_view(",;.").find(lines[0].back()) == std::string_view::npos &&
         (separator == '|' || lines[0].find(std::string{separator, ' '}) == lines[0].npos) &&
         std::ranges::all_of(lines, [&](auto line) { return separators(line, separator) == n; });
}

std::string_view after_spaces(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

// Begins with <NAME, and has </NAME.
bool is_tagged(std::string_view text) {
  if (!text.starts_with('<')) return false;
  const auto is_name = [](unsigned char c) { return std::isalnum(c) != 0; };
  const auto end = std::find_if_not(text.begin() + 1, text.end(), is_name);
  const std::string_view name(text.begin() + 1, end);
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0 &&
         text.find("</" + std::string(name)) != std::string_view::npos;
}

}  // namespace

std::string other_kind(std::string_view first) {
  if (first.empty()) return kEmptyKind;
  for (const auto& [bytes, kind] : kBeginnings)
    if (first.starts_with(bytes)) return kind;
  if (first.substr(std::min<std::size_t>(257, first.size())).starts_with("ustar"))
    return "a tar archive";
  if (first.find('\0') != std::string_view::npos)
    return "binary data or UTF-16, with bytes of value 0";
  std::size_t invalid = 0;
  each_code_point(first,
                  [&](CodePoint c, std::size_t) { invalid += c.value == kInvalidCodePoint; });
  return 2 * invalid > first.size() ? "text in another encoding, or binary data" : "";
}

std::string markup_of(std::string_view first) {
  first = after_spaces(first);
  if (first.starts_with("<!--"))
    first = after_spaces(first.substr(std::min(first.find("-->") + 3, first.size())));
  const std::string begin = lower_case(first.substr(0, 20));
  const auto begins = [&](std::string_view text) { return begin.starts_with(text); };
  if (begins("<!doctype") || begins("<html")) return "HTML";
  if (begins("<?xml")) return "XML";
  if (is_tagged(first)) return "HTML or XML";
  if (begins("{\\rtf")) return "RTF";
  if (begins("<?php")) return "PHP";
  if (begins("\\documentclass") || begins("\\begin{")) return "LaTeX";
  const std::vector<std::string_view> lines = first_lines(first);
  const auto is_object = [](std::string_view line) {
    return line.starts_with("{\"") && line.ends_with('}');
  };
  if (lines.size() > 1 && std::ranges::all_of(lines, is_object)) return "JSON lines";
  if (begins("{") || begins("[")) {
    const std::string_view inner = after_spaces(first.substr(1));
    if (inner.starts_with('"') || (begins("[") && inner.starts_with('{'))) return "JSON";
  }
  if (std::ranges::any_of(lines, [](auto line) { return line.find(" --> ") != line.npos; }))
    return "subtitles";
  const auto is_of_mail = [](std::string_view line) {
    return line.starts_with("Received: ") || line.starts_with("Return-Path: ") ||
           line.starts_with("Message-ID: ") || line.starts_with("From: ");
  };
  if (std::ranges::any_of(lines, is_of_mail)) return "mail";
  return std::ranges::any_of(std::string_view(",;|\t"), [&](char c) { return is_table(lines, c); })
             ? "CSV"
             : "";
}

void throw_no_text(const std::string& name, const std::string& kind, bool is_file) {
  throw Error(
      Exit::data, fmt::format("{}: this is {}; expected text in UTF-8.", name, kind),
      kind == kUtf16 || kind == kUtf32
          ? fmt::format("iconv -f {} -t UTF-8 {}", kind.substr(kind.find("UTF")),
                        is_file && name != "standard input" ? shell_word(name) + " > utf8.txt"
                                                            : "FILE > utf8.txt")
      : kind == kEmptyKind ? "a file with text in it"
                           : "its text as plain text (unpacked, pdftotext, a word processor, iconv "
                             "-f ENCODING -t UTF-8); heed train --set tokenizer.type=byte "
                             "takes any bytes");
}

}  // namespace heed
