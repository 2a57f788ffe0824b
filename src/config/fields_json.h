// Field lists and JSON: reading, --set, dumping, comparing, and (fields_doc.cpp) their
// documentation: a JSON Schema for editors and programs, a markdown table for people. Errors are
// Exit::usage and name the full key ("model.d_model"), its place, and what was expected and found.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/std_names.h"
#include "config/fields.h"

namespace heed {

// JSON written by people, with the place of each key. It is read strictly (base/json.h), but
// `//` comments are allowed. Full keys longer than 256 bytes and texts longer than 256 KiB are
// errors too. Any input gives a JsonText or an Error (Exit::usage) that names the file and, where
// possible, the line and column.
struct JsonText {
  // The place of a full key ("model.d_model"): "configs/a.json:12", "--set model.d_model=x". For a
  // key that was not given, the place of its section.
  string where(string_view full_key) const;

  Json json;
  string source;       // name of the file
  Places places = {};  // of full keys
};

// `source` names the text in messages.
JsonText parse_json(string_view text, const string& source);
JsonText read_json_file(const string& path);

// Stores the values in the structs and returns the keys in the text. Unknown keys, wrong types and
// numbers out of range are errors.
Places read_fields(const JsonText& text, const vector<Field>& fields);

// What --set "a.b=v" says, as {"a": {"b": v}}. v is JSON, or else a string.
JsonText parse_set(const vector<Field>& fields, const string& set);

// Copies the values of some keys between two lists of the same struct.
void copy_fields(const vector<Field>& from, const vector<Field>& to,
                 const function<bool(const string& key)>& copies);

// All keys in the order of the list that are dumped.
Json dump_fields(const vector<Field>& fields);

// Keys whose values differ between two lists of the same struct, in the order of the list.
vector<KeyChange> changed_fields(const vector<Field>& before, const vector<Field>& after);

// A choice's name as JSON.
Json value_named(const string& name);

// The member as JSON, as in a config. Not for sections.
Json dump_value(const Field& field);

// JSON Schema, draft 2020-12. Defaults are the current values in the structs.
Json fields_schema(const vector<Field>& fields);

// One table of all keys: key, values, default, meaning.
string fields_markdown(const vector<Field>& fields);

// The allowed values of a field, in words: "an integer from 1 to 64", "one of pre, post".
string expected_values(const Field& field);

}  // namespace heed
