// Conversion between a field and a JSON value.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "config/fields.h"

namespace heed {

// Stores the value in the field's member. Returns false and stores nothing if the type is wrong or
// the value is out of range. For a section only the type is checked.
bool store_value(const Field& field, const nlohmann::json& value);

// The same with the value of another list of the same struct, even one that means "not given".
void copy_value(const Field& from, const Field& to);

// The member as JSON, as in a config. Not for sections.
nlohmann::ordered_json dump_value(const Field& field);

}  // namespace heed
