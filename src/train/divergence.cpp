#include "train/divergence.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"

namespace heed {

std::string first_not_finite(const ParamTable& table, const ParamVec<float>& numbers) {
  for (const ParamInfo& info : table.infos()) {
    const float* p = numbers.data() + info.param.offset;
    if (std::any_of(p, p + info.param.size(), [](float x) { return !std::isfinite(x); }))
      return info.name;
  }
  return "";
}

bool is_ruined(double loss, int vocab) {
  return !(loss <= 4 * std::log(static_cast<double>(vocab)));
}

std::string divergence_text(const Divergence& d) {
  return "Training diverged at step " + std::to_string(d.step) + ": " + d.what + " (loss " +
         format_fixed(d.loss, 4) + ", learning rate " + format_scientific(d.rate) + ").";
}

Error divergence_error(const Divergence& d) {
  const std::string run = shell_word(d.run);
  return Error(Exit::diverged,
               divergence_text(d) + (d.saved < 0 ? " There is no checkpoint yet."
                                                 : " The checkpoints up to step " +
                                                       std::to_string(d.saved) + " are good."),
               "see it again: heed resume " + run +
                   " --set train.log_every=1; go on more slowly: " + "heed resume " + run +
                   " --set optimizer.learning_rate=" + format_scientific(d.peak_learning_rate / 3) +
                   "; if that diverges at once, train anew with such a rate");
}

}  // namespace heed
