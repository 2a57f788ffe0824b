// heed report RUN [RUN ...]
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/output.h"
#include "math/blas.h"
#include "show/comparison.h"
#include "show/report.h"

namespace heed {

Exit run_report(CommandLine& line) {
  std::vector<std::string> runs;
  std::string html = "-";
  line.add_runs(runs);
  line.add_file("--html,--output", html, "the file to write; - is standard output", "FILE");
  line.app().footer(
      "One self-contained HTML page: curves, written texts and where the heads look at steps 0, 1, "
      "2, 4, 8, ..., at validations and at the end, the learning record, parameters and config. "
      "The text is the beginning of the held-out data. A run without a checkpoint shows what it "
      "has logged. Several runs: their curves in one chart, and the config keys in which they "
      "differ. --json prints what the page shows, without the maps (heed attend --json has them): "
      "run, last_step, parameter_count, best, best_loss, ends (of a run that went back: step, "
      "loss), notes, prompts, expected, frames (step, loss, train_loss, probe_loss, written), "
      "train and valid (steps and a list per figure), yardsticks, overfitting, "
      "training_loss_note, learning, parameters, config; of several runs a line each: run, "
      "best_step, best_loss, keys, ends, train, valid.");
  if (!line.parse()) return Exit::ok;
  if (line.json() && line.app().count("--html") > 0)
    throw Error(Exit::usage, "--json prints to standard output, and --html writes the page.",
                "one of them");
  if (!line.json() && html == "-" && ::isatty(STDOUT_FILENO) != 0)
    throw Error(Exit::usage, "the page is HTML, which a terminal cannot show.",
                "--html FILE, or > FILE");
  prepare_blas();
  std::string shown;
  if (runs.size() > 1) {
    const std::vector<ComparedRun> compared = compare(runs);
    shown = line.json() ? comparison_json(compared) : comparison_page(compared);
  } else {
    const Report report = make_report(runs.front());
    shown = line.json() ? report_json(report) : report_page(report);
  }
  if (line.json()) {
    print(shown);
    return Exit::ok;
  }
  write_output(html, shown);
  if (html != "-")
    Log({.quiet = line.quiet()}).info(fmt::format("wrote {}; open it in a browser", html));
  return Exit::ok;
}

}  // namespace heed
