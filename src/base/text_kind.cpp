#include "base/text_kind.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <utility>

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

// First characters of texts with marks, in lower case.
constexpr std::pair<std::string_view, const char*> kMarkup[] = {
    {"<!doctype", "HTML"}, {"<html", "HTML"}, {"<?xml", "XML"},
    {"<?php", "PHP"},      {"{\\rtf", "RTF"}, {"\\documentclass", "LaTeX"},
    {"{\"", "JSON"},       {"[{", "JSON"},    {"[\"", "JSON"},
};

// Begins with <NAME, and has </NAME.
bool is_tagged(std::string_view text) {
  return text.size() > 1 && text[0] == '<' &&
         std::isalpha(static_cast<unsigned char>(text[1])) != 0 &&
         text.find("</" + std::string(text.substr(1, text.find_first_of("> \t\r\n") - 1))) !=
             text.npos;
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
  first.remove_prefix(std::min(first.find_first_not_of(" \t\r\n"), first.size()));
  for (const auto& [begin, kind] : kMarkup)
    if (lower_case(first.substr(0, begin.size())) == begin) return kind;
  return is_tagged(first) ? "HTML or XML" : "";
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
