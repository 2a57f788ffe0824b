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

bool uses(const std::vector<KindDoc>& kinds, const std::string& name, const std::string& key) {
  return std::ranges::any_of(
      kinds, [&](const KindDoc& kind) { return kind.name == name && kind.uses(key); });
}

std::string users(const std::vector<KindDoc>& kinds, const std::string& key) {
  std::string text;
  for (const KindDoc& kind : kinds)
    if (kind.uses(key)) text += (text.empty() ? "" : ", ") + kind.name;
  return text;
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
