// JSON as people write it, and where each key stands. It is read strictly (base/json_object.h),
// but `//` comments are allowed. A key of more than 256 bytes (with those around it) and more than
// 256 KiB in all are errors too. Whatever the bytes, the result is a JsonText or an Error
// (Exit::usage) that names file, line and column.
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

// `source` stands for the text in messages.
JsonText parse_json(std::string_view text, const std::string& source);
JsonText read_json_file(const std::string& path);

}  // namespace heed
