// heed average RUN
#include "store/average.h"

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/output.h"

namespace heed {

Exit run_average(CommandLine& line) {
  AverageRequest request;
  line.add_run(request.run, "run folder");
  const auto add_number = [&](const char* name, int& number, const char* text) {
    return line.app()
        .add_option(name, number, text)
        ->default_str("")
        ->check(in_range(1, 1'000'000));
  };
  auto* last = add_number("--last", request.last, "average the newest N checkpoints");
  auto* best = add_number("--best", request.best, "average the N with the best validation");
  best->excludes(last);
  line.app().footer(
      "Writes checkpoints/average-A-B, where A and B are the first and the last step. Use it with\n"
      "--checkpoint average-A-B; it cannot be resumed. train.keep_last sets how many checkpoints\n"
      "are kept; the best one is kept as well and can be averaged too.");
  if (!line.parse()) return Exit::ok;
  if (last->count() + best->count() == 0)
    throw Error(Exit::usage, "expected --last N or --best N.", "heed average --help");

  const Averaged a = average_checkpoints(request);
  if (line.json())
    print_line({{"checkpoint", a.folder.string()}, {"steps", a.steps}});
  else
    print(a.folder.string() + "\n");
  return Exit::ok;
}

}  // namespace heed
