// Reading gold files line by line: every access says file and line when it fails. For gold*.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/gold.h"

namespace heed {

// [begin, end), in bytes of a text or in positions, as the owner says.
struct Span {
  std::size_t begin = 0, end = 0;
  bool overlaps(const Span& o) const { return begin < o.end && o.begin < end; }
};

class GoldLine {
 public:
  // Line `number` (from 1) of `file`; must be a JSON object.
  GoldLine(const std::string& file, std::size_t number, const std::string& text);

  [[noreturn]] void fail(const std::string& what) const;  // "FILE:LINE: what"
  bool has(const char* key) const { return json_.contains(key); }
  const nlohmann::json& at(const char* key) const;
  // A whole number of at least 0 and below `limit`.
  std::size_t index(const nlohmann::json& value, std::size_t limit, const char* what) const;
  const nlohmann::json& array(const nlohmann::json& value, const char* what) const;
  // [begin, end, ...] with begin < end <= limit.
  Span span(const nlohmann::json& value, std::size_t limit, const char* what) const;

 private:
  std::string place_;
  nlohmann::json json_;
};

// Where each character (code point) of a text begins, in bytes, and last the text's end.
std::vector<std::size_t> character_begins(std::string_view text);

GoldSet read_pair_gold(const GoldFiles& files, const std::vector<std::string>& lines,
                       const RunConfig& config, const Tokenizers& tokenizers);
std::vector<GoldSet> read_pronoun_gold(const GoldFiles& files,
                                       const std::vector<std::string>& lines,
                                       const RunConfig& config, const Tokenizers& tokenizers);

}  // namespace heed
