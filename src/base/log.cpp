#include "base/log.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/utf8.h"

namespace heed {
namespace {

// A terminal that has gone away must not stop a run: failures are ignored.
void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

constexpr std::string_view kQuoted = "  | ";  // begins a line of a model's text

}  // namespace

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

Log::Log(const LogOptions& options) : fd_(options.fd), quiet_(options.quiet) {
  const char* term = std::getenv("TERM");
  terminal_ = ::isatty(fd_) == 1;
  const bool capable = terminal_ && term && std::string_view(term) != "dumb";
  bar_ = capable && !quiet_;
  const char* no_colour = std::getenv("NO_COLOR");
  colour_ = capable && !(no_colour && *no_colour);
}

Log::~Log() {
  end_progress();
}

void Log::open_file(const std::string& path) {
  refuse_link_or_pipe(path);
  file_ = std::ofstream(path, std::ios::app);
  if (!file_) throw_file_error("write the log", path, errno);
  path_ = path;
  for (const std::string& line : std::exchange(earlier_, {})) only_file(line);
}

void Log::only_file(std::string_view line) {
  const std::lock_guard<std::mutex> lock(file_mutex_);
  if (path_.empty()) {
    earlier_.emplace_back(line);
    return;
  }
  file_ << printable_lines(line) << std::endl;
  if (!file_ && !std::exchange(warned_, true))
    show("warning: the log file " + path_ + " cannot be written", Look::warning);
  file_.clear();
}

// Lines quote file names and other people's text, and a terminal obeys control characters.
void Log::show(std::string_view text, Look look) {
  if (quiet_ && look != Look::warning) return;
  std::string line = printable_lines(text);
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool fields = look == Look::fields || look == Look::good_fields;
  if (terminal_)
    line = fields ? fitting_fields(line, terminal_width(fd_))
                  : wrapped(line, terminal_width(fd_), line.starts_with(kQuoted) ? kQuoted : "  ");
  if (colour_ && look == Look::warning) line = "\x1b[33m" + line + "\x1b[0m";
  if (colour_ && look == Look::good_fields)
    line = line.insert(line.rfind("| ") + 2, "\x1b[32m") + "\x1b[0m";
  write_all(fd_, (drawn_.empty() ? "" : "\r\x1b[K") + line + "\n" + drawn_);
}

void Log::write(std::string_view line, Look look) {
  show(line, look);
  only_file(line);
}

void Log::info(std::string_view line) {
  write(line, Look::plain);
}

void Log::warn(std::string_view line) {
  write("warning: " + std::string(line), Look::warning);
}

void Log::fields(std::string_view line, bool good) {
  write(line, good ? Look::good_fields : Look::fields);
}

void Log::erase_bar() {
  if (!drawn_.empty()) write_all(fd_, "\r\x1b[K");
  drawn_.clear();
}

void Log::progress(const Progress& progress) {
  if (!bar_) return;
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!drawn_.empty() && now - drawn_at_ < std::chrono::milliseconds(100)) return;
  const int width = terminal_width(fd_);
  if (width < 40) return erase_bar();
  drawn_at_ = now;
  drawn_ = progress_line(progress, width);
  write_all(fd_, "\r" + drawn_ + "\x1b[K");
}

void Log::end_progress() {
  const std::lock_guard<std::mutex> lock(mutex_);
  erase_bar();
}

}  // namespace heed
