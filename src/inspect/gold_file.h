// Reads gold files line by line; an error names file and line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_object.h"

namespace heed {

// [begin, end), in bytes of a text or in tokens.
struct Span {
  std::size_t begin = 0, end = 0;
  bool overlaps(const Span& o) const { return begin < o.end && o.begin < end; }
};

class GoldLine : public JsonObject {
 public:
  // Line `number` (from 1) of `file`; must be a JSON object.
  GoldLine(const std::string& file, std::size_t number, const std::string& text);

  // A whole number of at least 0 and below `limit`.
  std::size_t index(const nlohmann::json& value, std::size_t limit, const char* what) const;
  const nlohmann::json& array(const nlohmann::json& value, const char* what) const;
  // [begin, end, ...] with begin < end <= limit.
  Span span(const nlohmann::json& value, std::size_t limit, const char* what) const;
};

// Where each character (code point) of a text begins, in bytes, then the end of the text.
std::vector<std::size_t> character_begins(std::string_view text);

}  // namespace heed
