#include "base/text_kind.h"

#include <fmt/core.h>

#include <utility>

#include "base/error.h"
#include "base/format.h"
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
