// heed average RUN
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/folders.h"
#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "store/best.h"
#include "store/run_folder.h"
#include "store/run_writer.h"
#include "store/trained_model.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

struct AverageRequest {
  std::string run;
  int last = 0;  // how many of the newest, or
  int best = 0;  // how many of those with the best validation (store/best.h)
};

// Ascending.
std::vector<std::int64_t> chosen_steps(const AverageRequest& request) {
  std::vector<std::int64_t> steps = list_steps(request.run);
  std::erase(steps, 0);  // before training
  std::vector<std::string> all;
  for (const std::int64_t s : steps) all.push_back(step_folder_name(s));
  const auto n = static_cast<std::size_t>(request.last + request.best);
  if (request.best > 0) {
    std::vector<State> states = states_of(request.run);
    std::erase_if(states, [](const State& s) { return s.step == 0 || std::isnan(s.valid_loss); });
    std::ranges::sort(states, is_better);
    if (states.size() >= n) states.resize(n);
    steps.clear();
    for (const State& s : states) steps.push_back(s.step);
    std::ranges::sort(steps);
  }
  if (steps.size() < n)
    throw Error(Exit::usage,
                fmt::format("expected {} checkpoints {} in {}; found {}. Existing: {}.", n,
                            request.best > 0 ? "with a validation" : "of steps", request.run,
                            steps.size(), all.empty() ? "none" : joined(all)),
                "a smaller number; more are kept with --set train.keep_last=N");
  return {steps.end() - static_cast<std::ptrdiff_t>(n), steps.end()};
}

// Takes the run's lock. Error (usage) if there are fewer (it lists them), or if another average has
// the name.
Json average_checkpoints(const AverageRequest& request) {
  RunWriter run = RunWriter::open(request.run);
  const auto open = [&](std::int64_t step) {
    return Checkpoint::open(run.checkpoints() / step_folder_name(step));
  };
  const std::vector<std::int64_t> steps = chosen_steps(request);
  const Checkpoint newest = open(steps.back());
  const TrainedModel model = load_trained_model(newest);
  const ParamTable& table = model.model.table;
  std::vector<double> sums(table.size(), 0.0);
  ParamVec<float> values(table.size());
  for (const std::int64_t step : steps) {
    open(step).load_model(tensor_slots(table, values));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += values.data()[i];
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    values.data()[i] = static_cast<float>(sums[i] / static_cast<double>(steps.size()));

  const std::string name = fmt::format("{}{}-{}", kAveragePrefix, steps.front(), steps.back());
  const std::string folder = (run.checkpoints() / name).string();
  const Json result{{"checkpoint", folder}, {"steps", steps}};
  if (path_exists(folder)) {
    ParamVec<float> there(table.size());
    try {
      Checkpoint::open(folder).load_model(tensor_slots(table, there));
    } catch (const Unreadable&) {
      throw;
    } catch (const Error& e) {
      throw e.as(e.exit(), fmt::format("delete {} and average again", folder));
    }
    if (std::equal(values.data(), values.data() + table.size(), there.data())) return result;
    throw Error(Exit::usage, folder + " exists already and is the average of other checkpoints.",
                "move or delete it first");
  }
  CheckpointContents contents;
  contents.model = tensor_slots(table, values);
  contents.exported = true;
  contents.config = newest.config();
  contents.tokenizers = newest.tokenizers();
  contents.state = newest.state();
  contents.state.valid_loss = contents.state.valid_metric = kNotMeasured;
  run.begin_writing();
  run.save_as(name, contents);
  return result;
}

}  // namespace

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
  if (!line.parse()) return Exit::ok;
  if (last->count() + best->count() == 0)
    throw Error(Exit::usage, "expected --last N or --best N.", "heed average --help");

  const Json result = average_checkpoints(request);
  line.json() ? print_line(result) : print(result["checkpoint"].get<std::string>() + "\n");
  return Exit::ok;
}

}  // namespace heed
