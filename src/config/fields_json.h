// Field lists and JSON: reading, --set, dumping, comparing. Errors are Exit::usage and name the
// full key ("model.d_model"), its place, and what was expected and found.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/fields.h"
#include "config/json_text.h"

namespace heed {

// Stores the values in the structs and returns the keys in the text. Unknown keys, wrong types and
// numbers out of range are errors.
Places read_fields(const JsonText& text, const std::vector<Field>& fields);

// Sets "a.b=v" in the text. v is JSON, or else a string. An object sets several keys at once; null
// removes the key, so that its default applies.
void apply_set(JsonText& text, const std::vector<Field>& fields, const std::string& set);

// Error if one of the given keys is `rejected_by` something.
void check_applicable(const std::vector<Field>& fields, const Places& given);

// Copies the values of some keys between two lists of the same struct.
void copy_fields(const std::vector<Field>& from, const std::vector<Field>& to,
                 const std::function<bool(const std::string& key)>& copies);

// All keys in the order of the list, except rejected ones.
nlohmann::ordered_json dump_fields(const std::vector<Field>& fields);

// Keys whose values differ between two lists of the same struct, in the order of the list.
std::vector<KeyChange> changed_fields(const std::vector<Field>& before,
                                      const std::vector<Field>& after);

}  // namespace heed
