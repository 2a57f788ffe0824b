// The learning record of a run (train/learning_record.h) as charts and tables of a page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace heed {

// `records`: see take_learning_records(). At most forty of them are drawn.
std::string learning_html(const nlohmann::ordered_json& records);

}  // namespace heed
