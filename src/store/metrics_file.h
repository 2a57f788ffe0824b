// metrics.jsonl and film.jsonl of a run: a JSON object on each line, with "kind" and "step".
// Reading them, and cutting them back to a step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/system_calls.h"
#include "store/layout.h"

namespace heed {

// Does the run have a film.jsonl? Ignores what cannot be one (a folder, a pipe, a link, a file far
// too large).
bool has_film(const std::filesystem::path& run);

// Calls use(line, ended) for each line; the last one may lack its newline. No lines if there is no
// file. Error (Exit::store) if it is not a regular file or cannot be read.
void for_each_metrics_line(const std::filesystem::path& run,
                           const std::function<void(const std::string& line, bool ended)>& use,
                           const char* file = kMetrics);

// Calls use(event) for every object with a kind (text) and a step (whole number); skips other
// lines.
void for_each_event(const std::filesystem::path& run,
                    const std::function<void(nlohmann::ordered_json& event)>& use,
                    const char* file = kMetrics);

struct MetricsCut {
  std::int64_t kept = 0;
  std::int64_t later = 0;    // lines of later steps, dropped
  std::int64_t damaged = 0;  // lines that are not a JSON object (a torn last one), dropped
};

// Copies `file` of the run `from` to the run `to`, without lines of steps after `step` and without
// a torn last one. Both may be the same run; if not, `from` may be growing meanwhile.
MetricsCut copy_lines(const std::filesystem::path& from, const std::filesystem::path& to,
                      const char* file, std::int64_t step, SystemCalls& calls);

}  // namespace heed
