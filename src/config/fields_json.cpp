#include "config/fields_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/fields.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/std_names.h"
#include "base/text_kind.h"
#include "base/utf8.h"

namespace heed {

bool read_value(const Json& json, array<double, 2>& pair) {
  return json.is_array() && json.size() == 2 && read_value(json[0], pair[0]) &&
         read_value(json[1], pair[1]);
}

Json value_named(const string& name) {
  return name == "true" || name == "false" ? Json(name == "true") : Json(name);
}

void to_json(Json& json, const PathList& list) {
  if (list.as_list)
    json = list.paths;
  else
    json = list.empty() ? "" : list.paths.front();
}
bool read_value(const Json& json, PathList& list) {
  list.as_list = json.is_array();
  for (const Json& path : list.as_list ? json : Json::array({json}))
    if (!read_value(path, list.paths.emplace_back()) || (list.as_list && path == "")) return false;
  erase(list.paths, "");
  return true;
}

// "1 epoch", "12 epochs"
void to_json(Json& json, const Interval& interval) {
  json = interval.count;
  if (interval.epochs) json = counted(to_string(interval.count), "epoch");
}
bool read_value(const Json& json, Interval& interval) {
  interval.epochs = json.is_string();
  if (!interval.epochs)
    return read_value(json, interval.count) && between(0, 1e12).contains(interval.count);
  const string text = json;
  interval.count = read_number<int64_t>(text.substr(0, text.rfind(' '))).value_or(0);
  return between(1, 1e9).contains(interval.count) &&
         (text.ends_with(" epoch") || text.ends_with(" epochs"));
}

void to_json(Json& json, const StepOrEnd& step) {
  json = step.step;
  if (step.at_end) json = "end";
}
bool read_value(const Json& json, StepOrEnd& step) {
  step.at_end = json == "end";
  return step.at_end || read_value(json, step.step);
}

namespace {

// With these limits `places` needs at most about 50 MB.
constexpr size_t kMaxBytes = 256 * 1024;
constexpr size_t kMaxKey = 256;

// Are numbers in the range?
template <class T>
bool fits(const Range& range, const T& value) {
  if constexpr (std::is_convertible_v<T, double>)
    return range.contains(double(value));
  else if constexpr (is_same_v<T, array<double, 2>>)
    return range.contains(value[0]) && range.contains(value[1]);
  else
    return true;
}

// Stores a JSON value in a member; false if it does not fit.
struct Store {
  const Json& v;
  const Range& range;

  template <class T>
  bool operator()(T* out) const {
    T value{};
    const bool good = read_value(v, value) && fits(range, value);
    if (good) *out = std::move(value);
    return good;
  }
  bool operator()(const Choice& choice) const {
    const auto name = ranges::find(choice.names, v, value_named);
    if (name == choice.names.end()) return false;
    choice.set(name - choice.names.begin());
    return true;
  }
  bool operator()(const Field::Section&) const { return v.is_object(); }
};

// The end of the message about an unknown key. Its likely meaning is the same key in another
// section, a name from another program, or a similar key.
string meant(const vector<Field>& root, const vector<Field>& section, const string& prefix,
             const string& key) {
  vector<string> all, here;
  for (const Leaf& leaf : fields_and_sections(root)) {
    if (leaf.key == key || leaf.key.ends_with("." + key)) return did_you_mean(leaf.key);
    all.push_back(leaf.key);
  }
  if (const auto word = find_trade_word("key", key)) return heed_calls_it(*word);
  for (const Field& field : section) here.push_back(field.key);
  const string near = nearest(key, here);
  return did_you_mean(near.empty() ? nearest(prefix + key, all) : prefix + near);
}

struct Reader {
  const JsonText& text;
  const vector<Field>& root;
  Places given = {};

