// The files of a run that grow by a line, metrics.jsonl and film.jsonl: a JSON object on each line,
// with "kind" and "step". The events of metrics.jsonl, each typed once: the same list of fields
// writes a line and reads it. And cutting such a file back to a step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/files.h"
#include "store/layout.h"

namespace heed {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

// {"kind": "train", ...}: a log line.
struct TrainEvent {
  std::int64_t step = 0;
  double epoch = kNotMeasured;
  double loss = kNotMeasured, perplexity = kNotMeasured;  // nats per token, unsmoothed, since the
                                                          // last line
  double gradient_norm = kNotMeasured, learning_rate = kNotMeasured;
  double tokens_per_second = kNotMeasured;
  double seconds = kNotMeasured;  // since the process began to train
};

// {"kind": "valid", ...}
struct ValidEvent {
  std::int64_t step = 0;
  double loss = kNotMeasured, perplexity = kNotMeasured, accuracy = kNotMeasured;
  std::int64_t tokens = 0;
  std::optional<double> bits_per_byte = {}, metric = {};  // where they are measured
  std::optional<std::string> metric_name = {};            // train.select_by: the metric's key
  std::string verdict = {};  // "new best", "stalled 2/10 (best 1.8810 @ 750)", ...
};

// Where a run was before it went back for another end.
struct RunEnd {
  std::int64_t step = 0;
  double loss = kNotMeasured;  // of its validation
  std::optional<double> bits_per_byte = {};
};

// {"kind": "event", ...}: "start", "resume", "branch", "extended", "diverged".
struct RunEvent {
  std::int64_t step = 0;
  std::string event, text;
  std::optional<std::string> core_type = {};  // OpenBLAS's name of the processor
  std::optional<std::int64_t> from = {};      // "extended": the step that it went back to,
  std::optional<RunEnd> end = {};             // from this one
};

// A line, without its newline. NaN and infinity are written as null: JSON has neither.
template <class Event>
std::string line_of(const Event& event);
// Nothing if the object is of another kind; what is missing or has another type stays as it is in
// an Event{}.
template <class Event>
std::optional<Event> event_from(const nlohmann::ordered_json& object);

// Can `file`, which the run may lack, be read line by line? Not a folder, a pipe, a link, a file
// far too large.
bool has_lines(const std::filesystem::path& run, const char* file);

// Calls use(line, ended) for each line; the last one may lack its newline. No lines if there is no
// file. Error (Exit::store) if it is not a regular file or cannot be read.
void for_each_line(const std::filesystem::path& run, const char* file,
                   const std::function<void(const std::string& line, bool ended)>& use);

// The JSON object on a line; nothing if it is none, or is nested deeper than heed writes.
std::optional<nlohmann::ordered_json> object_of(const std::string& line);

// Calls use(object) for every object with a kind (text) and a step (whole number); skips other
// lines.
void for_each_event(const std::filesystem::path& run,
                    const std::function<void(nlohmann::ordered_json& object)>& use,
                    const char* file = kMetrics);

struct MetricsCut {
  std::int64_t kept = 0;
  std::int64_t later = 0;    // lines of later steps, dropped
  std::int64_t damaged = 0;  // lines that are not a JSON object (a torn last one), dropped
};

// Copies `file` of the run `from` to the run `to`, without lines of steps that are not to be kept
// and without a torn last one. Both may be the same run; if not, `from` may be growing meanwhile.
MetricsCut copy_lines(const std::filesystem::path& from, const std::filesystem::path& to,
                      const char* file, const std::function<bool(std::int64_t step)>& keeps,
                      SystemCalls& calls);

}  // namespace heed
