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

namespace {

std::optional<State> state_in(const std::filesystem::path& folder) try {
  return read_state(folder).state;
} catch (const Unreadable&) {
  if (path_exists(folder)) throw;
  return std::nullopt;
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace

std::optional<State> state_of(const std::filesystem::path& run, std::int64_t step) {
  return state_in(run / kCheckpoints / step_folder_name(step));
}

std::vector<State> states_of(const std::filesystem::path& run) {
  std::vector<State> states;
  for (const std::int64_t step : list_steps(run)) try {
      if (const auto state = state_of(run, step)) states.push_back(*state);
    } catch (const Unreadable& e) {
      throw e.as(e.exit(), again_or_before(run, step));
    }
  return states;
}

std::optional<BestCheckpoint> other_best(const std::filesystem::path& run) {
  std::error_code none;
  const std::string name = std::filesystem::read_symlink(run / kCheckpoints / "best", none);
  if (name.starts_with(kStepPrefix) || name.find('/') != name.npos) return std::nullopt;
  const auto state = state_in(run / kCheckpoints / name);
  return state ? std::optional(BestCheckpoint{*state, name}) : std::nullopt;
}

std::optional<BestCheckpoint> best_of(const std::vector<BestCheckpoint>& some) {
  const auto best = std::ranges::min_element(some, is_better);
  return best == some.end() ? std::nullopt : std::optional(*best);
}

std::optional<BestCheckpoint> best_checkpoint(const std::filesystem::path& run,
                                              std::int64_t up_to) {
  std::vector<BestCheckpoint> all;
  for (const State& state : states_of(run))
    if (state.step <= up_to) all.push_back({state, step_folder_name(state.step)});
  if (const auto other = other_best(run)) all.push_back(*other);
  return best_of(all);
}

}  // namespace heed
