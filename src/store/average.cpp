#include "store/average.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/folders.h"
#include "base/format.h"
#include "store/run_events.h"
#include "store/run_folder.h"
#include "store/run_writer.h"
#include "store/trained_model.h"

namespace heed {
namespace {

// The result of each step's validation; smaller is better.
std::map<std::int64_t, double> validations(const std::filesystem::path& run, SelectBy by) {
  std::map<std::int64_t, double> result;
  const char* key = by == SelectBy::bleu ? "bleu" : "loss";
  for_each_event(run, [&](const nlohmann::ordered_json& event) {
    const auto value = event.find(key);
    if (event["kind"] != "valid" || value == event.end() || !value->is_number()) return;
    const double x = value->get<double>();
    result[event["step"].get<std::int64_t>()] = by == SelectBy::bleu ? -x : x;
  });
  return result;
}

std::vector<std::int64_t> chosen_steps(const AverageRequest& request, SelectBy by) {
  std::vector<std::int64_t> steps = list_steps(request.run);
  std::erase(steps, 0);  // before training
  std::vector<std::string> all;
  for (const std::int64_t s : steps) all.push_back(step_folder_name(s));
  const auto n = static_cast<std::size_t>(request.last + request.best);
  if (request.best > 0) {
    const auto values = validations(request.run, by);
    std::erase_if(steps, [&](std::int64_t s) { return !values.contains(s); });
    std::ranges::stable_sort(steps, {}, [&](std::int64_t s) { return values.at(s); });
    if (steps.size() >= n) steps.resize(n);
    std::sort(steps.begin(), steps.end());
  }
  if (steps.size() < n)
    throw Error(Exit::usage,
                fmt::format("expected {} checkpoints {} in {}; found {}. Existing: {}.", n,
                            request.best > 0 ? "with a validation" : "of steps", request.run,
                            steps.size(), all.empty() ? "none" : joined(all)),
                "a smaller number; more are kept with --set train.keep_last=N");
  return {steps.end() - static_cast<std::ptrdiff_t>(n), steps.end()};
}

}  // namespace

Averaged average_checkpoints(const AverageRequest& request) {
  RunWriter run = RunWriter::open(request.run);
  const auto open = [&](std::int64_t step) {
    return Checkpoint::open(run.checkpoints() / step_folder_name(step));
  };
  const std::vector<std::int64_t> all = list_steps(request.run);
  SelectBy by = SelectBy::loss;
  if (request.best > 0 && !all.empty()) by = checkpoint_config(open(all.back())).train.select_by;
  Averaged result{chosen_steps(request, by), {}};
  const Checkpoint newest = open(result.steps.back());
  const TrainedModel model = load_trained_model(newest);
  const ParamTable& table = model.model.table;
  std::vector<double> sums(table.size(), 0.0);
  ParamVec<float> values(table.size());
  for (const std::int64_t step : result.steps) {
    open(step).load_model(tensor_slots(table, values));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += values.data()[i];
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    values.data()[i] = static_cast<float>(sums[i] / static_cast<double>(result.steps.size()));

  CheckpointContents contents;
  contents.model = views_of(tensor_slots(table, values));
  contents.exported = true;
  contents.config = newest.config();
  contents.tokenizers = newest.tokenizers();
  contents.state = newest.state();
  const std::string name = fmt::format("average-{}-{}", result.steps.front(), result.steps.back());
  result.folder = run.checkpoints() / name;
  if (!path_exists(result.folder)) {
    run.save_as(name, contents);
    return result;
  }
  ParamVec<float> there(table.size());
  try {
    Checkpoint::open(result.folder).load_model(tensor_slots(table, there));
  } catch (const Error& e) {
    throw e.as(e.exit(), fmt::format("delete {} and average again", result.folder.string()));
  }
  if (!std::equal(values.data(), values.data() + table.size(), there.data()))
    throw Error(Exit::usage,
                result.folder.string() + " exists already and is the average of other checkpoints.",
                "move or delete it first");
  return result;
}

}  // namespace heed
