#include <algorithm>

#include "base/format.h"
#include "base/log.h"

namespace heed {

std::string progress_line(const Progress& p, int width) {
  constexpr int kBar = 12;  // at least so many columns for "[====>    ] "
  const std::size_t room = static_cast<std::size_t>(std::max(width - 1, 0));
  std::string text = std::to_string(p.done);
  if (p.total > 0) text += "/" + std::to_string(p.total);
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
  std::string line = "[" + std::string(full, '=');
  if (full < cells) line += ">" + std::string(cells - full - 1, ' ');
  return line + "] " + text;
}

}  // namespace heed
