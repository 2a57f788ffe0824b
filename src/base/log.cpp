#include "base/log.h"

#include <fmt/core.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/profile.h"
#include "base/std_names.h"
#include "base/utf8.h"

namespace heed {
namespace {

// A terminal that has gone away must not stop a run: failures are ignored.
void write_all(int fd, string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(size_t(n));
  }
}

constexpr string_view kQuoted = "  | ";  // begins a line of a model's text

}  // namespace

string progress_line(const Progress& p, int width) {
  constexpr size_t kFewest = 9;  // cells of the bar
  const size_t room = size_t(max(width - 1, 0));
  string text = p.total > 0 ? fmt::format("{}/{}", p.done, p.total) : fmt::format("{}", p.done);
  if (p.eta_seconds >= 0) text += " | eta " + format_duration(p.eta_seconds);
  if (p.total <= 0 || text.size() + kFewest + 3 > room) return text.substr(0, room);

  const size_t cells = min<size_t>(room - text.size() - 3, 40);
  const double share = clamp(double(p.done) / double(p.total), 0., 1.);
  const auto full = size_t(share * double(cells));
  const string done = string(full, '=') + (full < cells ? ">" : "");
  return fmt::format("[{:<{}}] {}", done, cells, text);
}

// Lines quote file names and other people's text, and a terminal obeys control characters.
struct Log::Outputs {
  explicit Outputs(const LogOptions& options) : fd(options.fd), quiet(options.quiet) {
    const char *term = std::getenv("TERM"), *no_color = std::getenv("NO_COLOR");
    terminal = ::isatty(fd) == 1;
    brief = terminal && options.brief && !quiet;
    const bool capable = terminal && term && string_view(term) != "dumb";
    bar = capable && !quiet;
    colour = capable && !(no_color && *no_color);
  }

  void write_file(string_view line) {
    const std::lock_guard<std::mutex> lock(file_mutex);
    if (file)
      file->info(spdlog::string_view_t(printable(line, true)));
    else
      earlier.push_back(printable(line, true));
  }
  void show(string line, Look look) {
    if (look != Look::warning && (quiet || (brief ? look > Look::brief : look == Look::brief)))
      return;
    const std::lock_guard<std::mutex> lock(mutex);
    if (terminal)
      line = wrapped(line, terminal_width(fd), line.starts_with(kQuoted) ? kQuoted : "  ");
    if (colour && look == Look::warning) line = "\x1b[33m" + line + "\x1b[0m";
    write_all(fd, (drawn.empty() ? "" : "\r\x1b[K") + line + "\n" + drawn);
  }
  void erase() {
    if (!drawn.empty()) write_all(fd, "\r\x1b[K");
    drawn.clear();
  }

  int fd;
  bool quiet, terminal, brief, bar, colour;
  std::mutex mutex;  // of the terminal: lines and the bar share it
  string drawn;      // the bar on the screen; empty: none
  double drawn_at = 0, begun = seconds_now();
  std::mutex file_mutex;
  unique_ptr<spdlog::logger> file;  // its failures do not stop the terminal
  vector<string> earlier;           // lines before it was opened
  bool warned = false;
};

Log::Log(const LogOptions& options) : outputs_(make_unique<Outputs>(options)) {}

Log::~Log() {
  end_progress();
}

void Log::open_file(const string& path) {
  refuse_link_or_pipe(path);
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    sink->set_formatter(
        make_unique<spdlog::pattern_formatter>("%v", spdlog::pattern_time_type::local, "\n"));
    outputs_->file = make_unique<spdlog::logger>("", std::move(sink));
  } catch (const spdlog::spdlog_ex& e) {
    throw store_error("cannot write the log {}: {}.", path, e.what());
  }
  outputs_->file->flush_on(spdlog::level::info);
  outputs_->file->set_error_handler([this](const string& what) {
    if (!exchange(outputs_->warned, true))
      outputs_->show(printable("warning: the log file: " + what, true), Look::warning);
  });
  for (const string& line : exchange(outputs_->earlier, {}))
    outputs_->file->info(spdlog::string_view_t(line));
}

void Log::write(Look look, string_view line) {
  if (look != Look::only_file) outputs_->show(printable(line, true), look);
  if (look != Look::brief) outputs_->write_file(line);
}

bool Log::shows_briefs() const {
  return outputs_->brief;
}

void Log::progress(const Progress& progress) {
  Outputs& to = *outputs_;
  if (!to.bar) return;
  const double now = seconds_now();
  const std::lock_guard<std::mutex> lock(to.mutex);
  if (!to.drawn.empty() && now - to.drawn_at < 0.1) return;
  const int width = terminal_width(to.fd);
  if (width < 40) return to.erase();
  to.drawn_at = now;
  to.drawn = progress_line(progress, width);
  write_all(to.fd, "\r" + to.drawn + "\x1b[K");
}

void Log::share_done(double share) {
  const double gone = seconds_now() - outputs_->begun;
  if (gone < 10 || share <= 0) return;
  progress({int64_t(100 * share), 100, gone * (1 - share) / share});
}

void Log::end_progress() {
  const std::lock_guard<std::mutex> lock(outputs_->mutex);
  outputs_->erase();
}

}  // namespace heed
