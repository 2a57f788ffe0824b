// JSON written by people, with the place of each key. It is read strictly (base/json_object.h), but
// `//` comments are allowed. Full keys longer than 256 bytes and texts longer than 256 KiB are
// errors too. Any input gives a JsonText or an Error (Exit::usage) that names the file and, where
// possible, the line and column.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "config/fields.h"

namespace heed {

struct JsonText {
  // The place of a full key ("model.d_model"): "configs/a.json:12", "--set model.d_model=x". For a
  // key that was not given, the place of its section.
  std::string where(std::string_view full_key) const;

  nlohmann::json json;
  std::string source;  // name of the file
  Places places = {};  // of full keys
};

// `source` names the text in messages.
JsonText parse_json(std::string_view text, const std::string& source);
JsonText read_json_file(const std::string& path);

}  // namespace heed
