// Field lists and JSON: reading, --set, dumping, comparing, and (fields_doc.cpp) their
// documentation: a JSON Schema for editors and programs, a markdown table for people. Errors are
// Exit::usage and name the full key ("model.d_model"), its place, and what was expected and found.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "config/fields.h"

namespace heed {

// JSON written by people, with the place of each key. It is read strictly (base/json.h), but
// `//` comments are allowed. Full keys longer than 256 bytes and texts longer than 256 KiB are
// errors too. Any input gives a JsonText or an Error (Exit::usage) that names the file and, where
// possible, the line and column.
struct JsonText {
  // The place of a full key ("model.d_model"): "configs/a.json:12", "--set model.d_model=x". For a
  // key that was not given, the place of its section.
  std::string where(std::string_view full_key) const;

  Json json;
  std::string source;  // name of the file
  Places places = {};  // of full keys
};

// `source` names the text in messages.
JsonText parse_json(std::string_view text, const std::string& source);
JsonText read_json_file(const std::string& path);

// Stores the values in the structs and returns the keys in the text. Unknown keys, wrong types and
// numbers out of range are errors.
Places read_fields(const JsonText& text, const std::vector<Field>& fields);

// What --set "a.b=v" says, as {"a": {"b": v}}. v is JSON, or else a string.
JsonText parse_set(const std::vector<Field>& fields, const std::string& set);

// Copies the values of some keys between two lists of the same struct.
void copy_fields(const std::vector<Field>& from, const std::vector<Field>& to,
                 const std::function<bool(const std::string& key)>& copies);

// All keys in the order of the list that are dumped.
Json dump_fields(const std::vector<Field>& fields);

// Keys whose values differ between two lists of the same struct, in the order of the list.
std::vector<KeyChange> changed_fields(const std::vector<Field>& before,
                                      const std::vector<Field>& after);

// The member as JSON, as in a config. Not for sections.
Json dump_value(const Field& field);

// JSON Schema, draft 2020-12. Defaults are the current values in the structs.
Json fields_schema(const std::vector<Field>& fields, const std::string& title);

// One table of all keys: key, values, default, meaning.
std::string fields_markdown(const std::vector<Field>& fields);

// The allowed values of a field, in words: "an integer from 1 to 64", "one of pre, post".
std::string expected_values(const Field& field);

}  // namespace heed
