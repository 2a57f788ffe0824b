#include "base/log.h"

#include <fmt/core.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <mutex>

#include "base/error.h"
#include "base/files.h"
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

bool set_in_environment(const char* name) {
  const char* value = std::getenv(name);
  return value && *value;
}

int terminal_width(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::unique_ptr<spdlog::formatter> plain_lines() {
  return std::make_unique<spdlog::pattern_formatter>("%v", spdlog::pattern_time_type::local, "\n");
}

}  // namespace

// Lines and the bar share one file descriptor and one lock (the sink's).
class Log::Terminal : public spdlog::sinks::base_sink<std::mutex> {
 public:
  Terminal(int fd, bool bar) : base_sink(plain_lines()), fd_(fd) {
    const char* term = std::getenv("TERM");
    const bool capable = ::isatty(fd) && term && std::string_view(term) != "dumb";
    bar_ = capable && bar;
    colour_ = capable && !set_in_environment("NO_COLOR");
  }

  void draw(const Progress& progress) {
    if (!bar_) return;
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!line_.empty() && now - drawn_ < std::chrono::milliseconds(100)) return;
    const int width = terminal_width(fd_);
    if (width < 40) return erase();
    drawn_ = now;
    line_ = progress_line(progress, width);
    write_all(fd_, "\r" + line_ + "\x1b[K");
  }

  void end() {
    const std::lock_guard<std::mutex> lock(mutex_);
    erase();
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& msg) override {
    spdlog::memory_buf_t formatted;
    formatter_->format(msg, formatted);
    std::string out = line_.empty() ? "" : "\r\x1b[K";
    const bool yellow = colour_ && msg.level >= spdlog::level::warn;
    if (yellow) out += "\x1b[33m";
    out.append(formatted.data(), formatted.size());
    if (yellow) out.insert(out.size() - 1, "\x1b[0m");
    write_all(fd_, out + line_);
  }
  void flush_() override {}

 private:
  void erase() {
    if (!line_.empty()) write_all(fd_, "\r\x1b[K");
    line_.clear();
  }

  int fd_;
  bool bar_, colour_;
  std::string line_;  // the bar on the screen; empty: none
  std::chrono::steady_clock::time_point drawn_;
};

// Two loggers, so that a full disk does not stop lines to the terminal.
struct Log::Loggers {
  explicit Loggers(const LogOptions& options)
      : terminal(std::make_shared<Terminal>(options.fd, !options.quiet)), screen("", terminal) {
    screen.set_level(options.quiet ? spdlog::level::warn : spdlog::level::info);
  }
  // Lines hold names of files and texts of others, and a terminal obeys control characters.
  void write(spdlog::level::level_enum level, std::string_view line) {
    const std::string text = printable_lines(line);
    const spdlog::string_view_t view(text);
    screen.log(level, view);
    if (file) file->log(level, view);
  }

  std::shared_ptr<Terminal> terminal;  // spdlog shares its sinks
  spdlog::logger screen;
  std::unique_ptr<spdlog::logger> file;
  std::atomic<bool> warned = false;
};

Log::Log(const LogOptions& options) : loggers_(std::make_unique<Loggers>(options)) {}

Log::~Log() {
  end_progress();
}

void Log::open_file(const std::string& path) {
  refuse_link_or_pipe(path);
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    sink->set_formatter(plain_lines());
    auto file = std::make_unique<spdlog::logger>("", std::move(sink));
    file->flush_on(spdlog::level::info);
    file->set_error_handler([this](const std::string& what) {
      if (loggers_->warned.exchange(true)) return;
      loggers_->screen.warn(
          spdlog::string_view_t(printable_lines("warning: the log file: " + what)));
    });
    loggers_->file = std::move(file);
  } catch (const spdlog::spdlog_ex& e) {
    throw Error(Exit::store, fmt::format("cannot write the log {}: {}.", path, e.what()));
  }
}

void Log::info(std::string_view line) {
  loggers_->write(spdlog::level::info, line);
}

void Log::warn(std::string_view line) {
  loggers_->write(spdlog::level::warn, "warning: " + std::string(line));
}

void Log::only_file(std::string_view line) {
  if (loggers_->file) loggers_->file->info(spdlog::string_view_t(printable_lines(line)));
}

void Log::progress(const Progress& progress) {
  loggers_->terminal->draw(progress);
}

void Log::end_progress() {
  loggers_->terminal->end();
}

}  // namespace heed
