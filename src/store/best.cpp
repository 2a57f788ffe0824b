#include "store/best.h"

#include <algorithm>
#include <cmath>

#include "base/folders.h"
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

State best_so_far(const State& checkpoint) {
  State best = checkpoint;
  best.step = checkpoint.best_step;
  best.valid_loss = checkpoint.best_loss;
  best.valid_metric = checkpoint.best_metric;
  return best;
}

std::optional<State> state_of(const std::filesystem::path& run, std::int64_t step) try {
  return read_state(run / kCheckpoints / step_folder_name(step)).state;
} catch (const Unreadable&) {
  if (path_exists(run / kCheckpoints / step_folder_name(step))) throw;
  return std::nullopt;
} catch (const Error&) {
  return std::nullopt;
}

std::vector<State> states_of(const std::filesystem::path& run) {
  std::vector<State> states;
  for (const std::int64_t step : list_steps(run)) try {
      if (const auto state = state_of(run, step)) states.push_back(*state);
    } catch (const Unreadable& e) {
      throw Unreadable(e.as(e.exit(), again_or_before(run, step)));
    }
  return states;
}

std::optional<State> best_checkpoint(const std::filesystem::path& run, std::int64_t up_to) {
  std::vector<State> states = states_of(run);
  std::erase_if(states, [&](const State& state) { return state.step > up_to; });
  const auto best = std::ranges::min_element(states, is_better);
  return best == states.end() ? std::nullopt : std::optional(*best);
}

}  // namespace heed
