// Strict JSON: duplicate keys in an object, deep nesting, invalid UTF-8 and numbers that do not fit
// a double are errors. So are missing or unknown members and those of the wrong type. Any input
// gives a value or an Error that names the place.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace heed {

// A value for messages: JSON in printable ASCII, shortened if long.
std::string shown(const nlohmann::json& value);

// Where JSON comes from, and the message if it is wrong: "name:line: verdict what\n  try: hint".
struct JsonSource {
  std::string name;         // of the file
  Exit exit = Exit::store;  // if it is wrong
  std::string verdict = "", hint = "";
  int line = 0;    // where the JSON begins in the file; 0: it is the whole file
  int depth = 16;  // objects and lists may be nested this deep

  [[noreturn]] void fail(const std::string& place, const std::string& what) const;
};

// Called for each key with its full name ("model.d_model") and its line.
using JsonKeySeen = std::function<void(const std::string& full_key, int line)>;

// `comments` allows comments as in C++. Memory is proportional to the text.
nlohmann::json parse_strict_json(std::string_view text, const JsonSource& source,
                                 bool comments = false, const JsonKeySeen& key_seen = {});

// The members of one object. Each is taken once; finish() throws if any are left.
class JsonObject {
 public:
  JsonObject(nlohmann::json value, JsonSource source);
  static JsonObject parse(std::string_view text, JsonSource source) {
    return JsonObject(parse_strict_json(text, source), source);
  }

  bool has(const std::string& key) const { return object_.contains(key); }
  std::vector<std::string> keys() const;
  const nlohmann::json& at(const std::string& key) const;

  using Fits = std::function<bool(const nlohmann::json&)>;
  // Error unless the member exists and fits(value); the message says what is `expected`.
  nlohmann::json take(const std::string& key, const std::string& expected, const Fits& fits);
  std::int64_t count(const std::string& key, std::int64_t lowest = 0);
  std::uint64_t unsigned_number(const std::string& key);
  std::vector<std::uint64_t> unsigned_numbers(const std::string& key);
  std::string text(const std::string& key);
  std::vector<std::string> texts(const std::string& key);
  bool flag(const std::string& key);
  JsonObject object(const std::string& key);
  void finish() const;

  [[noreturn]] void fail(const std::string& what) const;

 private:
  nlohmann::json object_;
  JsonSource source_;
  std::string around_;  // the enclosing keys: "cursor." or ""
};

}  // namespace heed
