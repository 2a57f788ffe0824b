#include "base/wrap.h"

#include <sys/ioctl.h>

#include <algorithm>

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
