#include "config/fields.h"

#include <algorithm>

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
