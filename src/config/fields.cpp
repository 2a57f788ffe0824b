#include "config/fields.h"

#include <algorithm>

namespace heed {
namespace {

void collect(const std::vector<Field>& fields, const std::string& prefix, std::vector<Leaf>& out) {
  for (const Field& field : fields)
    if (const auto* section = section_of(field))
      collect(*section, prefix + field.key + ".", out);
    else
      out.push_back({prefix + field.key, &field});
}

}  // namespace

Choice choice(std::string& value, std::vector<std::string> names) {
  return {names, [&value, names] { return std::ranges::find(names, value) - names.begin(); },
          [&value, names](int i) { value = names[i]; }};
}

std::vector<Leaf> leaves(const std::vector<Field>& fields) {
  std::vector<Leaf> out;
  collect(fields, "", out);
  return out;
}

}  // namespace heed
