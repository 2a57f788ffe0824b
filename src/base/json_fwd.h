// The one type of JSON, whose objects keep their order, declared for headers. base/json.h defines
// it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/std_names.h"

namespace heed {

using Json = nlohmann::ordered_json;

// What is stored as an object, in its order.
template <class T>
using ByName = vector<pair<string, T>>;

}  // namespace heed
