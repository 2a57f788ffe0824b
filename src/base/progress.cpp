#include "base/progress.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/format.h"

namespace heed {
std::string progress_line(const Progress& p, int width) {
  constexpr int kBar = 12;  // at least this many columns for "[====>    ] "
  const std::size_t room = static_cast<std::size_t>(std::max(width - 1, 0));
  std::string text =
      p.total > 0 ? fmt::format("{}/{}", p.done, p.total) : fmt::format("{}", p.done);
  const std::string eta = p.eta_seconds < 0 ? "" : " | eta " + format_duration(p.eta_seconds);
  const std::string status = p.status.empty() ? "" : " | " + p.status;
  const std::size_t bar = p.total > 0 ? kBar : 0;
  if (bar + text.size() + status.size() + eta.size() <= room)
    text += status + eta;
  else if (bar + text.size() + eta.size() <= room)
    text += eta;
  if (p.total <= 0 || text.size() + kBar > room) return text.substr(0, room);

  const std::size_t cells = std::min<std::size_t>(room - text.size() - 3, 40);
  const double share =
      std::clamp(static_cast<double>(p.done) / static_cast<double>(p.total), 0., 1.);
  const auto full = static_cast<std::size_t>(share * static_cast<double>(cells));
  const std::string done = std::string(full, '=') + (full < cells ? ">" : "");
  return fmt::format("[{:<{}}] {}", done, cells, text);
}

std::string fitting_fields(std::string_view line, int width) {
  constexpr std::string_view kBetween = " | ";
  std::string out(line);
  std::size_t end = out.rfind(kBetween);  // of the next field that may be dropped
  while (out.size() > static_cast<std::size_t>(width) && end != std::string::npos && end > 0) {
    const std::size_t begin = out.rfind(kBetween, end - 1);
    if (begin == std::string::npos) break;
    if (!out.substr(begin).starts_with(" | loss ")) out.erase(begin, end - begin);
    end = begin;
  }
  return out;
}

}  // namespace heed
