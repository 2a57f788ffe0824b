#include "store/run_records.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/std_names.h"

namespace heed {
namespace {

// A film has at most a hundred frames of some 200 KB each (show/film.h).
constexpr size_t kLongest = 16u << 20;
constexpr size_t kMostTokens = 256;  // more need no page bear

optional<int64_t> step_of(const Json& object) {
  int64_t step = 0;
  return read_value(object.value("step", Json()), step) ? optional(step) : nullopt;
}

// Calls use(line, ended) for each line; the last one may lack its newline. No lines if there is no
// file. Error (Exit::store) if it is not a regular file or cannot be read.
template <class Use>
void for_each_line(const fs::path& run, const char* file, Use&& use) {
  const fs::path path = run / file;
  if (!is_listed(path)) return;
  InputLines lines(path, InputFile::Allow::file, kLongest);
  if (file == string_view(kFilm) && !can_be_film(run))
    throw store_error("cannot read {}: it is too large for a film", quoted_path(path));
  while (const auto line = lines.next()) use(*line, lines.ended());
}

// The JSON object on a line; nothing if it is none, or is nested deeper than heed writes.
optional<Json> object_of(const string& line) try {
  Json object = parse_strict_json(line, {.name = ""});
  return object.is_object() ? optional(std::move(object)) : nullopt;
} catch (const Error&) {
  return nullopt;
}

// Calls use(object) for every object with a step up to one.
template <class Use>
void for_each_object(const fs::path& run, const char* file, int64_t up_to, Use&& use) {
  for_each_line(run, file, [&](const string& line, bool) {
    const optional<Json> object = object_of(line);
    const auto step = object ? step_of(*object) : nullopt;
    if (step && *step <= up_to) use(*object);
  });
}

// Reads an object of this kind. Nothing if it is of another one or, where it must be `whole`, if
// something is missing or has another type.
template <class T>
optional<T> record_from(const Json& object, bool whole = false) {
  T record;
  Faults faults;
  if (object.value("kind", Json()) != T::kKind) return nullopt;
  if (!read_json(object, record, faults) && whole) return nullopt;
  return record;
}

// Is this base64 (RFC 4648, section 4) of so many bytes?
bool is_base64(string_view text, double bytes) {
  const string_view end = text.substr(min(
      text.size(),
      text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")));
  return text.size() == 4 * std::ceil(bytes / 3) && (end.empty() || end == "=" || end == "==");
}

double heads_of(const MapKind& kind) {  // no product of them is too large for a double
  return double(kind.layers) * kind.heads;
}
double numbers_of(const MapKind& kind) {
  return heads_of(kind) * kind.queries.size() * kind.keys.size();
}

// Do the parts of a record fit each other, and the probe?
bool fits(const Probe& probe) {
  return probe.expected.size() == probe.prompts.size() && !probe.kinds.empty() &&
         ranges::all_of(probe.kinds, [](const MapKind& kind) {
           return kind.layers > 0 && kind.heads > 0 && numbers_of(kind) > 0 &&
                  max(kind.queries.size(), kind.keys.size()) <= kMostTokens;
         });
}

bool fits(const Frame& frame, const Probe& probe) {
  const auto none_or_each = [&](const auto& parts, auto fits_kind) {
    return parts.empty() || ranges::equal(parts, probe.kinds, fits_kind);
  };
  const auto is_map = [](const string& map, const MapKind& kind) {
    return is_base64(map, numbers_of(kind));
  };
  const auto is_pull = [&](const PackedPull& pull, const MapKind& kind) {
    return isfinite(pull.largest) && is_map(pull.map, kind);
  };
  const auto are_words = [](const KindInWords& words, const MapKind& kind) {
    return words.heads.size() == heads_of(kind) && words.first >= 0 &&
           words.first < ssize(words.heads);
  };
  const auto is_measured = [](const HeadName& head) {
    return isfinite(head.score + head.untrained + head.shuffled);
  };
  return frame.written.size() == probe.prompts.size() && none_or_each(frame.weights, is_map) &&
         (!frame.pull || none_or_each(*frame.pull, is_pull)) &&
         (!frame.words || none_or_each(*frame.words, are_words)) &&
         (!frame.heads || ranges::all_of(*frame.heads, is_measured));
}

// Adds a line to a film: its probe first, then frames; a further probe begins another film. False:
// it is damaged.
bool add_line(const Json& line, RecordedFrames& film) {
  if (const auto probe = record_from<Probe>(line, true); probe && fits(*probe)) {
    film = {*probe, {}};
    return true;
  }
  auto frame = record_from<Frame>(line, true);
  if (film.probe.kinds.empty() || !frame || !fits(*frame, film.probe)) return false;
  film.frames.push_back(std::move(*frame));
  return true;
}

}  // namespace

bool can_be_film(const fs::path& run) {
  return type_of(run / kFilm) == fs::file_type::regular && InputFile(run / kFilm).size() < kLongest;
}

LoggedEvents read_events(const fs::path& run, int64_t up_to) {
  LoggedEvents logged;
  for_each_object(run, kMetrics, up_to, [&](const Json& line) {
    if (auto train = record_from<TrainEvent>(line)) {
      const TrainEvent last =
          logged.train.empty() ? TrainEvent{.seconds = 0, .minutes = 0} : logged.train.back();
      const bool resumed = train->seconds < last.seconds;  // a process counts from 0
      train->from = last.step + 1;
      train->minutes = last.minutes + (train->seconds - (resumed ? 0 : last.seconds)) / 60;
      logged.train.push_back(*train);
    }
    if (const auto valid = record_from<ValidEvent>(line)) logged.valid.push_back(*valid);
    if (const auto event = record_from<RunEvent>(line)) logged.events.push_back(*event);
    if (auto found = record_from<YardsticksEvent>(line, true); found && logged.yardsticks.empty())
      logged.yardsticks = found->values;
  });
  return logged;
}

RecordedFrames read_frames(const fs::path& run, int64_t up_to) {
  RecordedFrames film;
  for_each_object(run, kFilm, up_to, [&](const Json& line) { add_line(line, film); });
  ranges::stable_sort(film.frames, {}, &Frame::step);  // that of the best is written last
  return film;
}

void check_lines(const fs::path& run, const char* file, int64_t saved) {
  int64_t number = 0, whole = 0, last = 0;
  RecordedFrames film;
  const bool of_chain = file == string_view(kChain);
  for_each_line(run, file, [&](const string& line, bool ended) {
    ++number;
    if (!ended) return;
    const auto refuse = [&](const string& what) { throw store_error("line {} {}", number, what); };
    const optional<Json> object = object_of(line);
    if (!object) refuse("is not a JSON object");
    const auto step = step_of(*object);
    if (!step) refuse("has no step");
    const bool in_order = !object->contains("end") && !of_chain;
    if (in_order && *step < last)
      refuse(fmt::format("is of step {}, after one of {}", *step, last));
    if (in_order) last = *step;
    if (file == string_view(kFilm) && !add_line(*object, film)) refuse("is damaged");
    ++whole;
  });
  if (whole == 0 && saved > 0 && !of_chain)
    throw store_error("it has no whole line, and step {} is saved", saved);
}

void copy_lines(const fs::path& from, const fs::path& to, const char* file, int64_t step,
                bool ends) {
  string kept;
  for_each_line(from, file, [&](const string& line, bool ended) {
    const auto object = ended ? object_of(line) : nullopt;
    if (object && step_of(*object).value_or(-1) <= step && (ends || !object->contains("end")))
      kept += line + '\n';
  });
  replace_file(to / file, kept);
}

}  // namespace heed
