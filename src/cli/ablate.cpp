// heed ablate RUN
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "cli/table.h"
#include "evaluate/test_text.h"
#include "show/ablation.h"
#include "show/page.h"
#include "store/run_folder.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kOnScreen = 20;  // rows
constexpr double kMinute = 4e11;       // operations: a minute on two cores of a laptop
constexpr std::int64_t kFewestSequences = 20;

// The first sequences of the held-out data: as many as a minute allows, unless `limit` says.
std::vector<Example> first_held_out(OpenModel& m, std::int64_t limit) {
  NamedText held_out;
  const TestText text = test_text(m, held_out, m.pool, m.log);
  const ExampleList all = m.objective->evaluation(text.split);
  const double passes = 2.0 * static_cast<double>(parts_of(m.net).size());
  double operations = 0;
  std::vector<Example> examples;
  for (std::int64_t i = 0; i < all.count; ++i) {
    if (limit > 0 ? i == limit : i >= kFewestSequences && operations > kMinute) break;
    Example e;
    all.get(i, e);
    if (e.scored() == 0) continue;
    Batch batch;
    batch.add(e.source, e.target, e.labels);
    operations += passes * training_flops(m.net, batch) / 3;
    examples.push_back(std::move(e));
  }
  if (examples.empty()) throw data_error("no token of the held-out data is scored.");
  return examples;
}

Json ablation_json(const OpenModel& m, const Ablation& a, bool zero) {
  Json json{{"checkpoint", checkpoint_name(m.folder)},
            {"step", m.state.step},
            {"loss", a.loss},
            {"sequences", a.sequences},
            {"different", a.different},
            {"tokens", a.tokens},
            {"passes", a.passes},
            {"replaced_by", zero ? "zero" : "mean"},
            {"parts", Json::array()}};
  for (const PartLoss& p : a.parts) {
    Json part{{"sort", sort_name(p.part.sort)}, {"kind", attention_name(p.part.kind)}};
    if (p.part.layer >= 0) part["layer"] = p.part.layer;
    if (p.part.head >= 0) part["head"] = p.part.head;
    part.update({{"name", p.part.name()},
                 {"difference", p.difference},
                 {"low", p.low},
                 {"high", p.high},
                 {"all_but_this", p.all_but_this}});
    json["parts"].push_back(part);
  }
  return json;
}

std::string signed_nats(const Json& nats) {
  return fmt::format("{:+.4f}", nats.get<double>());
}

std::string interval_text(const Json& part) {
  const double low = part["low"], high = part["high"];
  return std::isnan(low) ? "-" : fmt::format("{:+.4f} to {:+.4f}", low, high);
}

void print_ablation(const Json& result, std::size_t top) {
  print_prose(fmt::format(
      "loss {:.4f} nats per token on {} held-out sequences{}, {} tokens; {} forward passes\n\n",
      result["loss"].get<double>(), format_count(result["sequences"]),
      different_in_words(result, "sequences"), format_count(result["tokens"]),
      result["passes"].dump()));
  const Column columns[] = {
      {"taken away", "name"},
      {"difference", "difference", signed_nats},
      {"95 % interval", "", interval_text, 1},
      {"all but this one", "all_but_this", signed_nats},
  };
  const Json& parts = result["parts"];
  print_table(top < parts.size() ? Json(parts.begin(), parts.begin() + top) : parts, columns);
  print_prose(
      "\nall but this one: the loss when only this part of its sort is kept, minus that of the "
      "whole model. Differences do not add up.\n");
  if (top < parts.size())
    print(fmt::format("(the first {} of {}; --top for more)\n", top, parts.size()));
}

}  // namespace

Exit run_ablate(CommandLine& line) {
  std::size_t top = 0;
  std::int64_t limit = 0;
  bool zero = false;
  std::string html;
  CLI::App& app = line.app();
  line.add_model();
  line.add_number("--top", top, "print only this many parts", 1)
      ->default_str("20 on a terminal, else all");
  line.add_number("--limit", limit, "read only this many held-out sequences", 1)
      ->default_str("as many as take about a minute");
  app.add_flag("--zero", zero, "take a part away by 0, not by its mean");
  line.add_file("--html", html, "write a page; - is standard output", "FILE");
  line.parse();
  if (line.json() && html == "-")
    throw usage_error("--json and --html - both need standard output.");
  OpenModel m(line);
  const std::vector<Example> examples = first_held_out(m, limit);
  const Ablation a = ablate(m.net, m.values, examples, m.pool, zero);
  Json result = ablation_json(m, a, zero);
  if (!html.empty()) {
    ShortJson data(result);
    data["about"] = fmt::format("{}, step {}", m.run, m.state.step);
    write_page(html, page_with(ablation_html, data), m.log);
  }
  if (top == 0) top = !line.json() && ::isatty(STDOUT_FILENO) == 1 ? kOnScreen : a.parts.size();
  if (line.json()) {
    Json& parts = result["parts"];
    while (parts.size() > top) parts.erase(parts.size() - 1);
    print_line(result);
  } else if (html != "-") {
    print_ablation(result, top);
  }
  return Exit::ok;
}

}  // namespace heed
