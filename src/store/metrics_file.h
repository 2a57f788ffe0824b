// metrics.jsonl and film.jsonl of a run: an object of JSON on each line, with "kind" and "step".
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

// Has the run a film.jsonl? What cannot be one (a folder, a pipe, a link, a file that is far too
// large) is left alone.
bool has_film(const std::filesystem::path& run);

// Calls use(line, ended) for each line; the last one may not have been ended by a newline. No lines
// where there is no file. Error (Exit::store) if it is not a regular file or cannot be read.
void for_each_metrics_line(const std::filesystem::path& run,
                           const std::function<void(const std::string& line, bool ended)>& use,
                           const char* file = kMetrics);

// Calls use(event) for every object that has a kind (text) and a step (whole number); other lines
// are passed over.
void for_each_event(const std::filesystem::path& run,
                    const std::function<void(nlohmann::ordered_json& event)>& use,
                    const char* file = kMetrics);

struct MetricsCut {
  std::int64_t kept = 0;
  std::int64_t later = 0;    // lines of later steps, dropped
  std::int64_t damaged = 0;  // lines that are not a JSON object (a torn last one), dropped
};

// Gives the run `to` the `file` of the run `from`, without every line of a step after `step` and
// without a torn last one. Both may be the same run; another one may be growing meanwhile.
MetricsCut copy_lines(const std::filesystem::path& from, const std::filesystem::path& to,
                      const char* file, std::int64_t step, SystemCalls& calls);

}  // namespace heed
