// JSON as people and strangers write it, read strictly: `//` comments are allowed; a key that
// stands twice or has more than 64 bytes, nesting beyond 16 levels, more than 256 KiB, invalid
// UTF-8 and numbers that do not fit a double are errors. Whatever the bytes, the result is a
// JsonText or an Error (Exit::usage) that names file, line and column.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace heed {

struct JsonText {
  JsonText(nlohmann::json json, std::string source);
  JsonText(JsonText&&) noexcept;
  JsonText& operator=(JsonText&&) noexcept;
  ~JsonText();

  // Where a full key ("model.d_model") was given: "configs/a.json:12", "--set model.d_model=x"; for
  // a key that was not, where the section around it was.
  std::string where(std::string_view full_key) const;

  std::unique_ptr<nlohmann::json> json;                    // never null
  std::string source;                                      // name of the file
  std::map<std::string, std::string, std::less<>> places;  // full key -> where
};

// A value for messages: JSON in printable ASCII, cut if it is long.
std::string shown(const nlohmann::json& value);

// `source` stands for the text in messages.
JsonText parse_json(std::string_view text, const std::string& source);
JsonText read_json_file(const std::string& path);

}  // namespace heed
