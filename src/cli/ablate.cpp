// heed ablate RUN
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "cli/command.h"
#include "cli/open_model.h"
#include "cli/output.h"
#include "data/dataset.h"
#include "show/ablation.h"
#include "show/page.h"
#include "store/run_folder.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kOnScreen = 20;  // rows
constexpr double kMinute = 4e11;       // operations: a minute on two cores of a laptop
constexpr std::int64_t kFewestSequences = 20;

constexpr const char* kAblateNotes =
    "The loss on the held-out data with each part taken away, minus that of the whole model, in "
    "nats per token, the largest first; its 95 % interval (1000 bootstrap resamples of the "
    "sequences); and \"all but this one\": the same with all others of its sort taken away (all "
    "other heads of its attention; all other layers or feed-forward networks of its stack; all "
    "other kinds of attention). Two heads that can stand in for one another do not matter alone: "
    "then each has a small difference there, and their attention a large one.\n"
    "A head is taken away before W_O, a layer or feed-forward network where it adds to the rows: "
    "the mean over all positions of these sequences takes its place (--zero: 0).\n"
    "--json: checkpoint, step, loss, sequences, tokens, passes, replaced_by (mean, zero), and "
    "parts: sort (attention, layer, feed_forward, head), kind, layer, head, name, difference, "
    "low, high (null: of fewer than ten sequences), all_but_this (null: there are no others).";

// The first sequences of the held-out data: as many as a minute allows, unless `limit` says.
std::vector<Example> held_out(OpenModel& m, std::int64_t limit) {
  if (!m.config.data.has_validation())
    throw Error(Exit::usage, "the run has no held-out data (data.valid_fraction 0).");
  const Dataset data = load_dataset(m.config, data_folder(m), m.tokenizers);
  if (data.hash.all() != m.state.data_hash)
    m.log.warn("the data files have changed since the run was trained");
  const ExampleList all = m.objective->evaluation(data.valid);
  const double passes = 2.0 * static_cast<double>(parts_of(m.model).size());
  double operations = 0;
  std::vector<Example> examples;
  for (std::int64_t i = 0; i < all.count; ++i) {
    if (limit > 0 ? i == limit : i >= kFewestSequences && operations > kMinute) break;
    all.get(i, examples.emplace_back());
    const Example& e = examples.back();
    Batch batch;
    batch.add(e.source, e.target, e.labels);
    operations += passes * training_flops(m.model, batch) / 3;
  }
  if (examples.empty()) throw Error(Exit::data, "the held-out data has no sequence.");
  return examples;
}

Json ablation_json(const OpenModel& m, const Ablation& a, bool zero) {
  Json json{{"checkpoint", checkpoint_name(m.folder)},
            {"step", m.state.step},
            {"loss", a.loss},
            {"sequences", a.sequences},
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

// A narrow terminal has no room for the intervals.
std::string ablation_table(const Ablation& a) {
  std::size_t width = 14;
  for (const PartLoss& p : a.parts) width = std::max(width, p.part.name().size());
  const bool wide = output_columns() >= static_cast<int>(width) + 50;
  std::string text = fmt::format(
      "loss {:.4f} nats per token on {} held-out sequences, {} tokens; {} forward passes\n\n"
      "{:{}}  difference  {}all but this one\n",
      a.loss, format_count(a.sequences), format_count(a.tokens), a.passes, "taken away", width,
      wide ? "95 % interval       " : "");
  for (const PartLoss& p : a.parts) {
    text += fmt::format("{:{}}  {:+10.4f}", p.part.name(), width, p.difference);
    if (wide)
      text += std::isnan(p.low) ? fmt::format("{:22}", "")
                                : fmt::format("  {:+.4f} to {:+.4f}", p.low, p.high);
    text += std::isnan(p.all_but_this) ? "\n" : fmt::format("  {:+10.4f}\n", p.all_but_this);
  }
  return text +
         "\nall but this one: the difference if of its sort only this one is left. Differences do "
         "not "
         "add up.\n";
}

}  // namespace

Exit run_ablate(CommandLine& line) {
  std::size_t top = 0;
  std::int64_t limit = 0;
  bool zero = false;
  std::string html;
  CLI::App& app = line.app();
  line.add_model();
  app.add_option("--top", top, "print only this many parts")
      ->default_str("20 on a terminal, else all")
      ->check(in_range(1));
  app.add_option("--limit", limit, "read only this many held-out sequences")
      ->default_str("as many as take about a minute")
      ->check(in_range(1));
  app.add_flag("--zero", zero, "take a part away by 0, not by its mean");
  line.add_file("--html", html, "write a page; - is standard output", "FILE");
  app.footer(kAblateNotes);
  if (!line.parse()) return Exit::ok;
  if (line.json() && html == "-")
    throw Error(Exit::usage, "--json and --html - both need standard output.");
  OpenModel m(line);
  const std::vector<Example> examples = held_out(m, limit);
  Ablation a = ablate(m.model, m.values, examples, m.pool, {.zero = zero, .seed = m.config.seed});
  if (a.tokens == 0) throw Error(Exit::data, "no token of these sequences is scored.");
  if (!html.empty()) {
    ShortJson data(ablation_json(m, a, zero));
    data["about"] = fmt::format("{}, step {}", m.run, m.state.step);
    write_output(html, page_with(ablation_html, data));
    if (html != "-") m.log.info(fmt::format("wrote {}; open it in a browser", html));
  }
  if (top == 0) top = !line.json() && ::isatty(STDOUT_FILENO) == 1 ? kOnScreen : a.parts.size();
  const std::size_t parts = a.parts.size();
  a.parts.resize(std::min(top, parts));
  if (line.json())
    print_line(ablation_json(m, a, zero));
  else if (html != "-")
    print_prose(
        ablation_table(a) +
        (top < parts ? fmt::format("(the first {} of {}; --top for more)\n", top, parts) : ""));
  return Exit::ok;
}

}  // namespace heed
