#include "base/format.h"

#include <fmt/core.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.h"

namespace heed {
namespace {

std::string wrapped_line(std::string_view line, int width, std::string_view hang) {
  std::string out, row;
  if (line.starts_with("  heed ")) return std::string(line);
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t word = std::min(line.find_first_not_of(' ', at), line.size());
    const std::size_t end = std::min(line.find(' ', word), line.size());
    const bool first = row.empty() || row == hang;
    if (!first && columns_of(row) + columns_of(line.substr(at, end - at)) > width) {
      out += row + "\n";
      row = std::string(hang) + std::string(line.substr(word, end - word));
    } else {
      row += line.substr(at, end - at);
    }
    at = end;
  }
  return out + row;
}

}  // namespace

std::string format_fixed(double x, int digits) {
  return std::isnan(x) ? "-" : fmt::format("{:.{}f}", x, digits);
}

std::string format_rate(double x) {
  if (x < 999.5) return format_fixed(x, 0);
  if (x < 999'950) return format_fixed(x / 1e3, 1) + "k";
  if (x < 999'950'000) return format_fixed(x / 1e6, 1) + "M";
  return format_fixed(x / 1e9, 1) + "G";
}

std::string format_duration(double seconds) {
  if (!(seconds >= 0) || seconds > 1e11) return "?";
  const std::int64_t s = std::llround(seconds);
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  if (s < 86'400) return fmt::format("{}h{:02}m", s / 3600, s % 3600 / 60);
  return fmt::format("{}d{:02}h", s / 86'400, s % 86'400 / 3600);
}

std::string format_count(std::int64_t n) {
  std::string out = std::to_string(n);
  const std::size_t first = n < 0 ? 1 : 0;
  for (std::size_t i = out.size(); i > first + 3; i -= 3) out.insert(i - 3, ",");
  return out;
}

std::string format_bytes(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1023.5 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return format_fixed(bytes, unit > 0 && bytes < 9.95 ? 1 : 0) + " " + units[unit];
}

std::string counted(const std::string& n, const std::string& what) {
  return n + " " + what + (n == "1" ? "" : "s");
}

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) out += (i == 0 ? "" : between) + parts[i];
  return out;
}

std::string listed(std::vector<std::string> parts, const std::string& before_last) {
  if (parts.size() < 2) return joined(parts);
  const std::string last = std::move(parts.back());
  parts.pop_back();
  return joined(parts) + " " + before_last + " " + last;
}

std::string some_of(std::vector<std::string> parts) {
  constexpr std::size_t kMost = 5;
  if (parts.size() > kMost) {
    const std::size_t more = parts.size() - kMost;
    parts.resize(kMost);
    parts.push_back(fmt::format("{} more", more));
  }
  return listed(std::move(parts));
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t next; (next = text.find(from, at)) != text.npos; at = next + from.size())
    out.append(text, at, next - at).append(to);
  return out.append(text, at);
}

std::string shell_word(const std::string& word) {
  if (!word.empty() && word.find_first_of(" \t\n'\"\\$`*?&|;<>(){}[]#~!") == std::string::npos)
    return word;
  return "'" + replace_all(word, "'", "'\\''") + "'";
}

int terminal_width(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string wrapped(std::string_view text, int width, std::string_view hang) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += wrapped_line(text.substr(at, end - at), width, hang);
    if (end == text.size()) return out;
    out += "\n";
    at = end + 1;
  }
}

}  // namespace heed