  void section(const Json& object, const vector<Field>& fields, const string& prefix) {
    for (const auto& [key, value] : object.items()) {
      const string full = prefix + key;
      const auto field = ranges::find(fields, key, &Field::key);
      if (field == fields.end()) {
        const string end = meant(root, fields, prefix, key);
        throw usage_error("{}: unknown key {}{}", text.where(full), shown(full), end)
            .hint(end == "." ? "heed config --docs lists all keys" : "");
      }
      if (!std::visit(Store{value, field->range}, field->ref)) {
        string what = fmt::format("{}: {} must be {}; found {}", text.where(full), full,
                                  expected_values(*field), shown(value));
        if (const auto* choice = std::get_if<Choice>(&field->ref); choice && value.is_string())
          what += did_you_mean(nearest(value.get<string>(), choice->names));
        throw Error(Exit::usage, what);
      }
      if (const auto* inner = section_of(*field))
        section(value, *inner, full + ".");
      else
        given[full] = text.where(full);
    }
  }
};

// {"a": {"b": value}} for a.b
Json nested(const string& full, const Json& value) {
  const size_t dot = full.find('.');
  const Json inner = dot == string::npos ? value : nested(full.substr(dot + 1), value);
  return Json::object({{full.substr(0, dot), inner}});
}

Json set_value(const Field& field, const string& written, const string& place) {
  if (find_invalid_utf8(written) != written.npos)
    throw usage_error("{}: the value is not valid UTF-8, as a config must be.", place)
        .hint("if it names a file: rename the file, or make a link to it");
  try {
    return parse_json(written, place).json;
  } catch (const Error&) {
    const bool is_text =
        std::holds_alternative<string*>(field.ref) || std::holds_alternative<PathList*>(field.ref);
    // As options take numbers, though JSON does not: 010, .5, +1.
    if (const auto n = read_number<uint64_t>(written); n && !is_text) return *n;
    if (const auto x = read_number<double>(written); x && !is_text) return *x;
    return written;
  }
}

}  // namespace

string JsonText::where(string_view full_key) const {
  for (;;) {
    if (auto place = places.find(full_key); place != places.end()) return place->second;
    const size_t dot = full_key.rfind('.');
    if (dot == string_view::npos) return source;
    full_key = full_key.substr(0, dot);
  }
}

JsonText parse_json(string_view text, const string& source) {
  if (text.size() > kMaxBytes)
    throw usage_error("{}: this is longer than {} KB: not a config.", source, kMaxBytes / 1024);
  if (text.find_first_not_of(" \t\r\n") == string_view::npos)
    throw usage_error("{}: the file is empty; expected a JSON object.", source);
  JsonText out{nullptr, source};
  out.json = parse_strict_json(
      text, {.name = source, .exit = Exit::usage}, true, [&](const string& key, const string& at) {
        if (key.size() > kMaxKey)
          throw usage_error("{}{}: the key {} is too long.", source, at, shown(key));
        out.places.emplace(key, source + at);
      });
  return out;
}

JsonText read_json_file(const string& path) try {
  const string text = read_file(path, kMaxBytes, InputFile::Allow::link);
  if (const string kind = other_kind(text); !kind.empty())
    throw usage_error("{}: this is {}; expected JSON in UTF-8.", path, kind);
  return parse_json(text, path);
} catch (const Error& e) {
  throw e.as(Exit::usage);
}

Places read_fields(const JsonText& text, const vector<Field>& fields) {
  if (!text.json.is_object())
    throw usage_error("{}: expected a JSON object; found {}.", text.source, shown(text.json))
        .hint("heed train - < FILE, if it is a text");
  Reader reader{text, fields};
  reader.section(text.json, fields, "");
  return std::move(reader.given);
}

JsonText parse_set(const vector<Field>& fields, const string& set) {
  const size_t equals = set.find('=');
  const string key = set.substr(0, equals);
  const string place = "--set " + shown(set);
  if (equals == string::npos || key.empty() || key.size() > 256)
    throw usage_error("{}: expected KEY=VALUE, as in --set train.max_steps=100.", place);
  const vector<Leaf> all = fields_and_sections(fields);
  const auto leaf = ranges::find(all, key, &Leaf::key);
  if (leaf == all.end())
    read_fields(JsonText{nested(key, 0), place}, fields);  // throws: the key is unknown
  return {nested(key, set_value(leaf->field, set.substr(equals + 1), place)), place};
}

void copy_fields(const vector<Field>& from, const vector<Field>& to,
                 const function<bool(const string& key)>& copies) {
  const vector<Leaf> a = leaves(from), b = leaves(to);
  for (size_t i = 0; i < a.size(); ++i) {
    // Not through JSON: a value that means "not given" may be out of range.
    const auto copy = [&, &to = b[i].field.ref]<class Ref>(const Ref& ref) {
      if constexpr (std::is_pointer_v<Ref>)
        *std::get<Ref>(to) = *ref;
      else if constexpr (is_same_v<Ref, Choice>)
        std::get<Choice>(to).set(ref.get());
    };
    if (copies(a[i].key)) std::visit(copy, a[i].field.ref);
  }
}

Json dump_fields(const vector<Field>& fields) {
  Json out = Json::object();
  for (const Field& field : fields) {
    if (!is_dumped(field)) continue;
    const auto* section = section_of(field);
    Json value = section ? dump_fields(*section) : dump_value(field);
    if (!section || !value.empty()) out[field.key] = std::move(value);
  }
  return out;
}

vector<KeyChange> changed_fields(const vector<Field>& before, const vector<Field>& after) {
  const auto value = [](const Field& field) -> string {
    return is_dumped(field) ? dump_value(field).dump() : "no key";
  };
  vector<KeyChange> out;
  const vector<Leaf> a = leaves(before), b = leaves(after);
  for (size_t i = 0; i < a.size(); ++i) {
    KeyChange change{a[i].key, value(a[i].field), value(b[i].field), a[i].field.on_resume};
    if (change.before != change.after) out.push_back(std::move(change));
  }
  return out;
}

Json dump_value(const Field& field) {
  const auto dump = []<class Ref>(const Ref& ref) -> Json {
    if constexpr (std::is_pointer_v<Ref>)
      return *ref;
    else if constexpr (is_same_v<Ref, Choice>)
      return value_named(ref.names[ref.get()]);
    else
      return Json::object();
  };
  return std::visit(dump, field.ref);
}

}  // namespace heed
