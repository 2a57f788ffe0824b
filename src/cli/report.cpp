// heed report RUN [RUN ...]
#include <unistd.h>

#include "base/error.h"
#include "base/format.h"
#include "base/json.h"
#include "base/log.h"
#include "base/std_names.h"
#include "cli/command.h"
#include "cli/compare.h"
#include "cli/output.h"
#include "show/page.h"
#include "store/run_folder.h"

namespace heed {

Exit run_report(CommandLine& line) {
  vector<string> runs;
  string html = "-";
  bool live = false;
  line.add_runs(runs);
  line.add_file("--html", html, "the file to write; - is standard output", "FILE")
      ->excludes("--json");
  line.app()
      .add_flag("--live", live, "a page with the model itself, to type to")
      ->excludes("--json");
  line.parse();
  if (!line.json() && html == "-" && ::isatty(STDOUT_FILENO) != 0)
    throw usage_error("the page is HTML, which a terminal cannot show.")
        .hint("--html FILE, or > FILE");
  const bool one = runs.size() == 1;
  if (live && runs.size() > 2)
    throw usage_error("--live makes the page of one model, or of two; found {}.", runs.size());
  Log log({.quiet = line.quiet()});
  if (live) {
    const string smaller = "heed report without --live, or a smaller model";
    const Model model = load_model(runs[0], "");
    write_page(
        html,
        one ? live_page(model, smaller, {}) : pair_page(model, load_model(runs[1], ""), smaller),
        log);
    return Exit::ok;
  }
  Json data = one ? report(runs.front()) : comparison(runs);
  if (const string same = same_models(runs); !same.empty()) log.warn(same);
  if (!one) add_comparisons(data, log);
  if (line.json() && one) print_data(report_json(data));
  if (line.json() && !one)
    for (const Json& run : data) print_line(with_short_numbers(run));
  if (line.json()) return Exit::ok;
  write_page(html, page_with(one ? report_html : comparison_html, data), log);
  return Exit::ok;
}

}  // namespace heed
