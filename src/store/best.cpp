#include "store/best.h"

#include <cmath>

#include "base/error.h"
#include "base/input_file.h"
#include "store/layout.h"
#include "store/run_folder.h"

namespace heed {

bool is_better(const State& one, const State& other) {
  if (std::isnan(one.valid_loss) || std::isnan(other.valid_loss)) {
    if (std::isnan(one.valid_loss) != std::isnan(other.valid_loss))
      return std::isnan(other.valid_loss);
    return one.step > other.step;
  }
  if (one.valid_metric != other.valid_metric && !std::isnan(one.valid_metric + other.valid_metric))
    return one.valid_metric > other.valid_metric;
  return one.valid_loss != other.valid_loss ? one.valid_loss < other.valid_loss
                                            : one.step < other.step;
}

std::optional<State> state_of(const std::filesystem::path& run, std::int64_t step) try {
  const std::filesystem::path file = run / kCheckpoints / step_folder_name(step) / kStateFile;
  return parse_state(read_file(file, kMaxStateFile), file.string()).state;
} catch (const Error&) {  // damaged, removed meanwhile, or not to be read now
  return std::nullopt;
}

std::vector<State> states_of(const std::filesystem::path& run) {
  std::vector<State> states;
  for (const std::int64_t step : list_steps(run))
    if (const auto state = state_of(run, step); state && state->step == step)
      states.push_back(*state);
  return states;
}

std::optional<State> best_checkpoint(const std::filesystem::path& run, std::int64_t up_to) {
  std::optional<State> best;
  for (const State& state : states_of(run))
    if (state.step <= up_to && (!best || is_better(state, *best))) best = state;
  return best;
}

}  // namespace heed
