#include "base/text_kind.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/nearest.h"
#include "base/std_names.h"
#include "base/utf8.h"

namespace heed {
namespace {

using namespace std::string_view_literals;

constexpr const char* kUtf16 = "text in UTF-16";
constexpr const char* kUtf32 = "text in UTF-32";
// First bytes of files often mistaken for texts.
constexpr pair<string_view, const char*> kBeginnings[] = {
    {"\xFF\xFE\0\0"sv, kUtf32},
    {"\0\0\xFE\xFF"sv, kUtf32},
    {"\xFF\xFE", kUtf16},
    {"\xFE\xFF", kUtf16},
    {"BZh", "packed by bzip2"},
    {"\x28\xB5\x2F\xFD", "packed by zstd"},
    {"%PDF-", "a PDF"},
    {"\x89PNG", "a PNG picture"},
    {"\xFF\xD8\xFF", "a JPEG"},
    {"\x7F"
     "ELF",
     "a program"},
    {"PK\x03\x04", "a zip archive, as .docx, .odt and .epub are"},
};

constexpr const char* kPandoc = "pandoc -t plain FILE > text.txt";
constexpr const char* kMinimalPairs =  // as BLiMP has them
    "jq -r .sentence_good FILE > good.txt; jq -r .sentence_bad FILE > bad.txt";
constexpr const char* kTable =
    "python3 -c 'import csv, sys; [print(*row, sep=\"\\t\") for row in "
    "list(csv.reader(sys.stdin, delimiter=\"{}\"))[1:]]' < FILE > table.tsv";
// In lower case. White space before and in the marks does not count.
struct Markup {
  string_view marks, kind, command = "";
};
constexpr Markup kMarkup[] = {
    {"<!doctype", "HTML", kPandoc},
    {"<html", "HTML", kPandoc},
    {"<!--", "HTML or XML", kPandoc},
    {"<?xml", "XML"},
    {"{\\rtf", "RTF", kPandoc},
    {"\\documentclass", "LaTeX", kPandoc},
    {"{\"", "JSON", "jq -r .KEY FILE > text.txt"},
    {"[{", "JSON", "jq -r '.[].KEY' FILE > text.txt"},
    {"[\"", "JSON", "jq -r '.[]' FILE > text.txt"},
};

// Begins with <NAME, and has </NAME.
bool is_tagged(string_view text) {
  return text.size() > 1 && text[0] == '<' && std::isalpha(uint8_t(text[1])) != 0 &&
         text.find("</" + string(text.substr(1, text.find_first_of("> \t\r\n") - 1))) != text.npos;
}

}  // namespace

string other_program(const fs::path& path) {
  constexpr string_view kModels[] = {".pt",          ".pth",     ".ckpt",   ".onnx",
                                     "model.bin",    "model.pb", ".gguf",   ".msgpack",
                                     ".safetensors", ".keras",   "model.h5"};
  const auto of_another = [&](const string& name) {
    return ranges::any_of(kModels, [&](string_view ending) { return name.ends_with(ending); });
  };
  if (const string name = path.filename(); of_another(name)) return name;
  for (const string& name : readable_names(path))
    if (of_another(name)) return name;
  return "";
}

void throw_other_program(const fs::path& path, const string& name, Exit exit) {
  throw Error(exit,
              fmt::format("{} is a model for other programs ({}); heed reads its own only",
                          quoted_path(path), name),
              "heed train TEXT makes one; an exported one is still in its run");
}

string other_kind(string_view first) {
  for (const auto& [bytes, kind] : kBeginnings)
    if (first.starts_with(bytes)) return kind;
  size_t zeros[2] = {};  // of Western text in UTF-16, about half of the bytes are
  for (size_t i = 0; i < first.size(); ++i) zeros[i % 2] += first[i] == 0;
  const auto [few, many] = std::minmax(zeros[0], zeros[1]);
  if (4 * many > first.size() && 20 * few < many)
    return fmt::format("{}{}", kUtf16, zeros[1] == many ? "LE" : "BE");
  if (many > 0) return "binary data or UTF-16, with bytes of value 0";
  size_t invalid = 0;
  each_code_point(first, [&](CodePoint c, size_t) { invalid += c.value == kInvalidCodePoint; });
  return 2 * invalid > first.size() ? "text in another encoding, or binary data" : "";
}

string markup_in_words(const string& name, string_view first) {
  first.remove_prefix(min(first.find_first_not_of(" \t\r\n\xEF\xBB\xBF"), first.size()));
  string beginning = lower_case(first.substr(0, 80));
  erase_if(beginning, [](unsigned char c) { return std::isspace(c) != 0; });
  const auto row =
      ranges::find_if(kMarkup, [&](const Markup& m) { return beginning.starts_with(m.marks); });
  const string ending = fs::path(lower_case(name)).extension();
  if (ending == ".csv") {
    const string_view header = first.substr(0, first.find('\n'));
    const char mark = ranges::count(header, ';') > ranges::count(header, ',') ? ';' : ',';
    const string command = replace_all(kTable, "{}", string{mark});
    return fmt::format("{} is read as it stands; a table for pairs, without its header:\n  {}",
                       name, replace_all(command, "FILE", shell_word(name)));
  }
  if (row == std::end(kMarkup) && !is_tagged(first) && ending != ".html" && ending != ".htm")
    return "";
  Markup is = row == std::end(kMarkup) ? Markup{"", "HTML or XML", kPandoc} : *row;
  if (is.kind == "JSON" && first.find("\"sentence_good\"") != first.npos)
    is.command = kMinimalPairs;
  return fmt::format(
      "{} looks like {}, which is read as it stands, markup included; to learn its text alone, "
      "extract it{}",
      name, is.kind, is.command.empty() ? "" : fmt::format(" ({})", is.command));
}

void throw_no_text(const string& name, const string& kind) {
  string hint =
      "its text as plain text (pdftotext, a word processor, iconv -f ENCODING -t UTF-8); "
      "tokenizer.type byte takes any bytes";
  if (kind.starts_with(kUtf16) || kind == kUtf32)
    hint = fmt::format("iconv -f {} -t UTF-8 FILE > utf8.txt", kind.substr(kind.find("UTF")));
  throw data_error("{}: this is {}; expected text in UTF-8.", name, kind).hint(hint);
}

}  // namespace heed
