// Numbers, words and errors formatted for people to read.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace heed {

std::string format_fixed(double x, int digits);  // "1.8231", "inf"; "-": NaN, there is none
std::string format_rate(double per_second);      // "48.2k", "930", "1.3M"
std::string format_duration(double seconds);     // "9s", "1m12s", "2h05m", "3d04h"
std::string format_count(std::int64_t n);        // "1,234,567"
std::string format_bytes(double bytes);          // "512 B", "3.4 KiB", "350 MiB"

// "1 character", "1,234 characters"; n is formatted
std::string counted(const std::string& n, const std::string& what);

// "a, b, c"
std::string joined(const std::vector<std::string>& parts, const std::string& between = ", ");
// "a, b and c"
std::string listed(std::vector<std::string> parts, const std::string& before_last = "and");

// The same with at most five parts: "a, b, c, d, e and 9 more"
std::string some_of(std::vector<std::string> parts);

// Replaces every `from`, which is not empty, with `to`.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

// A word for a shell command, quoted if necessary.
std::string shell_word(const std::string& word);

// The columns of the terminal `fd` is, or 80.
int terminal_width(int fd);

// Breaks each line of the text that is wider; what follows a break begins with `hang`. A command to
// copy, "  heed ...", stays whole, and so does a word without spaces.
std::string wrapped(std::string_view text, int width, std::string_view hang = "");

// An Error with a formatted text: throw usage_error("{} has no {}.", a, b).hint("heed --help").
template <class... Args>
Error usage_error(fmt::format_string<Args...> text, Args&&... args) {
  return {Exit::usage, fmt::format(text, std::forward<Args>(args)...)};
}
template <class... Args>
Error data_error(fmt::format_string<Args...> text, Args&&... args) {
  return {Exit::data, fmt::format(text, std::forward<Args>(args)...)};
}
template <class... Args>
Error store_error(fmt::format_string<Args...> text, Args&&... args) {
  return {Exit::store, fmt::format(text, std::forward<Args>(args)...)};
}

}  // namespace heed
