// Numbers, words and errors formatted for people to read.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/std_names.h"

namespace heed {

string format_fixed(double x, int digits);  // "1.8231", "inf"; "-": NaN, there is none
string format_rate(double per_second);      // "48.2k", "930", "1.3M"
string format_duration(double seconds);     // "9s", "1m12s", "2h05m", "3d04h"
string format_count(int64_t n);             // "1,234,567"
string format_bytes(double bytes);          // "512 B", "3.4 KiB", "350 MiB"
string date_and_time();                     // now: "2026-11-22T14:03:05+0100"

// To so many digits.
double rounded_to(double x, int digits);

// "1 character", "1,234 characters"; n is formatted
string counted(const string& n, const string& what);

// What stands between the separators: "a", "" and "b" of "a,,b"
vector<string_view> split(string_view text, char separator);
// "a, b, c"
string joined(const vector<string>& parts, const string& between = ", ");
// "a, b and c"
string listed(vector<string> parts, const string& before_last = "and");

// The same with at most five parts: "a, b, c, d, e and 9 more"
string some_of(vector<string> parts);
// What is said of lines that begin or end with white space, which are named.
string spaced_in_words(const vector<string>& names);

// Replaces every `from`, which is not empty, with `to`.
string replace_all(string_view text, string_view from, string_view to);

// A word for a shell command, quoted if necessary.
string shell_word(const string& word);

// The columns of the terminal `fd` is, or 80.
int terminal_width(int fd);

// Breaks each line of the text that is wider; what follows a break begins with `hang`. A command to
// copy, "  heed ...", stays whole, and so does a word without spaces.
string wrapped(string_view text, int width, string_view hang = "");

// An Error with a formatted text: throw usage_error("{} has no {}.", a, b).hint("heed --help").
template <Exit exit>
struct ErrorWith {
  template <class... Args>
  Error operator()(fmt::format_string<Args...> text, Args&&... args) const {
    return {exit, fmt::format(text, std::forward<Args>(args)...)};
  }
};
inline constexpr ErrorWith<Exit::usage> usage_error{};
inline constexpr ErrorWith<Exit::data> data_error{};
inline constexpr ErrorWith<Exit::store> store_error{};

}  // namespace heed
