#include "store/run_events.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "base/files.h"
#include "base/folders.h"
#include "base/input_file.h"

namespace heed {

using Json = nlohmann::ordered_json;

static void to_json(Json& json, const RunEnd& end) {
  json = {{"step", end.step}, {"loss", end.loss}};
  if (end.bits_per_byte) json["bits_per_byte"] = *end.bits_per_byte;
}
static void from_json(const Json& json, RunEnd& end) {
  json.at("step").get_to(end.step);
  if (json.at("loss").is_number()) json.at("loss").get_to(end.loss);
  if (const Json bits = json.value("bits_per_byte", Json()); bits.is_number())
    end.bits_per_byte = bits.get<double>();
}

namespace {

// A film has at most a hundred frames of some 100 KB each (show/film.h).
constexpr std::size_t kLongest = 16u << 20;

// The fields of an event, in the order in which they are written.
template <class E, class Visit>
void fields(E& e, const TrainEvent*, Visit visit) {
  visit("step", e.step);
  visit("epoch", e.epoch);
  visit("loss", e.loss);
  visit("perplexity", e.perplexity);
  visit("gradient_norm", e.gradient_norm);
  visit("learning_rate", e.learning_rate);
  visit("tokens_per_second", e.tokens_per_second);
  visit("seconds", e.seconds);
}

template <class E, class Visit>
void fields(E& e, const ValidEvent*, Visit visit) {
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

template <class E, class Visit>
void fields(E& e, const RunEvent*, Visit visit) {
  visit("step", e.step);
  visit("event", e.event);
  visit("text", e.text);
  visit("core_type", e.core_type);
  visit("from", e.from);
  visit("end", e.end);
}

constexpr const char* kind_of(const TrainEvent*) {
  return "train";
}
constexpr const char* kind_of(const ValidEvent*) {
  return "valid";
}
constexpr const char* kind_of(const RunEvent*) {
  return "event";
}

bool has_type_of(const Json& x, double) {
  return x.is_number();
}
bool has_type_of(const Json& x, std::int64_t) {
  return x.is_number_integer();
}
bool has_type_of(const Json& x, const std::string&) {
  return x.is_string();
}

bool has_type_of(const Json& x, const RunEnd&) {
  return x.is_object() && has_type_of(x.value("step", Json()), std::int64_t{}) &&
         (x.value("loss", Json()).is_number() || x.value("loss", Json(0)).is_null());
}

// The step of a metrics line, -1 if it has none; nullopt if the line is not a JSON object.
std::optional<std::int64_t> step_of(const std::string& line) {
  const std::optional<Json> object = object_of(line);
  if (!object) return std::nullopt;
  const auto step = object->find("step");
  return step != object->end() && step->is_number_integer() ? step->get<std::int64_t>() : -1;
}

}  // namespace

template <class Event>
std::string line_of(const Event& event) {
  constexpr const Event* type = nullptr;
  Json line{{"kind", kind_of(type)}};
  const auto write = [&]<class Value>(const char* key, const Value& value) {
    if constexpr (requires { value.has_value(); }) {
      if (value) line[key] = *value;
    } else {
      line[key] = value;
    }
  };
  fields(event, type, write);
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class Event>
std::optional<Event> event_from(const Json& object) {
  constexpr const Event* type = nullptr;
  if (object.value("kind", Json()) != kind_of(type)) return std::nullopt;
  Event event;
  const auto read = [&]<class Value>(const char* key, Value& value) {
    const auto found = object.find(key);
    if (found == object.end()) return;
    if constexpr (requires { value.has_value(); }) {
      if (has_type_of(*found, typename Value::value_type())) found->get_to(value.emplace());
    } else if (has_type_of(*found, value)) {
      found->get_to(value);
    }
  };
  fields(event, type, read);
  return event;
}

template std::string line_of(const TrainEvent&);
template std::string line_of(const ValidEvent&);
template std::string line_of(const RunEvent&);
template std::optional<TrainEvent> event_from(const Json&);
template std::optional<ValidEvent> event_from(const Json&);
template std::optional<RunEvent> event_from(const Json&);

bool has_lines(const std::filesystem::path& run, const char* file) {
  namespace fs = std::filesystem;
  std::error_code error;
  return fs::symlink_status(run / file, error).type() == fs::file_type::regular &&
         fs::file_size(run / file, error) < kLongest;
}

void for_each_line(const std::filesystem::path& run, const char* file,
                   const std::function<void(const std::string& line, bool ended)>& use) {
  const std::filesystem::path path = run / file;
  if (!path_exists(path)) return;
  InputLines lines(path, InputFile::Allow::link, Exit::store, kLongest);
  while (const auto line = lines.next()) use(*line, lines.ended());
}

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

void for_each_event(const std::filesystem::path& run, const std::function<void(Json& object)>& use,
                    const char* file) {
  const auto use_event = [&](const std::string& line, bool) {
    std::optional<Json> object = object_of(line);
    if (!object || !object->contains("kind") || !object->contains("step")) return;
    if ((*object)["kind"].is_string() && (*object)["step"].is_number_integer()) use(*object);
  };
  for_each_line(run, file, use_event);
}

MetricsCut copy_lines(const std::filesystem::path& from, const std::filesystem::path& to,
                      const char* file, const std::function<bool(std::int64_t step)>& keeps,
                      SystemCalls& calls) {
  const std::filesystem::path temporary = to / (std::string(".tmp-") + file);
  MetricsCut cut;
  OutputFile kept(temporary, calls);
  std::string text;
  const auto keep = [&](const std::string& line, bool ended) {
    const std::optional<std::int64_t> at = ended ? step_of(line) : std::nullopt;
    if (!at) {
      ++cut.damaged;
    } else if (!keeps(*at)) {
      ++cut.later;
    } else {
      ++cut.kept;
      text += line + '\n';
    }
    if (text.size() > (1 << 20)) {
      kept.write(text);
      text.clear();
    }
  };
  for_each_line(from, file, keep);
  kept.write(text);
  kept.finish();
  rename_path(temporary, to / file, calls);
  sync_folder(to, calls);
  return cut;
}

}  // namespace heed
