// One field and one JSON value.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "config/fields.h"

namespace heed {

// Stores the value in the field's member. False, and nothing stored, if it is of another type or
// out of range. Of a section only the type is checked.
bool store_value(const Field& field, const nlohmann::json& value);

// The member as JSON, as it would be written in a config. Not for sections.
nlohmann::ordered_json dump_value(const Field& field);

}  // namespace heed
