// Structs that are stored as JSON objects. Each has one list of its fields, in the order in which
// they are written:
//
//   void fields(Cursor& c, auto visit) { visit("epoch", c.epoch, "index", c.index); }
//
// A field is a number, a text, true or false; such a struct; a list of these; or these by name. An
// optional one is left out where it has no value. A struct with a kKind begins with "kind".
// `Json x = record` writes it, read_json() reads it.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/number.h"
#include "base/std_names.h"

namespace heed {

template <class T>
concept HasFields = requires(T& record) {
  fields(record, [](auto&&...) {});
};

void for_each_pair(auto&) {}
void for_each_pair(auto& use, const char* key, auto& value, auto&... rest) {
  use(key, value);
  for_each_pair(use, rest...);
}
// Calls use(key, value) for each field.
void for_each_field(HasFields auto& record, auto use) {
  fields(record, [&](auto&&... keys_and_values) { for_each_pair(use, keys_and_values...); });
}

template <HasFields T>
void to_json(Json& json, T record) {
  json = Json::object();
  if constexpr (requires { T::kKind; }) json["kind"] = T::kKind;
  for_each_field(record, [&]<class Value>(const char* key, const Value& value) {
    if constexpr (!requires { value.has_value(); })
      json[key] = value;
    else if (value)
      json[key] = *value;
  });
}
template <class T>
void to_json(Json& json, const ByName<T>& items) {
  json = Json::object();
  for (const auto& [name, item] : items) json[name] = item;
}

// The values that stand alone: false, and x as it is, if the JSON has another form. null is a
// number that is not known, and "inf", "-inf" and "nan" are numbers, too; 1e3 is a whole one.
inline bool read_value(const Json& json, bool& x) {
  if (json.is_boolean()) x = json.get<bool>();
  return json.is_boolean();
}
inline bool read_value(const Json& json, string& x) {
  if (json.is_string()) x = json.get<string>();
  return json.is_string();
}
inline bool read_value(const Json& json, double& x) {
  if (json.is_number())
    x = json.get<double>();
  else if (json == "inf" || json == "-inf")
    x = std::stod(json.get<string>());
  else if (json.is_null() || json == "nan")
    x = NAN;
  else
    return false;
  return true;
}
template <integral T>
bool read_value(const Json& json, T& x) {
  const auto whole = json.is_number() ? read_number<T>(json.dump()) : nullopt;
  x = whole.value_or(x);
  return whole.has_value();
}

// Of each fault the first one, in words; or "".
struct Faults {
  string wrong, missing, unknown;
  string first() const { return !wrong.empty() ? wrong : !missing.empty() ? missing : unknown; }
};

// Reads what there is and has its form; the rest stays as it is. False if something has another
// form or is missing. `key`: the keys around it, for the faults.
template <class T>
bool read_json(const Json& json, T& x, Faults& faults, const string& key = "") {
  const auto inner = [&](const string& name) { return key.empty() ? name : key + "." + name; };
  const auto fault = [](string& first, const string& text) {
    if (first.empty()) first = text;
    return false;
  };
  const auto must_be = [&](const char* form) {
    return fault(faults.wrong, fmt::format("{} must be {}; found {}.",
                                           key.empty() ? "this" : shown(key), form, shown(json)));
  };
  bool whole = true;
  if constexpr (requires { x.has_value(); }) {
    whole = read_json(json, x.emplace(), faults, key);
    if (!whole) x.reset();
  } else if constexpr (HasFields<T>) {
    if (!json.is_object()) return must_be("an object");
    vector<string> keys = {"kind"};
    for_each_field(x, [&]<class Value>(const char* name, Value& value) {
      keys.push_back(name);
      if (const auto found = json.find(name); found != json.end())
        whole &= read_json(*found, value, faults, inner(name));
      else if (!requires { value.has_value(); })
        whole = fault(faults.missing, shown(inner(name)) + " is missing.");
    });
    for (const auto& [name, item] : json.items())
      if (ranges::count(keys, name) == 0)
        fault(faults.unknown, "unknown key " + shown(inner(name)) + ".");
  } else if constexpr (requires { x.begin()->second; }) {  // these by name
    if (!json.is_object()) return must_be("an object");
    for (const auto& [name, item] : json.items())
      whole &= read_json(item, x.insert(x.end(), {name, {}})->second, faults, inner(name));
  } else if constexpr (requires { x.emplace_back(); }) {  // a list of these
    if (!json.is_array()) return must_be("a list");
    for (const Json& item : json) whole &= read_json(item, x.emplace_back(), faults, key);
  } else if (!read_value(json, x)) {
    return must_be(std::same_as<T, bool>    ? "true or false"
                   : integral<T>            ? "a whole number"
                   : std::floating_point<T> ? "a number"
                                            : "a string");
  }
  return whole;
}

}  // namespace heed
