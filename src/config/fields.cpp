#include "config/fields.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/format.h"
#include "base/std_names.h"

namespace heed {
namespace {

void collect(const vector<Field>& fields, const string& prefix, vector<Leaf>& out) {
  for (const Field& field : fields) {
    out.push_back({prefix + field.key, field});
    if (const auto* section = section_of(field)) collect(*section, prefix + field.key + ".", out);
  }
}

}  // namespace

Choice choice(string& value, vector<string> names) {
  return {names, [&value, names] { return ranges::find(names, value) - names.begin(); },
          [&value, names](int i) { value = names[i]; }};
}

vector<string> names(const vector<KindDoc>& kinds, const string& key) {
  vector<string> all;
  for (const KindDoc& kind : kinds)
    if (key.empty() || kind.uses(key)) all.push_back(kind.name);
  return all;
}

string meanings(const vector<KindDoc>& kinds) {
  vector<string> all;
  for (const KindDoc& kind : kinds)
    if (!kind.text.empty()) all.push_back(kind.name + ": " + kind.text);
  return joined(all, "; ");
}

string defaults(const vector<KindDoc>& kinds, const string& key) {
  map<double, vector<string>> rows;  // that have this default
  for (const KindDoc& kind : kinds)
    if (const auto found = kind.defaults.find(key); found != kind.defaults.end())
      rows[found->second].push_back(kind.name);
  return joined(mapped(rows, [](const auto& row) {
    return fmt::format("{:g} ({})", row.first, joined(row.second));
  }));
}

When among(const string& key, const Choice& value, const vector<string>& names, bool dumped) {
  const string& now = value.names[value.get()];
  const bool holds = ranges::count(names, now) > 0;
  return {key + " " + joined(names), holds ? "" : key + " is " + now, dumped};
}

Field only(const When& when, Field field) {
  field.when.push_back(when);
  return field;
}

Field::Section only(const When& when, Field::Section fields) {
  for (Field& field : fields) field = only(when, std::move(field));
  return fields;
}

string meaning(const Field& field) {
  const string where = joined(mapped(field.when, &When::where), "; ");
  return where.empty() ? field.doc : where + ": " + field.doc;
}

const When* unmet(const Field& field) {
  const auto found = ranges::find_if(field.when, [](const When& w) { return !w.why_not.empty(); });
  return found == field.when.end() ? nullptr : &*found;
}

bool is_dumped(const Field& field) {
  return field.dumped &&
         ranges::all_of(field.when, [](const When& w) { return w.dumped || w.why_not.empty(); });
}

vector<Leaf> fields_and_sections(const vector<Field>& fields) {
  vector<Leaf> out;
  collect(fields, "", out);
  return out;
}

vector<Leaf> leaves(const vector<Field>& fields) {
  vector<Leaf> out = fields_and_sections(fields);
  erase_if(out, [](const Leaf& leaf) { return section_of(leaf.field); });
  return out;
}

string in_words(const KeyChange& change) {
  return change.key + " from " + change.before + " to " + change.after;
}

}  // namespace heed
