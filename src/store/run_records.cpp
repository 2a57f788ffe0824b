#include "store/run_records.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/input_file.h"
#include "nn/attention.h"

namespace heed {

namespace {

// A film has at most a hundred frames of some 100 KB each (show/film.h).
constexpr std::size_t kLongest = 16u << 20;
// What no training writes, pages need not bear.
constexpr std::size_t kMostFrames = 4096, kMostHeads = 1 << 15, kMostTokens = 256;

// Calls use(line, ended) for each line; the last one may lack its newline. No lines if there is no
// file. Error (Exit::store) if it is not a regular file or cannot be read.
template <class Use>
void for_each_line(const std::filesystem::path& run, const char* file, Use&& use) {
  const std::filesystem::path path = run / file;
  if (!is_listed(path)) return;
  InputLines lines(path, InputFile::Allow::file, Exit::store, kLongest);
  if (file == std::string_view(kFilm) && !can_be_film(run))
    throw Error(Exit::store,
                fmt::format("cannot read {}: it is too large for a film", quoted_path(path)));
  while (const auto line = lines.next()) use(*line, lines.ended());
}

// The JSON object on a line; nothing if it is none, or is nested deeper than heed writes.
std::optional<Json> object_of(const std::string& line) try {
  Json object = parse_strict_json(line, {.name = ""});
  return object.is_object() ? std::optional(std::move(object)) : std::nullopt;
} catch (const Error&) {
  return std::nullopt;
}

std::optional<std::int64_t> step_of(const Json& object) {
  std::int64_t step = 0;
  return read_value(object.value("step", Json()), step) ? std::optional(step) : std::nullopt;
}

// Reads an object of this kind. Nothing if it is of another one or, where it must be `whole`, if
// something is missing or has another type.
template <class T>
std::optional<T> record_from(const Json& object, bool whole = false) {
  T record;
  Faults faults;
  if (object.value("kind", Json()) != T::kKind) return std::nullopt;
  if (!read_json(object, record, faults) && whole) return std::nullopt;
  return record;
}

// Calls use(object) for every object with a step up to one.
template <class Use>
void for_each_object(const std::filesystem::path& run, const char* file, std::int64_t up_to,
                     Use&& use) {
  for_each_line(run, file, [&](const std::string& line, bool) {
    const std::optional<Json> object = object_of(line);
    const auto step = object ? step_of(*object) : std::nullopt;
    if (step && *step <= up_to) use(*object);
  });
}

// Is this base64 (RFC 4648, section 4) of so many bytes?
bool is_base64(std::string_view text, double bytes) {
  if (static_cast<double>(text.size()) != 4 * std::ceil(bytes / 3)) return false;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return std::ranges::all_of(text, [](char c) {
    return ('A' <= c && c <= 'Z') || ('a' <= c && c <= 'z') || ('0' <= c && c <= '9') || c == '+' ||
           c == '/';
  });
}

double numbers_of(const MapKind& kind) {  // no product of them is too large for a double
  return static_cast<double>(kind.layers) * static_cast<double>(kind.heads) *
         static_cast<double>(kind.queries.size()) * static_cast<double>(kind.keys.size());
}

// The queries of each kind of attention are tokens of one side, and so are its keys.
bool fit_each_other(const std::vector<MapKind>& kinds) {
  std::map<AttentionKind, const MapKind*> of;
  for (const AttentionKind known : kAttentionKinds)
    for (const MapKind& kind : kinds)
      if (kind.name == attention_name(known) && !of.emplace(known, &kind).second) return false;
  const std::vector<std::string>* sides[2] = {};  // source, target
  const auto fits = [&](const std::vector<std::string>& tokens, bool target) {
    if (!sides[target]) sides[target] = &tokens;
    return sides[target]->size() == tokens.size();
  };
  return std::ranges::all_of(of, [&](const auto& entry) {
    const auto& [kind, map] = entry;
    return fits(map->queries, kind != AttentionKind::encoder_self) &&
           fits(map->keys, kind == AttentionKind::decoder_self);
  });
}

// Do the parts of a record fit each other, and the probe?
bool fits(const Probe& probe) {
  return probe.expected.size() == probe.prompts.size() && !probe.kinds.empty() &&
         std::ranges::all_of(probe.kinds,
                             [](const MapKind& kind) {
                               return kind.layers > 0 && kind.heads > 0 && numbers_of(kind) > 0 &&
                                      kind.layers <= std::int64_t{kMostHeads} / kind.heads &&
                                      std::max(kind.queries.size(), kind.keys.size()) <=
                                          kMostTokens;
                             }) &&
         fit_each_other(probe.kinds);
}

bool fits(const Frame& frame, const Probe& probe) {
  const auto pull = frame.pull.value_or(std::vector<PackedPull>());
  const auto are_maps = [&](const auto& maps, auto text_of) {
    return maps.empty() ||
           std::ranges::equal(maps, probe.kinds, [&](const auto& map, const MapKind& kind) {
             return is_base64(text_of(map), numbers_of(kind));
           });
  };
  return are_maps(frame.weights, std::identity()) &&
         are_maps(pull, std::mem_fn(&PackedPull::map)) &&
         std::ranges::all_of(
             pull, [](double x) { return std::isfinite(x); }, &PackedPull::largest) &&
         std::ranges::all_of(
             frame.heads.value_or(std::vector<HeadName>()),
             [](const HeadName& h) { return std::isfinite(h.score + h.untrained + h.shuffled); }) &&
         frame.written.size() == probe.prompts.size();
}

bool is_known(const std::string& kind) {
  return std::ranges::find(kAttentionKinds, kind, attention_name) != kAttentionKinds.end();
}

// Leaves out the kinds of attention that this heed does not know, and heads that the model lacks.
void drop_unknown(RecordedFrames& film) {
  for (std::size_t i = film.probe.kinds.size(); i-- > 0;) {
    if (is_known(film.probe.kinds[i].name)) continue;
    const auto drop = [&](auto& list) {
      if (!list.empty()) list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    };
    drop(film.probe.kinds);
    for (Frame& frame : film.frames) {
      drop(frame.weights);
      if (frame.pull) drop(*frame.pull);
    }
  }
  for (Frame& frame : film.frames) {
    std::erase_if(frame.entropy, [](const auto& entry) { return !is_known(entry.first); });
    if (frame.heads)
      std::erase_if(*frame.heads, [&](const HeadName& h) {
        const auto kind = std::ranges::find(film.probe.kinds, h.kind, &MapKind::name);
        return kind == film.probe.kinds.end() || h.layer < 0 || h.layer >= kind->layers ||
               h.head < 0 || h.head >= kind->heads;
      });
  }
}

}  // namespace

std::string line_of(const Record& record) {
  return std::visit([](const auto& one) { return text_of(one); }, record);
}

bool can_be_film(const std::filesystem::path& run) {
  return type_of(run / kFilm) == std::filesystem::file_type::regular &&
         InputFile(run / kFilm).size() < kLongest;
}

LoggedEvents read_events(const std::filesystem::path& run, std::int64_t up_to) {
  LoggedEvents logged;
  for_each_object(run, kMetrics, up_to, [&](const Json& line) {
    if (auto train = record_from<TrainEvent>(line)) {
      const TrainEvent last =
          logged.train.empty() ? TrainEvent{.seconds = 0, .minutes = 0} : logged.train.back();
      const bool resumed = train->seconds < last.seconds;  // a process counts from 0
      train->from = static_cast<double>(last.step + 1);
      train->minutes = last.minutes + (train->seconds - (resumed ? 0 : last.seconds)) / 60;
      logged.train.push_back(*train);
    }
    if (const auto valid = record_from<ValidEvent>(line)) logged.valid.push_back(*valid);
    if (const auto event = record_from<RunEvent>(line)) logged.events.push_back(*event);
    if (auto found = record_from<YardsticksEvent>(line, true); found && logged.yardsticks.empty())
      logged.yardsticks = std::move(found->values);
  });
  return logged;
}

RecordedFrames read_frames(const std::filesystem::path& run, std::int64_t up_to) {
  RecordedFrames film;
  for_each_object(run, kFilm, up_to, [&](const Json& line) {
    if (film.probe.kinds.empty()) {
      if (auto probe = record_from<Probe>(line, true); probe && fits(*probe))
        film.probe = std::move(*probe);
    } else if (auto frame = record_from<Frame>(line, true);
               frame && fits(*frame, film.probe) && film.frames.size() < kMostFrames) {
      film.frames.push_back(std::move(*frame));
    }
  });
  drop_unknown(film);
  return film.probe.kinds.empty() ? RecordedFrames{} : film;
}

void check_lines(const std::filesystem::path& run, const char* file, std::int64_t saved) {
  std::int64_t number = 0, whole = 0, last = 0;
  std::optional<Probe> probe;  // the first line of a film
  const bool of_chain = file == std::string_view(kChain);
  const auto is_damaged = [&](const Json& line) {
    if (file != std::string_view(kFilm)) return false;
    if (!probe) return !(probe = record_from<Probe>(line, true)) || !fits(*probe);
    const auto frame = record_from<Frame>(line, true);
    return !frame || !fits(*frame, *probe);
  };
  for_each_line(run, file, [&](const std::string& line, bool ended) {
    ++number;
    if (!ended) return;
    const auto refuse = [&](const std::string& what) {
      throw Error(Exit::store, fmt::format("line {} {}", number, what));
    };
    const std::optional<Json> object = object_of(line);
    if (!object) refuse("is not a JSON object");
    const auto step = step_of(*object);
    if (!step) refuse("has no step");
    if (*step < last && !of_chain)
      refuse(fmt::format("is of step {}, after one of {}", *step, last));
    last = *step;
    if (is_damaged(*object)) refuse("is damaged");
    ++whole;
  });
  if (whole == 0 && saved > 0 && !of_chain)
    throw Error(Exit::store, fmt::format("it has no whole line, and step {} is saved", saved));
}

MetricsCut copy_lines(const std::filesystem::path& from, const std::filesystem::path& to,
                      const char* file, const std::function<bool(std::int64_t step)>& keeps,
                      std::string added) {
  const std::filesystem::path temporary = to / (std::string(".tmp-") + file);
  MetricsCut cut;
  OutputFile kept(temporary);
  std::string text;
  const auto add = [&](const std::string& line) {
    text += line + '\n';
    if (text.size() <= (1 << 20)) return;
    kept.write(text);
    text.clear();
  };
  const std::int64_t step_of_added = added.empty() ? kAnyStep : *step_of(*object_of(added));
  const auto copy = [&](const std::string& line, bool ended) {
    const auto object = ended ? object_of(line) : std::nullopt;
    if (!object) {
      ++cut.damaged;
      return;
    }
    const std::int64_t step = step_of(*object).value_or(-1);
    if (!keeps(step)) {
      ++cut.later;
      return;
    }
    if (step > step_of_added && !added.empty()) add(std::exchange(added, ""));
    ++cut.kept;
    add(line);
  };
  for_each_line(from, file, copy);
  if (!added.empty()) add(added);
  kept.write(text);
  kept.finish();
  rename_path(temporary, to / file);
  sync_folder(to);
  return cut;
}

}  // namespace heed
