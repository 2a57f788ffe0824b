// JSON as text, and read strictly: duplicate keys in an object, deep nesting, invalid UTF-8 and
// numbers that do not fit a double are errors. Any input gives a value or an Error that names the
// place. base/fields.h makes structs of it.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"
#include "base/std_names.h"

namespace heed {

// On one line. NaN and infinity become null, bytes that are not UTF-8 U+FFFD.
string text_of(const Json& json);

// A value for messages: JSON in printable ASCII, shortened if long.
string shown(const Json& value);

// Where JSON comes from, and the message if it is wrong: "name:line: verdict what\n  try: hint".
struct JsonSource {
  string name;              // of the file
  Exit exit = Exit::store;  // if it is wrong
  string verdict = "", hint = "";
  int depth = 16;  // objects and lists may be nested this deep

  // `place`: ":line" in the file.
  [[noreturn]] void fail(const string& what, const string& place = "") const;
};

// Called for each key with its full name ("model.d_model") and its place, ":line".
using JsonKeySeen = function<void(const string& full_key, const string& place)>;

// `comments` allows comments as in C++. Memory is proportional to the text.
Json parse_strict_json(string_view text, const JsonSource& source, bool comments = false,
                       const JsonKeySeen& key_seen = {});

}  // namespace heed
