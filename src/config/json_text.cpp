#include "config/json_text.h"

#include <cstddef>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "base/input_file.h"

namespace heed {
namespace {

using Json = nlohmann::json;

// With these, places need at most some 50 MB whatever the bytes.
constexpr std::size_t kMaxBytes = 256 * 1024;
constexpr std::size_t kMaxDepth = 16;
constexpr std::size_t kMaxKey = 64;

// Walks over the text and tells how far the parser has read, for line numbers.
struct Cursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** read;
  const char& operator*() const { return *at; }
  Cursor& operator++() {
    *read = ++at;
    return *this;
  }
  Cursor operator++(int) {
    Cursor old = *this;
    ++*this;
    return old;
  }
  bool operator==(const Cursor& o) const { return at == o.at; }
  bool operator!=(const Cursor& o) const { return at != o.at; }
};

// Builds the value and notes the line of every key.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, JsonText& out)
      : read(text.data()), begin_(text.data()), counted_(text.data()), out_(out) {}

  const char* read;

  bool null() override { return add(nullptr); }
  bool boolean(bool x) override { return add(x); }
  bool number_integer(number_integer_t x) override { return add(x); }
  bool number_unsigned(number_unsigned_t x) override { return add(x); }
  bool number_float(number_float_t x, const string_t&) override { return add(x); }
  bool string(string_t& x) override { return add(std::move(x)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    Level& level = levels_.back();
    if (key.size() > kMaxKey) fail("the key " + shown(key) + " is too long");
    level.full_key = level.prefix + key;
    level.slot = &(*level.value)[key];
    if (!out_.places.emplace(level.full_key, out_.source + ":" + std::to_string(line())).second)
      fail("the key " + shown(level.full_key) + " stands here twice");
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const Json::exception& e) override {
    std::string what = e.what();
    int at_line = 0, at_column = 0;
    const std::size_t place = what.find("at line ");
    if (place != std::string::npos &&
        std::sscanf(what.c_str() + place, "at line %d, column %d", &at_line, &at_column) == 2) {
      what = what.substr(what.find(": ", place) + 2);
    } else {
      at_line = line();
      at_column = static_cast<int>(read - line_begin_);
      what = what.substr(what.find("] ") + 2);
    }
    // What the parser last read may be anything: out with all that is not plain text.
    for (char& ch : what)
      if (ch < ' ' || ch > '~') ch = '?';
    if (what.size() > 300) what = what.substr(0, 300) + "...";
    throw Error(Exit::usage, out_.source + ":" + std::to_string(at_line) + ":" +
                                 std::to_string(at_column) + ": this is not JSON: " + what);
  }

 private:
  struct Level {
    Json* value;
    std::string prefix;    // of the keys in it: "model." or ""
    std::string full_key;  // the last one read
    Json* slot;            // its value
  };

  int line() {
    for (; counted_ < read; ++counted_) {
      if (*counted_ != '\n') continue;
      ++line_;
      line_begin_ = counted_ + 1;
    }
    return line_;
  }

  [[noreturn]] void fail(const std::string& what) {
    throw Error(Exit::usage, out_.source + ":" + std::to_string(line()) + ": " + what + ".");
  }

  // The value's place: the root, the slot of the last key, or a new array element.
  Json* put(Json value) {
    if (levels_.empty()) {
      *out_.json = std::move(value);
      return out_.json.get();
    }
    Level& level = levels_.back();
    if (level.value->is_array()) return &level.value->emplace_back(std::move(value));
    *level.slot = std::move(value);
    return level.slot;
  }
  bool add(Json value) {
    put(std::move(value));
    return true;
  }
  bool open(Json empty) {
    if (levels_.size() == kMaxDepth) fail("this is nested too deeply");
    // Objects in a list are numbered, so that their keys are not taken for duplicates.
    std::string prefix;
    if (!levels_.empty()) {
      const Level& level = levels_.back();
      prefix = level.value->is_array() ? level.prefix + std::to_string(level.value->size()) + "."
                                       : level.full_key + ".";
    }
    Json* value = put(std::move(empty));
    levels_.push_back({value, std::move(prefix), "", nullptr});
    return true;
  }
  bool close() {
    levels_.pop_back();
    return true;
  }

  const char* begin_;
  const char* counted_;
  const char* line_begin_ = begin_;
  int line_ = 1;
  JsonText& out_;
  std::vector<Level> levels_;
};

}  // namespace

std::string shown(const Json& value) {
  const std::string out = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return out.size() <= 80 ? out : out.substr(0, 76) + " ...";
}

JsonText::JsonText(Json value, std::string name)
    : json(std::make_unique<Json>(std::move(value))), source(std::move(name)) {}
JsonText::JsonText(JsonText&&) noexcept = default;
JsonText& JsonText::operator=(JsonText&&) noexcept = default;
JsonText::~JsonText() = default;

std::string JsonText::where(std::string_view full_key) const {
  for (;;) {
    if (auto place = places.find(full_key); place != places.end()) return place->second;
    const std::size_t dot = full_key.rfind('.');
    if (dot == std::string_view::npos) return source;
    full_key = full_key.substr(0, dot);
  }
}

JsonText parse_json(std::string_view text, const std::string& source) {
  if (text.size() > kMaxBytes)
    throw Error(Exit::usage, source + ": this is longer than " + std::to_string(kMaxBytes / 1024) +
                                 " KB, which no config is.");
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw Error(Exit::usage, source + ": the file is empty; expected a JSON object.");
  JsonText out(nullptr, source);
  Builder builder(text, out);
  const char* end = text.data() + text.size();
  Json::sax_parse(Cursor{text.data(), &builder.read}, Cursor{end, &builder.read}, &builder,
                  Json::input_format_t::json, true, true);
  return out;
}

JsonText read_json_file(const std::string& path) {
  return parse_json(read_file(path, kMaxBytes, InputFile::Allow::link, Exit::usage), path);
}

}  // namespace heed
