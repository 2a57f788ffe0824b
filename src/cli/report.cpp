// heed report RUN [RUN ...]
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/output.h"
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
      "2, 4, 8, ..., at validations and at the end, the learning record and the config. "
      "The text is the beginning of the held-out data. A run without a checkpoint shows what it "
      "has logged. Several runs: their curves in one chart, and the config keys in which they "
      "differ. --json prints what the page shows, without the maps (heed attend --json has them): "
      "run, last_step, parameter_count, best, best_loss, notes, prompts, expected, frames (step, "
      "loss, train_loss, probe_loss, written), train and valid (steps and a list per figure), "
      "yardsticks, overfitting, training_loss_note, learning, config; of several runs a line each: "
      "run, best_step, best_loss, keys, train, valid.");
  if (!line.parse()) return Exit::ok;
  if (line.json() && line.app().count("--html") > 0)
    throw Error(Exit::usage, "--json prints to standard output, and --html writes the page.",
                "one of them");
  if (!line.json() && html == "-" && ::isatty(STDOUT_FILENO) != 0)
    throw Error(Exit::usage, "the page is HTML, which a terminal cannot show.",
                "--html FILE, or > FILE");
  const bool one = runs.size() == 1;
  const ShortJson data = one ? report(runs.front()) : comparison(runs);
  if (line.json()) {
    if (one) print(report_json(data));
    if (!one)
      for (const ShortJson& run : data) print(text_of(run) + "\n");
    return Exit::ok;
  }
  write_output(html, page_with(one ? report_html : comparison_html, data));
  if (html != "-")
    Log({.quiet = line.quiet()}).info(fmt::format("wrote {}; open it in a browser", html));
  return Exit::ok;
}

}  // namespace heed
