// Field lists and JSON: reading, --set, dumping, comparing, and their documentation (a JSON Schema
// for editors, a markdown table for people, a list of keys for programs). Errors are Exit::usage
// and name the full key ("model.d_model"), its place, and what was expected and found.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"

namespace heed {

// JSON written by people, with the place of each key. It is read strictly (base/json_object.h), but
// `//` comments are allowed. Full keys of more than 256 bytes and texts of more than 256 KiB are
// errors too. For any bytes the result is a JsonText or an Error (Exit::usage) that names the file
// and, where possible, line and column.
struct JsonText {
  // The place of a full key ("model.d_model"): "configs/a.json:12", "--set model.d_model=x". For a
  // key that was not given, the place of its section.
  std::string where(std::string_view full_key) const;

  nlohmann::json json;
  std::string source;                                           // name of the file
  std::map<std::string, std::string, std::less<>> places = {};  // full key -> where
};

// `source` names the text in messages.
JsonText parse_json(std::string_view text, const std::string& source);
JsonText read_json_file(const std::string& path);

// Stores the values in the structs and returns the full keys that the text has. Unknown keys, wrong
// types and numbers out of range are errors.
std::set<std::string> read_fields(const JsonText& text, const std::vector<Field>& fields);

// Sets "a.b=v" in the text. v is JSON, or else a string. An object sets several keys at once; null
// removes the key, so that its default applies.
void apply_set(JsonText& text, const std::vector<Field>& fields, const std::string& set);

// Error if one of the given keys is `rejected_by` something.
void check_applicable(const JsonText& text, const std::vector<Field>& fields,
                      const std::set<std::string>& given);

// All keys in the order of the list, except rejected ones.
nlohmann::ordered_json dump_fields(const std::vector<Field>& fields);

// Keys whose values differ between two lists of the same struct, in the order of the list.
std::vector<KeyChange> changed_fields(const std::vector<Field>& before,
                                      const std::vector<Field>& after);

// In fields_doc.cpp:

// JSON Schema, draft 2020-12. Defaults are the current values in the structs.
nlohmann::ordered_json fields_schema(const std::vector<Field>& fields, const std::string& title);

// One table of all keys: key, values, default, meaning.
std::string fields_markdown(const std::vector<Field>& fields);

// {"keys": [{"key", "values" (in words), "default" (null: no fixed one), "default_note" (if so),
// "doc", "on_resume" (may it change then?), and the JSON Schema of the value: "type", "minimum",
// ...}]}
nlohmann::ordered_json fields_list(const std::vector<Field>& fields);

// The allowed values of a field, in words: "an integer from 1 to 64", "one of pre, post".
std::string expected_values(const Field& field);

// In field_value.cpp:

// Stores the value in the field's member. Returns false and stores nothing if the type is wrong or
// the value is out of range. For a section only the type is checked.
bool store_value(const Field& field, const nlohmann::json& value);

// The member as JSON, as in a config. Not for sections.
nlohmann::ordered_json dump_value(const Field& field);

}  // namespace heed
