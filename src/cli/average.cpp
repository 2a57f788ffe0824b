// heed average RUN
#include <string>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "cli/command.h"
#include "cli/output.h"
#include "store/model.h"
#include "store/run_folder.h"
#include "store/run_writer.h"

namespace heed {
namespace {

// Takes the run's lock. Error (usage) if there are fewer.
Json average_checkpoints(const string& folder, size_t n) {
  RunWriter run = RunWriter::open(folder);
  vector<int64_t> steps = list_steps(folder);
  erase(steps, 0);  // before training
  if (steps.size() < n) {
    throw usage_error("expected {} checkpoints of steps in {}; found {}: {}.", n, folder,
                      steps.size(), joined(mapped(steps, step_folder_name)))
        .hint("a smaller number; more are kept with --set train.keep_last=N");
  }
  steps.erase(steps.begin(), steps.end() - ptrdiff_t(n));
  const auto open = [&](int64_t step) { return Checkpoint::open(step_folder(folder, step)); };
  const Checkpoint newest = open(steps.back());
  Model model = load_model(newest);
  const auto slots = tensor_slots(model.net.table, model.values);
  float* values = model.values.data();
  vector<double> sums(model.values.size());
  for (const int64_t step : steps) {
    open(step).load(kModelFile, slots);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
  }
  for (size_t i = 0; i < sums.size(); ++i) values[i] = float(sums[i] / double(steps.size()));

  CheckpointContents contents{.model = slots,
                              .training = {},
                              .exported = true,
                              .config = newest.config,
                              .tokenizers = newest.tokenizers,
                              .state = newest.state};
  contents.state.valid_loss = contents.state.valid_metric = kNotMeasured;
  const string name = fmt::format("{}{}-{}", kAveragePrefix, steps.front(), steps.back());
  run.begin_writing();
  write_checkpoint(run.checkpoints(), name, contents);
  return {{"checkpoint", (run.checkpoints() / name).string()}, {"steps", steps}};
}

}  // namespace

Exit run_average(CommandLine& line) {
  string run;
  size_t last = 0;
  line.add_run(run, "run folder");
  line.add_number("--last", last, "average the newest N checkpoints", 1, 1'000'000)
      ->default_str("")
      ->required();
  line.add_threads();  // as scripts give it to all: one is enough
  line.parse();

  const Json result = average_checkpoints(run, last);
  line.json ? print_line(result) : print(plain(result["checkpoint"]) + "\n");
  return Exit::ok;
}

}  // namespace heed
