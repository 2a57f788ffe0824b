#include "base/text_kind.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/utf8.h"

namespace heed {
namespace fs = std::filesystem;

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

}  // namespace

std::string other_program(const fs::path& path) {
  constexpr std::string_view kEndings[] = {".pt",   ".pth",     ".ckpt",       ".onnx",
                                           ".gguf", ".msgpack", ".bin",        ".pb",
                                           ".h5",   ".keras",   ".safetensors"};
  std::vector<std::string> names = readable_names(path);
  names.insert(names.begin(), path.filename());
  for (const std::string& name : names)
    for (const std::string_view ending : kEndings)
      if (name.ends_with(ending)) return name;
  return "";
}

void throw_other_program(const fs::path& path, const std::string& name, Exit exit) {
  throw Error(exit,
              fmt::format("{} is a model for other programs ({}); heed reads its own only",
                          quoted_path(path), name),
              "heed train TEXT makes one; an exported one is still in its run");
}

std::string other_kind(std::string_view first) {
  if (first.empty()) return kEmptyKind;
  for (const auto& [bytes, kind] : kBeginnings)
    if (first.starts_with(bytes)) return kind;
  std::size_t zeros[2] = {};  // of Western text in UTF-16, about half of the bytes are
  for (std::size_t i = 0; i < first.size(); ++i) zeros[i % 2] += first[i] == 0;
  const auto [few, many] = std::minmax(zeros[0], zeros[1]);
  if (4 * many > first.size() && 20 * few < many)
    return fmt::format("{}{}", kUtf16, zeros[1] == many ? "LE" : "BE");
  if (many > 0) return "binary data or UTF-16, with bytes of value 0";
  std::size_t invalid = 0;
  each_code_point(first,
                  [&](CodePoint c, std::size_t) { invalid += c.value == kInvalidCodePoint; });
  return 2 * invalid > first.size() ? "text in another encoding, or binary data" : "";
}

void throw_no_text(const std::string& name, const std::string& kind, bool is_file) {
  std::string hint =
      "its text as plain text (unpacked, pdftotext, a word processor, iconv -f ENCODING -t UTF-8); "
      "heed train --set tokenizer.type=byte takes any bytes";
  if (kind.starts_with(kUtf16) || kind == kUtf32)
    hint = fmt::format("iconv -f {} -t UTF-8 {} > utf8.txt", kind.substr(kind.find("UTF")),
                       is_file && name != "standard input" ? shell_word(name) : "FILE");
  if (kind == kEmptyKind) hint = "a file with text in it";
  throw data_error("{}: this is {}; expected text in UTF-8.", name, kind).hint(hint);
}

}  // namespace heed
