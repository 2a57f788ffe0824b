// "Did you mean": the known name nearest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

// Single insertions, deletions, replacements and swaps of neighbours that turn one into the other.
int edit_distance(std::string_view a, std::string_view b);

// The nearest name that is near enough to be meant (at most a third of the letters differ, case
// aside), or "".
std::string nearest(std::string_view name, const std::vector<std::string>& names);

}  // namespace heed
