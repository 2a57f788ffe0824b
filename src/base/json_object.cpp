#include "base/json_object.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <unordered_set>

#include "base/utf8.h"

namespace heed {
namespace {

using Json = nlohmann::json;

// How far the parser has read.
struct Position {
  int line = 1, column = 0;
};

// Walks over the text and counts lines.
struct Cursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  Position* position;
  const char& operator*() const { return *at; }
  Cursor& operator++() {
    ++position->column;
    if (*at++ == '\n') *position = {position->line + 1, 0};
    return *this;
  }
  bool operator==(const Cursor& o) const { return at == o.at; }
  bool operator!=(const Cursor& o) const { return at != o.at; }
};

// An object or list that encloses the parser's position.
struct Level {
  std::string key;  // the last one read; "" in a list
  std::unordered_set<std::string> keys;
};

std::string full_key(const std::vector<Level>& levels) {
  std::string full;
  for (const Level& level : levels)
    if (!level.key.empty()) full += (full.empty() ? "" : ".") + level.key;
  return full;
}

[[noreturn]] void refuse_text(const Json::exception& e, const JsonSource& source,
                              Position position) {
  std::string what = e.what();
  int line = 0, column = 0;
  const std::size_t place = what.find("at line ");
  if (place != std::string::npos &&
      std::sscanf(what.c_str() + place, "at line %d, column %d", &line, &column) == 2) {
    position = {line + std::max(source.line - 1, 0), column};
    what = what.substr(what.find(": ", place) + 2);
  } else {
    what = what.substr(what.find("] ") + 2);
  }
  // The parser quotes what it read, which may be any bytes: keep printable ASCII only.
  for (char& ch : what)
    if (ch < ' ' || ch > '~') ch = '?';
  constexpr std::string_view kQuoted = "last read: '";
  if (const std::size_t from = what.find(kQuoted); from != std::string::npos) {
    const std::size_t begin = from + kQuoted.size();
    const std::size_t end = std::min(what.rfind("'; expected "), what.size() - 1);
    what.replace(begin, end - begin, excerpt(what.substr(begin, end - begin)));
  }
  source.fail(fmt::format("{}:{}:{}", source.name, position.line, position.column),
              "this is not JSON: " + what);
}

JsonObject::Fits list_of(bool (Json::*is_item)() const noexcept) {
  return [=](const Json& value) {
    return value.is_array() && std::all_of(value.begin(), value.end(), std::mem_fn(is_item));
  };
}

}  // namespace

std::string shown(const Json& value) {
  const std::string out = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return out.size() <= 80 ? out : out.substr(0, 76) + " ...";
}

void JsonSource::fail(const std::string& place, const std::string& what) const {
  throw Error(exit, fmt::format("{}: {}{}", place, verdict, what), hint);
}

Json parse_strict_json(std::string_view text, const JsonSource& source, bool comments,
                       const JsonKeySeen& key_seen) {
  using Event = Json::parse_event_t;
  Position position{std::max(source.line, 1)};
  std::vector<Level> levels;
  const auto fail = [&](const std::string& what) {
    source.fail(fmt::format("{}:{}", source.name, position.line), what);
  };
  // The first pass only checks; the second one builds the value.
  const auto check = [&](int depth, Event event, Json& value) {
    if (event == Event::object_start || event == Event::array_start) {
      if (depth == source.depth) fail("this is nested too deeply.");
      levels.resize(static_cast<std::size_t>(depth));
      levels.emplace_back();
    } else if (event == Event::key) {
      levels.resize(static_cast<std::size_t>(depth));
      levels.back().key = value.get_ref<const std::string&>();
      const bool twice = !levels.back().keys.insert(levels.back().key).second;
      if (twice) fail(fmt::format("the key {} occurs twice.", shown(full_key(levels))));
      if (key_seen) key_seen(full_key(levels), position.line);
    }
    return false;
  };
  try {
    [[maybe_unused]] const Json nothing =
        Json::parse(Cursor{text.data(), &position}, Cursor{text.data() + text.size(), nullptr},
                    check, true, comments);
    levels.clear();
    return Json::parse(text, nullptr, true, comments);
  } catch (const Json::exception& e) {
    refuse_text(e, source, position);
  }
}

JsonObject::JsonObject(Json value, JsonSource source)
    : object_(std::move(value)), source_(std::move(source)) {
  if (!object_.is_object()) fail(fmt::format("expected a JSON object; found {}.", shown(object_)));
}

std::vector<std::string> JsonObject::keys() const {
  std::vector<std::string> names;
  for (const auto& item : object_.items()) names.push_back(item.key());
  return names;
}

const Json& JsonObject::at(const std::string& key) const {
  const auto found = object_.find(key);
  if (found == object_.end()) fail(shown(around_ + key) + " is missing.");
  return *found;
}

Json JsonObject::take(const std::string& key, const std::string& expected, const Fits& fits) {
  const Json& found = at(key);
  if (!fits(found))
    fail(fmt::format("{} must be {}; found {}.", shown(around_ + key), expected, shown(found)));
  Json value = std::move(object_[key]);
  object_.erase(key);
  return value;
}

std::int64_t JsonObject::count(const std::string& key, std::int64_t lowest) {
  const auto fits = [&](const Json& value) {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX})
      return false;
    return value.is_number_integer() && value.get<std::int64_t>() >= lowest;
  };
  return take(key, fmt::format("a whole number from {} to 2^63 - 1", lowest), fits);
}

std::uint64_t JsonObject::unsigned_number(const std::string& key) {
  return take(key, "a whole number from 0 to 2^64 - 1", &Json::is_number_unsigned);
}

std::vector<std::uint64_t> JsonObject::unsigned_numbers(const std::string& key) {
  return take(key, "a list of whole numbers from 0 to 2^64 - 1",
              list_of(&Json::is_number_unsigned));
}

std::string JsonObject::text(const std::string& key) {
  return take(key, "a string", &Json::is_string);
}

std::vector<std::string> JsonObject::texts(const std::string& key) {
  return take(key, "a list of strings", list_of(&Json::is_string));
}

bool JsonObject::flag(const std::string& key) {
  return take(key, "true or false", &Json::is_boolean);
}

JsonObject JsonObject::object(const std::string& key) {
  JsonObject inner(take(key, "an object", &Json::is_object), source_);
  inner.around_ = around_ + key + ".";
  return inner;
}

void JsonObject::finish() const {
  if (!object_.empty()) fail("unknown key " + shown(around_ + object_.begin().key()) + ".");
}

void JsonObject::fail(const std::string& what) const {
  source_.fail(source_.line > 0 ? fmt::format("{}:{}", source_.name, source_.line) : source_.name,
               what);
}

}  // namespace heed
