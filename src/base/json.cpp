#include "base/json.h"
#include "base/std_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <sstream>
#include <unordered_set>

namespace heed {
namespace {

constexpr size_t kMostKeys = 100'000;  // of an object: a key is searched among all before it

// An object or list that encloses the parser's position.
struct Level {
  string key;  // the last one read; "" in a list
  unordered_set<string> keys;
};

string full_key(const vector<Level>& levels) {
  string full;
  for (const Level& level : levels)
    if (!level.key.empty()) full += (full.empty() ? "" : ".") + level.key;
  return full;
}

// `read`: what the parser has read. A number that no double holds has no place in its message.
[[noreturn]] void refuse_text(string what, const JsonSource& source, string_view read) {
  read = read.substr(0, read.find_last_of("0123456789") + 1);
  int line = 1 + int(ranges::count(read, '\n')), column = int(read.size() - read.rfind('\n')) - 1;
  const size_t at = what.find("at line ");
  if (at != string::npos) std::sscanf(what.c_str() + at, "at line %d, column %d", &line, &column);
  what = what.substr(at != string::npos ? what.find(": ", at) + 2 : what.find("] ") + 2);
  // The parser quotes what it read, which may be long, and any bytes: keep printable ASCII only.
  if (what.size() > 200) what = what.substr(0, 200) + "...";
  for (char& ch : what)
    if (ch < ' ' || ch > '~') ch = '?';
  source.fail("this is not JSON: " + what, fmt::format(":{}:{}", line, column));
}

}  // namespace

string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

string shown(const Json& value) {
  const string out = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return out.size() <= 80 ? out : out.substr(0, 76) + " ...";
}

void JsonSource::fail(const string& what, const string& place) const {
  throw Error(exit, fmt::format("{}{}: {}{}", name, place, verdict, what), hint);
}

Json parse_strict_json(string_view text, const JsonSource& source, bool comments,
                       const JsonKeySeen& key_seen) {
  using Event = Json::parse_event_t;
  std::istringstream stream{string(text)};
  size_t read = 0;
  int line = 1;  // of text[read]
  // Counts the lines that the parser has read since.
  const auto place = [&] {
    const size_t now = stream.rdbuf()->pubseekoff(0, std::ios::cur, std::ios::in);
    line += ranges::count(text.substr(read, now - read), '\n');
    read = now;
    return fmt::format(":{}", line);
  };
  vector<Level> levels;
  const auto fail = [&](const string& what) { source.fail(what, place()); };
  // The first pass only checks; the second one builds the value.
  const auto check = [&](int depth, Event event, Json& value) {
    if (event == Event::object_start || event == Event::array_start) {
      if (depth == source.depth) fail("this is nested too deeply.");
      levels.resize(depth);
      levels.emplace_back();
    } else if (event == Event::key) {
      levels.resize(depth);
      levels.back().key = value.get_ref<const string&>();
      const bool twice = !levels.back().keys.insert(levels.back().key).second;
      if (levels.back().keys.size() > kMostKeys) fail("an object has too many keys.");
      if (twice) fail(fmt::format("the key {} occurs twice.", shown(full_key(levels))));
      if (key_seen) key_seen(full_key(levels), place());
    }
    return false;
  };
  try {
    [[maybe_unused]] const Json nothing = Json::parse(stream, check, true, comments);
    return Json::parse(text, nullptr, true, comments);
  } catch (const Json::exception& e) {
    place();
    refuse_text(e.what(), source, text.substr(0, read));
  }
}

}  // namespace heed
