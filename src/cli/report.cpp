// heed report RUN [RUN ...]
#include <unistd.h>

#include "base/error.h"
#include "base/format.h"
#include "base/json.h"
#include "base/log.h"
#include "base/std_names.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "show/page.h"
#include "store/run_folder.h"

namespace heed {

Exit run_report(CommandLine& line) {
  vector<string> runs;
  string html = "-";
  line.add_run(runs);
  line.add_file("--html", html, "the file to write; - is standard output")->excludes("--json");
  line.app.add_flag("--live")->description("the model itself, to type to")->excludes("--json");
  line.parse();
  if (!line.json && html == "-" && ::isatty(STDOUT_FILENO) != 0)
    throw usage_error("the page is HTML, which a terminal cannot show.")
        .hint("--html FILE, or > FILE");
  Log log({.quiet = line.quiet});
  if (line.app.count("--live") > 0) return report_live(runs, html, log);
  const bool one = runs.size() == 1;
  Json data = one ? report(runs.front()) : comparison(runs);
  if (const string same = same_models(runs); !same.empty()) log.warn(same);
  if (!one) add_comparisons(data, log);
  if (!line.json)
    write_page(html, page_with(one ? report_html : comparison_html, data), log);
  else
    for (const Json& run : one ? Json::array({without_maps(data)}) : data)
      print_line(with_short_numbers(run));
  return Exit::ok;
}

}  // namespace heed
