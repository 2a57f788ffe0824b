// Yardsticks as JSON: a line of metrics.jsonl, a member of what `heed evaluate --json` prints, and
// data of the report.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "evaluate/yardsticks.h"

namespace heed {

inline constexpr const char* kYardsticksKind = "yardsticks";

// [{"name":"uniform","nats_per_token":4.1,"bits_per_byte":6.0}, ...]; bits_per_byte may be null.
nlohmann::ordered_json json_of(const Yardsticks& yardsticks);

// {"kind":"yardsticks","step":0,"values":[...]}
std::string yardsticks_metrics(const Yardsticks& yardsticks);
// Those of such an event; none if that is not what it holds.
Yardsticks yardsticks_of_event(const nlohmann::ordered_json& event);
// Those in metrics.jsonl of a run, if any. Error (store) if it cannot be read.
Yardsticks logged_yardsticks(const std::filesystem::path& run);

}  // namespace heed
