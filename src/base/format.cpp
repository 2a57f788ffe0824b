#include "base/format.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>

#include "base/std_names.h"
#include "base/utf8.h"

namespace heed {
namespace {

string wrapped_line(string_view line, int width, string_view hang) {
  string out, row;
  if (line.starts_with("  heed ")) return string(line);
  for (size_t at = 0; at < line.size();) {
    const size_t word = min(line.find_first_not_of(' ', at), line.size());
    const size_t end = min(line.find(' ', word), line.size());
    const bool first = row.empty() || row == hang;
    if (!first && columns_of(row) + columns_of(line.substr(at, end - at)) > width) {
      out += row + "\n";
      row = string(hang) + string(line.substr(word, end - word));
    } else {
      row += line.substr(at, end - at);
    }
    at = end;
  }
  return out + row;
}

}  // namespace

string format_fixed(double x, int digits) {
  return isnan(x) ? "-" : fmt::format("{:.{}f}", x, digits);
}

string format_rate(double x) {
  if (x < 999.5) return format_fixed(x, 0);
  if (x < 999'950) return format_fixed(x / 1e3, 1) + "k";
  if (x < 999'950'000) return format_fixed(x / 1e6, 1) + "M";
  return format_fixed(x / 1e9, 1) + "G";
}

string format_duration(double seconds) {
  if (!(seconds >= 0) || seconds > 1e11) return "?";
  const int64_t s = llround(seconds);
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  if (s < 86'400) return fmt::format("{}h{:02}m", s / 3600, s % 3600 / 60);
  return fmt::format("{}d{:02}h", s / 86'400, s % 86'400 / 3600);
}

string format_count(int64_t n) {
  string out = to_string(n);
  const size_t first = n < 0 ? 1 : 0;
  for (size_t i = out.size(); i > first + 3; i -= 3) out.insert(i - 3, ",");
  return out;
}

string format_bytes(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1023.5 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return format_fixed(bytes, unit > 0 && bytes < 9.95 ? 1 : 0) + " " + units[unit];
}

string date_and_time() {
  return fmt::format("{:%FT%T%z}", fmt::localtime(std::time(nullptr)));
}

double rounded_to(double x, int digits) {
  return std::strtod(fmt::format("{:.{}g}", x, digits).c_str(), nullptr);
}

string counted(const string& n, const string& what) {
  return n + " " + what + (n == "1" ? "" : "s");
}

vector<string_view> split(string_view text, char separator) {
  vector<string_view> parts;
  for (size_t end; (end = text.find(separator)) != text.npos; text.remove_prefix(end + 1))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

string joined(const vector<string>& parts, const string& between) {
  return fmt::format("{}", fmt::join(parts, between));
}

string listed(vector<string> parts, const string& before_last) {
  if (parts.size() < 2) return joined(parts);
  const string last = parts.back();
  parts.pop_back();
  return joined(parts) + " " + before_last + " " + last;
}

string some_of(vector<string> parts) {
  constexpr size_t kMost = 5;
  if (parts.size() > kMost) {
    const size_t more = parts.size() - kMost;
    parts.resize(kMost);
    parts.push_back(fmt::format("{} more", more));
  }
  return listed(parts);
}

string spaced_in_words(const vector<string>& names) {
  return "white space at an end of a line is read too, and may change what comes out: " +
         some_of(names);
}

string replace_all(string_view text, string_view from, string_view to) {
  string out;
  size_t at = 0;
  for (size_t next; (next = text.find(from, at)) != text.npos; at = next + from.size())
    out.append(text, at, next - at).append(to);
  return out.append(text, at);
}

string shell_word(const string& word) {
  if (!word.empty() && word.find_first_of(" \t\n'\"\\$`*?&|;<>(){}[]#~!") == string::npos)
    return word;
  return "'" + replace_all(word, "'", "'\\''") + "'";
}

int terminal_width(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

string wrapped(string_view text, int width, string_view hang) {
  vector<string> lines;
  for (const string_view line : split(text, '\n')) lines.push_back(wrapped_line(line, width, hang));
  return joined(lines, "\n");
}

}  // namespace heed
