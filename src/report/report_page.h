// The page of `heed report` (web/report.html).
#pragma once

#include <string>

#include "report/report.h"
#include "report/run_metrics.h"

namespace heed {

std::string report_page(const Report& report, const RunMetrics& metrics);

}  // namespace heed
