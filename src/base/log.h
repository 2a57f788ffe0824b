// Messages of a run: lines to the terminal (standard error) and to a log file, and a progress bar.
//
// The bar is one line that is rewritten in place, only on a terminal of at least 40 columns. Log
// lines push it down and never mix with it. Piped output has plain lines and no bar. NO_COLOR in
// the environment turns colours off. All methods may be called from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/std_names.h"

namespace heed {

struct Progress {
  int64_t done = 0;
  int64_t total = 0;        // 0: not known
  string status;            // "loss 1.82 | 48.2k tok/s" (ASCII)
  double eta_seconds = -1;  // below 0: not known
};

// The bar, always narrower than the terminal of `width` columns. If space is short, the status is
// dropped first, then the remaining time.
string progress_line(const Progress& progress, int width);

// "step 10 | ep 1.0 | loss 2.1 | ppl 8.2 | eta 3m": if it is too long, fields are dropped from the
// right. The first one, the loss and the last one (the remaining time, or a verdict) stay.
string fitting_fields(string_view line, int width);

// Remarks that a log will have.
struct Notes {
  vector<string> notes, warnings;
  void add(const Notes& more, const string& before = "") {
    for (const string& note : more.notes) notes.push_back(before + note);
    for (const string& warning : more.warnings) warnings.push_back(before + warning);
  }
};

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

  // Also appends all lines to this file, including earlier ones. Error (Exit::store) if it
  // cannot be opened. Later write failures give one warning and do not stop the run. Call it before
  // other threads log. A file that is moved goes on growing.
  void open_file(const string& path);

  // A terminal breaks a long line at spaces.
  void info(string_view line) { write(Look::plain, line); }
  // Adds "warning: ".
  void warn(string_view line) { write(Look::warning, "warning: " + string(line)); }
  // A line of fields, "a | b | c". A narrow terminal shows fewer of them
  // (fitting_fields); `good` colours the last one.
  void fields(string_view line, bool good = false) {
    write(good ? Look::good_fields : Look::fields, line);
  }
  // For text that the terminal shows differently.
  void only_file(string_view line) { write(Look::only_file, line); }

  // Draws the bar, at most ten times a second; does nothing without a terminal or when quiet.
  void progress(const Progress& progress);
  void end_progress();  // removes the bar

 private:
  enum class Look { plain, warning, fields, good_fields, only_file };
  void write(Look look, string_view line);
  struct Outputs;
  unique_ptr<Outputs> outputs_;
};

}  // namespace heed
