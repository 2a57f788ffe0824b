// Field lists and JSON: reading, --set, dumping, comparing. Errors are Exit::usage and name the
// full key ("model.d_model"), where it was given, what was expected and what was found.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "config/fields.h"
#include "config/json_text.h"

namespace heed {

// Stores the values in the fields' structs and returns the full keys that were given. Unknown keys,
// wrong types and numbers out of range are errors.
std::set<std::string> read_fields(const JsonText& text, const std::vector<Field>& fields);

// "a.b=v" put into the text: v is JSON, or else a string; an object gives several keys at once;
// null takes the key out, so that its default holds again.
void apply_set(JsonText& text, const std::vector<Field>& fields, const std::string& set);

// Error if one of the given keys is `rejected_by` something.
void check_applicable(const JsonText& text, const std::vector<Field>& fields,
                      const std::set<std::string>& given);

// All keys in the order of the list, but for those rejected.
nlohmann::ordered_json dump_fields(const std::vector<Field>& fields);

// Keys whose values differ between two lists of the same struct, in the order of the list.
struct KeyChange {
  std::string key, before, after;  // full key; values as JSON, "" where the key is rejected
  OnResume on_resume;
};
std::vector<KeyChange> changed_fields(const std::vector<Field>& before,
                                      const std::vector<Field>& after);

}  // namespace heed
