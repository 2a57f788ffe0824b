// Messages of a run: lines to the terminal (standard error) and to a log file, and a progress bar.
//
// A `brief` log shows a person at a terminal what matters: not its details, but briefs in their
// place. A pipe and the file get all but the briefs.
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
  double eta_seconds = -1;  // below 0: not known
};

// The bar, always narrower than the terminal of `width` columns.
string progress_line(const Progress& progress, int width);

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
  bool brief = false;  // where `fd` is a terminal
  int fd = 2;
};

class Log {
 public:
  explicit Log(const LogOptions& options = {});
  ~Log();

  // Also appends all lines to this file, including earlier ones. Error (Exit::store) if it
  // cannot be opened. Later write failures give one warning and do not stop the run. Call it before
  // other threads log. A file that is moved goes on growing.
  void open_file(const string& path);

  // A terminal breaks a long line at spaces.
  void info(string_view line) { write(Look::plain, line); }
  // Adds "warning: ".
  void warn(string_view line) { write(Look::warning, "warning: " + string(line)); }
  void detail(string_view line) { write(Look::detail, line); }
  void brief(string_view line) { write(Look::brief, line); }
  bool shows_briefs() const;
  // For text that the terminal shows differently.
  void only_file(string_view line) { write(Look::only_file, line); }

  // Draws the bar, at most ten times a second; does nothing without a terminal or when quiet.
  void progress(const Progress& progress);
  // The same for a command of which this share is done, if it takes longer than ten seconds.
  void share_done(double share);
  void end_progress();  // removes the bar

 private:
  enum class Look { plain, warning, brief, detail, only_file };
  void write(Look look, string_view line);
  struct Outputs;
  unique_ptr<Outputs> outputs_;
};

}  // namespace heed
