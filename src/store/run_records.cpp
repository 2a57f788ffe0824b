#include "store/run_records.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/folders.h"
#include "base/input_file.h"
#include "nn/attention.h"

namespace heed {

using Json = nlohmann::ordered_json;

namespace {

// A film has at most a hundred frames of some 100 KB each (show/film.h).
constexpr std::size_t kLongest = 16u << 20;
// What no training writes, pages need not bear.
constexpr std::size_t kMostFrames = 4096, kMostInList = 1 << 15, kMostTokens = 256;

// The fields of a record, in the order in which they are written.

void fields(auto& e, const TrainEvent*, auto visit) {
  visit("step", e.step);
  visit("epoch", e.epoch);
  visit("loss", e.loss);
  visit("perplexity", e.perplexity);
  visit("gradient_norm", e.gradient_norm);
  visit("learning_rate", e.learning_rate);
  visit("tokens_per_second", e.tokens_per_second);
  visit("seconds", e.seconds);
}

void fields(auto& e, const ValidEvent*, auto visit) {
  visit("step", e.step);
  visit("loss", e.loss);
  visit("perplexity", e.perplexity);
  visit("accuracy", e.accuracy);
  visit("tokens", e.tokens);
  visit("bits_per_byte", e.bits_per_byte);
  visit("metric", e.metric_name);
  visit(e.metric_name.value_or("").c_str(), e.metric);
  visit("verdict", e.verdict);
}

void fields(auto& e, const RunEvent*, auto visit) {
  visit("step", e.step);
  visit("event", e.event);
  visit("text", e.text);
  visit("core_type", e.core_type);
}

void fields(auto& e, const YardsticksEvent*, auto visit) {
  visit("step", e.step);
  visit("values", e.values);
}

void fields(auto& e, const Yardstick*, auto visit) {
  visit("name", e.name);
  visit("nats_per_token", e.nats_per_token);
  visit("bits_per_byte", e.bits_per_byte);
}

void fields(auto& e, const Probe*, auto visit) {
  visit("step", e.step);
  visit("kinds", e.kinds);
  visit("expected", e.expected);
  visit("prompts", e.prompts);
  visit("follows", e.follows);
}

void fields(auto& e, const MapKind*, auto visit) {
  visit("name", e.name);
  visit("layers", e.layers);
  visit("heads", e.heads);
  visit("queries", e.queries);
  visit("keys", e.keys);
}

void fields(auto& e, const Frame*, auto visit) {
  visit("step", e.step);
  visit("train_loss", e.train_loss);
  visit("valid_loss", e.valid_loss);
  visit("probe_loss", e.probe_loss);
  visit("weights", e.weights);
  visit("written", e.written);
  visit("end", e.end);
  visit("filled", e.filled);
  visit("pull", e.pull);
  visit("heads", e.heads);
  visit("matrices", e.matrices);
  visit("entropy", e.entropy);
}

void fields(auto& e, const PackedPull*, auto visit) {
  visit("largest", e.largest);
  visit("map", e.map);
}

void fields(auto& e, const HeadName*, auto visit) {
  visit("kind", e.kind);
  visit("layer", e.layer);
  visit("head", e.head);
  visit("name", e.name);
  visit("score", e.score);
  visit("untrained", e.untrained);
  visit("shuffled", e.shuffled);
}

void fields(auto& e, const MatrixChange*, auto visit) {
  visit("gradient_norm", e.gradient_norm);
  visit("weight_norm", e.weight_norm);
  visit("update_ratio", e.update_ratio);
  visit("cosine", e.cosine);
}

void fields(auto& e, const Entropy*, auto visit) {
  visit("uniform", e.uniform);
  visit("heads", e.heads);
}

template <class T>
constexpr bool kIsOptional = false;
template <class T>
constexpr bool kIsOptional<std::optional<T>> = true;

struct Writer {
  static Json of(double x) { return x; }
  static Json of(std::int64_t x) { return x; }
  static Json of(bool x) { return x; }
  static Json of(const std::string& x) { return x; }
  template <class T>
  static Json of(const std::vector<T>& list) {
    Json json = Json::array();
    for (const T& x : list) json.push_back(of(x));
    return json;
  }
  template <class T>
  static Json of(const ByName<T>& all) {
    Json json = Json::object();
    for (const auto& [name, x] : all) json[name] = of(x);
    return json;
  }
  template <class Record>
  static Json of(const Record& record) {
    Json json = Json::object();
    if constexpr (requires { Record::kKind; }) json["kind"] = Record::kKind;
    const auto write = [&]<class Value>(const char* key, const Value& value) {
      if constexpr (!kIsOptional<Value>)
        json[key] = of(value);
      else if (value)
        json[key] = of(*value);
    };
    fields(record, &record, write);
    return json;
  }
};

// Each is false if the value is of another form; numbers and texts then stay as they are.
struct Reader {
  template <class T>
  static bool take(const Json& json, bool right, T& x) {
    if (right) json.get_to(x);
    return right;
  }
  static bool read(const Json& json, double& x) {
    if (json.is_null()) x = kNotMeasured;
    return take(json, json.is_number(), x) || json.is_null();
  }
  static bool read(const Json& json, std::int64_t& x) {
    return take(json, json.is_number_integer() && json <= std::numeric_limits<std::int64_t>::max(),
                x);
  }
  static bool read(const Json& json, bool& x) { return take(json, json.is_boolean(), x); }
  static bool read(const Json& json, std::string& x) { return take(json, json.is_string(), x); }
  template <class T>
  static bool read(const Json& json, std::optional<T>& x) {
    if (!read(json, x.emplace())) x.reset();
    return x.has_value();
  }
  template <class T>
  static bool read(const Json& json, std::vector<T>& list) {
    return json.is_array() && json.size() <= kMostInList &&
           std::ranges::all_of(json,
                               [&](const Json& item) { return read(item, list.emplace_back()); });
  }
  template <class T>
  static bool read(const Json& json, ByName<T>& all) {
    return json.is_object() && json.size() <= kMostInList &&
           std::ranges::all_of(json.items(), [&](const auto& item) {
             return read(item.value(), all.emplace_back(item.key(), T{}).second);
           });
  }
  template <class Record>
  static bool read(const Json& json, Record& record) {
    bool whole = json.is_object();
    const auto read_field = [&]<class Value>(const char* key, Value& value) {
      const auto found = json.find(key);
      whole &= found == json.end() ? kIsOptional<Value> : read(*found, value);
    };
    if (whole) fields(record, &record, read_field);
    return whole;
  }
};

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
std::optional<Json> object_of(const std::string& line) {
  constexpr int kDeepest = 64;  // copying and comparing recurse
  bool too_deep = false;
  const auto look = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kDeepest;
    return !too_deep;  // what is false is left out
  };
  Json object = Json::parse(line, look, false);
  if (too_deep || !object.is_object()) return std::nullopt;
  return object;
}

std::optional<std::int64_t> step_of(const Json& object) {
  const auto step = object.find("step");
  std::int64_t at = 0;
  return step != object.end() && Reader::read(*step, at) ? std::optional(at) : std::nullopt;
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
                                      kind.layers <= std::int64_t{kMostInList} / kind.heads &&
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

template <class Record>
Json json_of(const Record& record) {
  return Writer::of(record);
}

template <class Record>
std::string line_of(const Record& record) {
  return json_of(record).dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class Record>
std::optional<Record> record_from(const Json& object) {
  constexpr bool tolerant = std::is_same_v<Record, TrainEvent> ||
                            std::is_same_v<Record, ValidEvent> || std::is_same_v<Record, RunEvent>;
  Record record;
  if (object.value("kind", Json()) != Record::kKind) return std::nullopt;
  if (!Reader::read(object, record) && !tolerant) return std::nullopt;
  return record;
}

template std::string line_of(const TrainEvent&);
template std::string line_of(const ValidEvent&);
template std::string line_of(const RunEvent&);
template std::string line_of(const YardsticksEvent&);
template std::string line_of(const Probe&);
template std::string line_of(const Frame&);
template std::optional<TrainEvent> record_from(const Json&);
template std::optional<ValidEvent> record_from(const Json&);
template std::optional<RunEvent> record_from(const Json&);
template std::optional<YardsticksEvent> record_from(const Json&);
template std::optional<Probe> record_from(const Json&);
template std::optional<Frame> record_from(const Json&);
template Json json_of(const Yardsticks&);
template Json json_of(const std::vector<HeadName>&);
template Json json_of(const std::vector<MapKind>&);
template Json json_of(const std::vector<PackedPull>&);
template Json json_of(const ByName<MatrixChange>&);
template Json json_of(const ByName<Entropy>&);

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
    if (auto found = record_from<YardsticksEvent>(line); found && logged.yardsticks.empty())
      logged.yardsticks = std::move(found->values);
  });
  return logged;
}

RecordedFrames read_frames(const std::filesystem::path& run, std::int64_t up_to) {
  RecordedFrames film;
  for_each_object(run, kFilm, up_to, [&](const Json& line) {
    if (film.probe.kinds.empty()) {
      if (auto probe = record_from<Probe>(line); probe && fits(*probe))
        film.probe = std::move(*probe);
    } else if (auto frame = record_from<Frame>(line);
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
    if (!probe) return !(probe = record_from<Probe>(line)) || !fits(*probe);
    const auto frame = record_from<Frame>(line);
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
