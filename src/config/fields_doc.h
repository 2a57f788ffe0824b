// Documentation of field lists: a JSON Schema for editors and programs, a markdown table for
// people.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "config/fields.h"

namespace heed {

// JSON Schema, draft 2020-12. Defaults are the current values in the structs.
Json fields_schema(const std::vector<Field>& fields, const std::string& title);

// One table of all keys: key, values, default, meaning.
std::string fields_markdown(const std::vector<Field>& fields);

// The allowed values of a field, in words: "an integer from 1 to 64", "one of pre, post".
std::string expected_values(const Field& field);

}  // namespace heed
