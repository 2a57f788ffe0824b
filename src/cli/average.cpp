// heed average RUN
#include "store/average.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/output.h"

namespace heed {

Exit run_average(CommandLine& line) {
  AverageRequest request;
  bool json = false;
  line.add_run_folder(request.run);
  auto* last = line.app()
                   .add_option("--last", request.last, "average the newest N checkpoints")
                   ->default_str("")
                   ->check(CLI::Range(1, 1'000'000));
  auto* best = line.app()
                   .add_option("--best", request.best, "average the N with the best validation")
                   ->default_str("")
                   ->check(CLI::Range(1, 1'000'000))
                   ->excludes(last);
  line.add_json(json);
  line.app().footer(
      "Writes checkpoints/average-A-B, A and B being the first and the last step. It can be used\n"
      "with --checkpoint average-A-B, but not resumed. train.keep_last says how many there are,\n"
      "besides the best, which counts as any other.");
  if (!line.parse()) return Exit::ok;
  if (last->count() + best->count() == 0)
    throw Error(Exit::usage, "expected --last N or --best N.", "heed average --help");

  const Averaged a = average_checkpoints(request);
  if (json) {
    print(nlohmann::ordered_json{{"checkpoint", a.folder.string()}, {"steps", a.steps}}.dump() +
          "\n");
  } else {
    print(a.folder.string() + "\n");
  }
  return Exit::ok;
}

}  // namespace heed
