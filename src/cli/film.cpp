// What the film of a run says in a terminal: what the model writes, and the names of its heads.
#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "base/utf8.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "store/run_records.h"
#include "text/utf8.h"
#include "train/training_run.h"

namespace heed {

void show_sample(const RunResult& result, Log& log) {
  const auto [probe, frames] = read_frames(result.run);
  const auto best = ranges::find(frames, result.best ? result.best->step : -1, &Frame::step);
  if (best == frames.end() || probe.prompts.empty()) return;
  const size_t shown = probe.prompts.size() > 1;  // of four pairs the second
  const string who = best->step == result.state.step ? "it" : fmt::format("step {}", best->step),
               text = best->filled.value_or(probe.prompts[shown] + " | " + best->written[shown]) +
                      "\n";
  log.detail(who + (best->filled ? " writes ›so‹ in its masks:" : " writes:"));
  for (const string_view line : lines_of(text)) log.detail("  | " + printable(line));
  const int columns = terminal_width(STDERR_FILENO);
  const string prompt = shortened(printable(probe.prompts[shown]), columns / 3),
               all = best->filled.value_or(prompt + " | " + best->written[shown]);
  log.brief(shortened(who + " writes: " + printable(stripped(all)), columns));
}

void print_names(const Json& recorded) {
  if (recorded["named_at"].is_null()) return print("\nthe run has no record of its heads' names\n");
  if (recorded["head_names"].empty()) return print("\nno head has a name\n");
  print(fmt::format("\nover {} text, at step {}:\n", recorded["held_out"] ? "held-out" : "training",
                    recorded["named_at"].dump()));
  print_table(recorded["head_names"], {{"head", "", part_text},
                                       {"name", "name"},
                                       {"weight", "score", "{:.2f}"},
                                       {"untrained", "untrained", "{:.2f}"},
                                       {"keys in random order", "shuffled", "{:.2f}"}});
}

}  // namespace heed
