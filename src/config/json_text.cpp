#include "config/json_text.h"

#include <fmt/core.h>

#include "base/input_file.h"
#include "base/json_object.h"
#include "base/text_kind.h"

namespace heed {
namespace {

// With these limits `places` needs at most about 50 MB.
constexpr std::size_t kMaxBytes = 256 * 1024;
constexpr std::size_t kMaxKey = 256;

}  // namespace

std::string JsonText::where(std::string_view full_key) const {
  for (;;) {
    if (auto place = places.find(full_key); place != places.end()) return place->second;
    const std::size_t dot = full_key.rfind('.');
    if (dot == std::string_view::npos) return source;
    full_key = full_key.substr(0, dot);
  }
}

JsonText parse_json(std::string_view text, const std::string& source) {
  if (text.size() > kMaxBytes)
    throw Error(Exit::usage, fmt::format("{}: this is longer than {} KB: not a config.", source,
                                         kMaxBytes / 1024));
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw Error(Exit::usage, source + ": the file is empty; expected a JSON object.");
  JsonText out{nullptr, source};
  out.json = parse_strict_json(
      text, {.name = source, .exit = Exit::usage}, true, [&](const std::string& key, int line) {
        std::string place = fmt::format("{}:{}", source, line);
        if (key.size() > kMaxKey)
          throw Error(Exit::usage, fmt::format("{}: the key {} is too long.", place, shown(key)));
        out.places.emplace(key, std::move(place));
      });
  return out;
}

JsonText read_json_file(const std::string& path) {
  const std::string text = read_file(path, kMaxBytes, InputFile::Allow::link, Exit::usage);
  const std::string kind = other_kind(text);
  if (!kind.empty() && kind != kEmptyKind)
    throw Error(Exit::usage, path + ": this is " + kind + "; expected JSON in UTF-8.",
                "as UTF-8: iconv -f UTF-16 -t UTF-8, if it is a config");
  return parse_json(text, path);
}

}  // namespace heed
