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
  if (one.valid_bleu != other.valid_bleu && !std::isnan(one.valid_bleu + other.valid_bleu))
    return one.valid_bleu > other.valid_bleu;
  return one.valid_loss != other.valid_loss ? one.valid_loss < other.valid_loss
                                            : one.step < other.step;
}

std::optional<State> best_checkpoint(const std::filesystem::path& run, std::int64_t up_to) {
  std::optional<State> best;
  for (const std::int64_t step : list_steps(run)) {
    if (step > up_to) continue;
    const std::filesystem::path file = run / kCheckpoints / step_folder_name(step) / kStateFile;
    try {
      const State state = parse_state(read_file(file, kMaxStateFile), file.string()).state;
      if (state.step == step && (!best || is_better(state, *best))) best = state;
    } catch (const Error&) {  // damaged, or removed meanwhile
    }
  }
  return best;
}

}  // namespace heed
