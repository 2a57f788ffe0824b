// The fields of a config struct, listed once.
//
// Each config struct has a function `std::vector<Field> fields(ThatConfig&)` that lists its keys in
// order, each with a pointer to the member, one line of documentation, a range, whether it may
// change on resume, and where it has meaning. Reading, dumping, --set, the JSON Schema and the
// table of keys all use this list (fields_json.h); nothing about a key is written
// anywhere else.
//
// A list points into the struct it was made from and must not outlive it. Some entries depend on
// the values (`when`), so make a new list after values have changed: it is cheap.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/std_names.h"

namespace heed {

// How often something happens. 0: only at the end.
struct Interval {
  int64_t count = 0;
  bool epochs = false;  // count is epochs, else steps
  bool operator==(const Interval&) const = default;
};

// A step of the run, or "end": where the run ends, wherever that is.
struct StepOrEnd {
  int64_t step = 0;     // 0: not known yet
  bool at_end = false;  // `step` follows the end
  constexpr StepOrEnd(int64_t s = 0, bool end = false) : step(s), at_end(end) {}
  operator int64_t() const { return step; }
};

// One or more files, read in order. Empty: not given.
struct PathList {
  vector<string> paths;
  bool as_list = false;  // written as a JSON list, and dumped as one even if it has one path
  bool empty() const { return paths.empty(); }
  bool operator==(const PathList&) const = default;
};

struct Range {
  double min = -INFINITY;
  double max = INFINITY;
  bool open_min = false;  // min itself is excluded
  bool open_max = false;
  bool contains(double x) const {
    return (open_min ? x > min : x >= min) && (open_max ? x < max : x <= max);
  }
};
inline constexpr Range kAny{};
inline constexpr Range kFraction{0.0, 1.0, false, true};  // [0, 1)
constexpr Range between(double min, double max) {
  return {min, max};
}
constexpr Range above(double min, double max) {  // (min, max]
  return {min, max, true};
}

// Would another value have changed the finished steps?
enum class OnResume {
  refused,        // yes: it would be another run
  allowed,        // no: the new value applies from now on, with a message
  if_rates_stay,  // no, if they keep their learning rates
};

// An enumeration, as the names of its values 0, 1, 2, ...; "true" and "false" stand for booleans.
struct Choice {
  vector<string> names;
  function<int()> get;
  function<void(int)> set;
};

template <class E>
Choice choice(E& value, vector<string> names) {
  return {std::move(names), [&value] { return int(value); }, [&value](int i) { value = E(i); }};
}

// The same for a string that is one of the names.
Choice choice(string& value, vector<string> names);

// A row of a table whose names are the values of a key (objectives, optimizers, schedules), as far
// as the documentation of the keys needs it.
struct KindDoc {
  string name, text;                  // text: what it is, or "" if the name says it
  vector<string> keys;                // keys of its section that it uses and some other rows do not
  map<string, double> defaults = {};  // of keys whose default is not the same in all rows

  bool uses(const string& key) const { return ranges::count(keys, key) > 0; }
};
template <class Kind>  // with a `doc`
vector<KindDoc> docs(const vector<Kind>& kinds) {
  return mapped(kinds, &Kind::doc);
}
// The row of that name, which there is.
template <class Kind>
const Kind& kind_named(const vector<Kind>& kinds, const string& name) {
  return *ranges::find(kinds, name, [](const Kind& kind) { return kind.doc.name; });
}
// Those of the rows, or of the rows that use a key.
vector<string> names(const vector<KindDoc>& kinds, const string& key = "");
string meanings(const vector<KindDoc>& kinds);  // "NAME: TEXT; NAME: TEXT"
// "0 (sgd), 0.95 (muon)"
string defaults(const vector<KindDoc>& kinds, const string& key);

// Where a key has meaning.
struct When {
  string where;         // "optimizer.type sgd, muon"
  string why_not = "";  // why it has none now: "optimizer.type is adam"; "": it has
  bool dumped = true;   // even if it has none
};
// Where the value of a key, an enumeration, is one of `names`.
When among(const string& key, const Choice& value, const vector<string>& names, bool dumped = true);

struct Field {
  using Section = vector<Field>;
  using Ref = std::variant<bool*, int*, int64_t*, uint64_t*, double*, string*, PathList*,
                           array<double, 2>*, Interval*, StepOrEnd*, Choice, Section>;
  string key;
  Ref ref;
  string doc;
  Range range = kAny;  // of numbers, and of both numbers of a pair
  OnResume on_resume = OnResume::refused;
  // The default in words ("as model.dropout"), if it is not the struct's initial value. That value
  // then means "not given" and may be out of range.
  string default_note = "";
  vector<When> when = {};  // it has meaning where all of these hold
  bool dumped = true;
};

// The field, which is dumped only if it is `given`.
inline Field dumped_if(bool given, Field field) {
  field.dumped = given;
  return field;
}

// The field, or the fields of a section, with one more condition.
Field only(const When& when, Field field);
Field::Section only(const When& when, Field::Section fields);

// Its documentation: "optimizer.type sgd, muon: of the gradient", where it has meaning first.
string meaning(const Field& field);
// The first condition that does not hold; null: the key has meaning.
const When* unmet(const Field& field);
bool is_dumped(const Field& field);

// The fields of a section, or null if the field is not a section.
inline const Field::Section* section_of(const Field& field) {
  return std::get_if<Field::Section>(&field.ref);
}

// The fields with their full keys ("model.d_model"), in order.
struct Leaf {
  string key;
  Field field;
};
vector<Leaf> fields_and_sections(const vector<Field>& fields);
vector<Leaf> leaves(const vector<Field>& fields);  // those that are not sections

// The full keys that somebody wrote, and where: "a.json:12", "--set model.d_model=x".
using Places = map<string, string, std::less<>>;

// A key whose value differs between two lists of the same struct.
struct KeyChange {
  string key, before, after;  // full key; values as JSON, "" if the key is not dumped
  OnResume on_resume;
};
string in_words(const KeyChange& change);  // "model.norm from "pre" to "post""

}  // namespace heed
