// What writes a page with a model inside: heed attend and explain with --html, heed report --live,
// and the end of a training.
#include <exception>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "show/page.h"
#include "store/run_folder.h"

namespace heed {

void CommandLine::add_page() {
  add_file("--html", html, "write the live page of the model, opened here; - is standard output");
}

void CommandLine::check_page() const {
  if (html.empty()) return;
  const bool asks = prompts(*this);
  if (!asks && !words && !target)
    throw usage_error("--html writes the page of one text; lines of a file may be many.")
        .hint("one of them as TEXT, no --html, or --json");
  if (html == "-" && (asks || json))
    throw usage_error("--html - needs standard output for itself; name a file.");
}

void write_live_page(OpenModel& m, const GivenText& given, const Json& found) {
  if (m.line.html.empty()) return;
  m.line.check_page();  // a prompt has its own
  const Json& head = found["head"];
  Json opening{
      {"text", given.text},
      {"target", found.value("target", given.target.value_or(""))},
      {"head", joined({plain(head["kind"]), plain(head["layer"]), plain(head["head"])}, ".")}};
  for (const char* answer : {"answer", "against"})
    if (const Json token = found.value(answer, Json()); !token.is_null())
      opening[answer] = token["id"];
  const Json options{{"opening", opening}, {"reloads", prompts(m.line)}};
  write_page(m.line.html, live_page(m, "the same without --html, or --json", options), m.log);
}

Exit report_live(const vector<string>& runs, const string& html, Log& log) {
  if (runs.size() > 2)
    throw usage_error("--live makes the page of one model, or of two; found {}.", runs.size());
  const string smaller = "heed report without --live, or a smaller model";
  const Model model = load_model(runs[0], "");
  write_page(html,
             runs.size() == 1 ? live_page(model, smaller, {})
                              : pair_page(model, load_model(runs[1], ""), smaller),
             log);
  return Exit::ok;
}

string write_live(const string& run, const string& live, Log& log, Json* story) try {
  constexpr double kSmallPage = 3e6;  // bytes
  const string path = (fs::path(run) / kLivePage).string();
  fs::remove(path, ignored());  // that of an earlier step
  if (live == "false") return "";
  const double bytes = 0.5 * double(fs::file_size(find_checkpoint(run) / kModelFile));  // float16
  if (live == "true" || bytes <= kSmallPage) {
    const string page =
        live_page(load_model(run, ""), "train.live false", {{"report", kReportPage}});
    if (live == "true" || double(page.size()) < kSmallPage) {
      write_output(path, page);
      if (story != nullptr) (*story)["live"] = kLivePage;
      return fmt::format("xdg-open {}  # in a browser: type to the model", shell_word(path));
    }
  }
  if (bytes > kMostLiveBytes) return "";
  return fmt::format("heed report {} --live --html {}  # a page to type to", shell_word(run),
                     shell_word(path));
} catch (const std::exception& e) {
  log.warn(e.what());
  return "";
}

}  // namespace heed
