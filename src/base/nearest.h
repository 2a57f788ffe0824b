// "Did you mean": the known name nearest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

std::string lower_case(std::string_view text);  // of ASCII letters

// The fewest insertions, deletions, replacements and swaps of neighbours between the two.
int edit_distance(std::string_view a, std::string_view b);

// The nearest name if at most a third of its letters differ (ignoring case), else "".
std::string nearest(std::string_view name, const std::vector<std::string>& names);

// The end of a message: "; did you mean \"near\"?", or a full stop if nothing is near.
std::string did_you_mean(const std::string& near);

}  // namespace heed
