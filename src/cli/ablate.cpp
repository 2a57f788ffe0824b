// heed ablate RUN
#include <cmath>

#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "evaluate/test_text.h"
#include "show/ablation.h"
#include "store/run_folder.h"

namespace heed {
namespace {

constexpr size_t kOnScreen = 20;  // rows
constexpr double kMinute = 4e11;  // operations: a minute on two cores of a laptop
constexpr int64_t kFewestSequences = 20;

// The first sequences of the held-out data: as many as a minute allows, unless `limit` says.
vector<Example> first_held_out(OpenModel& m, int64_t limit) {
  NamedText held_out;
  const TestText text = test_text(m, held_out, m.pool, m.log);
  const ExampleList all = m.objective->evaluation(text.split);
  const double passes = 2.0 * double(parts_of(m.net).size());
  double operations = 0;
  vector<Example> examples;
  for (int64_t i = 0; i < all.count; ++i) {
    if (limit > 0 ? i == limit : i >= kFewestSequences && operations > kMinute) break;
    Example e;
    all.get(i, e);
    if (e.scored() == 0) continue;
    Batch batch;
    batch.add(e);
    operations += passes * training_flops(m.net, batch) / 3;
    examples.push_back(std::move(e));
  }
  if (examples.empty()) throw data_error("no token of the held-out data is scored.");
  return examples;
}

// `all`: the number of parts.
void print_ablation(const Json& result, size_t all) {
  print_prose(fmt::format(
      "loss {:.4f} nats per token on {} held-out sequences{}, {} tokens; {} forward passes\n\n",
      result["loss"].get<double>(), format_count(result["sequences"]),
      different_in_words(result, "sequences"), format_count(result["tokens"]),
      result["passes"].dump()));
  print_table(result["parts"], {{"taken away", "name"},
                                {"difference", "difference", "{:+.4f}"},
                                {"95 % from", "low", "{:+.4f}", 1},
                                {"to", "high", "{:+.4f}", 1},
                                {"all but this one", "all_but_this", "{:+.4f}"}});
  print_prose(
      "\nall but this one: the loss when only this part of its sort is kept, minus that of the "
      "whole model. Differences do not add up.\n");
  if (const size_t shown = result["parts"].size(); shown < all)
    print(fmt::format("(the first {} of {}; --top for more)\n", shown, all));
}

}  // namespace

Exit run_ablate(CommandLine& line) {
  size_t top = 0;
  int64_t limit = 0;
  bool zero = false;
  line.add_model();
  line.add_number("--top", top, "print only this many parts", 1)
      ->default_str("20 on a terminal, else all");
  line.add_number("--limit", limit, "read only this many held-out sequences", 1)
      ->default_str("as many as take about a minute");
  line.app.add_flag("--zero", zero, "take a part away by 0, not by its mean");
  line.parse();
  OpenModel m(line);
  Json result{{"checkpoint", checkpoint_name(m.folder)}, {"step", m.state.step}};
  result.update(ablate(m.net, m.values, first_held_out(m, limit), m.pool, zero));
  Json& parts = result["parts"];
  const size_t all = parts.size();
  if (top == 0) top = line.json || !on_terminal() ? all : kOnScreen;
  while (parts.size() > top) parts.erase(parts.size() - 1);
  line.json ? print_line(result) : print_ablation(result, all);
  return Exit::ok;
}

}  // namespace heed
