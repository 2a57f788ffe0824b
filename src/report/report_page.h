// The page of `heed report` (src/report/report_page.html). Everything but the maps is plain HTML
// and SVG, there without script; the maps are drawn by the page. It loads nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/report.h"

namespace heed {

// `metrics`: see read_metrics(); moved in, for a long run's are large.
std::string report_page(const Report& report, nlohmann::ordered_json metrics);

}  // namespace heed
