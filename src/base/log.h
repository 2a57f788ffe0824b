// What a run tells: lines to the terminal (standard error) and to a log file, and a progress bar.
//
// The bar is one line, rewritten in place, and only on a terminal of at least 40 columns; log lines
// push it down and never mix with it. Piped output has plain lines and no bar. NO_COLOR in the
// environment takes the colours away. All methods may be called from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace heed {

struct Progress {
  std::int64_t done = 0;
  std::int64_t total = 0;   // 0: not known
  std::string status;       // "loss 1.82 | 48.2k tok/s" (ASCII)
  double eta_seconds = -1;  // below 0: not known
};

// The bar for a terminal of `width` columns, always shorter than that; the status goes first when
// the space is short, then the time.
std::string progress_line(const Progress& progress, int width);

struct LogOptions {
  bool quiet = false;  // the terminal gets warnings only; the file gets everything
  int fd = 2;
};

class Log {
 public:
  explicit Log(const LogOptions& options = {});
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // From now on lines are also appended to this file. Error (Exit::store) if it cannot be opened;
  // later failures to write are warned about once and do not stop the run.
  void open_file(const std::string& path);

  void info(std::string_view line);
  void warn(std::string_view line);       // "warning: " is put before it
  void only_file(std::string_view line);  // what the terminal gets otherwise

  // Draws the bar, at most ten times a second; does nothing without a terminal or when quiet.
  void progress(const Progress& progress);
  void end_progress();  // takes the bar away

 private:
  class Terminal;
  struct Loggers;
  std::unique_ptr<Loggers> loggers_;
};

}  // namespace heed
