// The page of `heed report` (web/report.html), and what it shows as JSON.
#pragma once

#include <string>

#include "show/report.h"

namespace heed {

std::string report_page(const Report& report);

// One line: what the page shows, without its attention maps.
std::string report_json(const Report& report);

}  // namespace heed
