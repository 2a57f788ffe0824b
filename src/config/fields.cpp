#include "config/fields.h"

#include <algorithm>
#include <sstream>

namespace heed {
namespace {

void collect(const std::vector<Field>& fields, const std::string& prefix, std::vector<Leaf>& out) {
  for (const Field& field : fields) {
    out.push_back({prefix + field.key, &field});
    if (const auto* section = section_of(field)) collect(*section, prefix + field.key + ".", out);
  }
}

std::string together(const std::vector<std::string>& parts, const std::string& between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

}  // namespace

Choice choice(std::string& value, std::vector<std::string> names) {
  return {names, [&value, names] { return std::ranges::find(names, value) - names.begin(); },
          [&value, names](int i) { value = names[i]; }};
}

std::vector<std::string> names(const std::vector<KindDoc>& kinds) {
  std::vector<std::string> all;
  for (const KindDoc& kind : kinds) all.push_back(kind.name);
  return all;
}

std::string meanings(const std::vector<KindDoc>& kinds) {
  std::string text;
  for (const KindDoc& kind : kinds)
    if (!kind.text.empty()) text += (text.empty() ? "" : "; ") + kind.name + ": " + kind.text;
  return text;
}

std::vector<std::string> users(const std::vector<KindDoc>& kinds, const std::string& key) {
  std::vector<std::string> names;
  for (const KindDoc& kind : kinds)
    if (kind.uses(key)) names.push_back(kind.name);
  return names;
}

std::string defaults(const std::vector<KindDoc>& kinds, const std::string& key) {
  std::map<double, std::string> rows;  // that have this default
  for (const KindDoc& kind : kinds)
    if (const auto found = kind.defaults.find(key); found != kind.defaults.end()) {
      std::string& of = rows[found->second];
      of += (of.empty() ? "" : ", ") + kind.name;
    }
  std::ostringstream text;
  for (const auto& [value, names] : rows)
    text << (text.view().empty() ? "" : ", ") << value << " (" << names << ")";
  return text.str();
}

When among(const std::string& key, const Choice& value, const std::vector<std::string>& names,
           bool dumped) {
  const std::string& now = value.names[value.get()];
  const bool holds = std::ranges::count(names, now) > 0;
  return {key + " " + together(names, ", "), holds ? "" : key + " is " + now, dumped};
}

Field only(const When& when, Field field) {
  field.when.push_back(when);
  return field;
}

Field::Section only(const When& when, Field::Section fields) {
  for (Field& field : fields) field = only(when, std::move(field));
  return fields;
}

std::string meaning(const Field& field) {
  std::vector<std::string> all;
  for (const When& when : field.when) all.push_back(when.where);
  return all.empty() ? field.doc : together(all, "; ") + ": " + field.doc;
}

const When* unmet(const Field& field) {
  const auto found =
      std::ranges::find_if(field.when, [](const When& w) { return !w.why_not.empty(); });
  return found == field.when.end() ? nullptr : &*found;
}

bool is_dumped(const Field& field) {
  return std::ranges::all_of(field.when,
                             [](const When& w) { return w.dumped || w.why_not.empty(); });
}

std::vector<Leaf> fields_and_sections(const std::vector<Field>& fields) {
  std::vector<Leaf> out;
  collect(fields, "", out);
  return out;
}

std::vector<Leaf> leaves(const std::vector<Field>& fields) {
  std::vector<Leaf> out = fields_and_sections(fields);
  std::erase_if(out, [](const Leaf& leaf) { return section_of(*leaf.field); });
  return out;
}

std::string in_words(const KeyChange& change) {
  return change.key + " from " + change.before + " to " + change.after;
}

}  // namespace heed
