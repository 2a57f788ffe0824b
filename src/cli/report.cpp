// heed report RUN
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "cli/command.h"
#include "cli/output.h"
#include "math/blas.h"
#include "report/report_page.h"

namespace heed {

Exit run_report(CommandLine& line) {
  std::string run, output;
  line.add_run(run);
  line.add_file("--output,--html", output, "the file to write (default: standard output)", "FILE");
  line.app().footer(
      "One self-contained HTML page: curves, texts written and where the heads look at steps 0, "
      "1,\n"
      "2, 4, ... and at validations, the learning record, parameters and config. The text is of\n"
      "the beginning of the held-out data.");
  if (!line.parse()) return Exit::ok;
  if (output.empty()) output = "-";
  if (output == "-" && ::isatty(STDOUT_FILENO) != 0)
    throw Error(Exit::usage, "the page is HTML, which a terminal does not show.",
                "--html FILE, or > FILE");
  prepare_blas();
  const Report report = make_report(run);
  write_output(output, report_page(report, read_metrics(report.folder, report.last_step)));
  return Exit::ok;
}

}  // namespace heed
