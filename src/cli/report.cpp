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
  line.add_file("--html", html, "the file to write; - is standard output", "FILE");
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
