#include "train/divergence.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "train/evaluator.h"

namespace heed {

namespace {

// The first tensor with a NaN or an infinity in it, or "".
std::string first_bad(const ParamTable& table, const ParamVec<float>& numbers) {
  for (const ParamInfo& info : table.infos()) {
    const float* p = numbers.data() + info.param.offset;
    if (std::any_of(p, p + info.param.size(), [](float x) { return !std::isfinite(x); }))
      return info.name;
  }
  return "";
}

}  // namespace

std::string not_finite(const ParamTable& table, const ParamVec<float>& values,
                       const ParamVec<float>& gradients, const std::string& otherwise) {
  const std::string value = first_bad(table, values), gradient = first_bad(table, gradients);
  return "NaN or infinity in " + (!value.empty()      ? "the values of " + value
                                  : !gradient.empty() ? "the gradient of " + gradient
                                                      : otherwise);
}

double WeightCheck::loss(const ParamVec<float>& values) const {
  const std::int64_t few = std::min<std::int64_t>(4, examples_.count(Examples::kEvaluation));
  const Evaluation e = evaluate(
      model_, values, few,
      [&](std::int64_t i, Example& x) { examples_.make(Examples::kEvaluation, i, x); }, pool_);
  return e.sums.tokens == 0 ? 0 : e.loss();
}

std::string WeightCheck::fault(const ParamVec<float>& values) const {
  const std::string bad = first_bad(model_.table, values);
  if (!bad.empty()) return "NaN or infinity in the values of " + bad;
  return fault_of_loss(loss(values));
}

std::string WeightCheck::fault_of_loss(double loss) const {
  if (!std::isfinite(loss)) return "NaN or infinity in the loss of the new weights";
  const double guessing = std::log(static_cast<double>(model_.target_vocab));
  if (loss <= std::max({16.0, 4 * guessing, 2 * first_loss_})) return "";
  return "the new weights give a loss of " + format_scientific(loss) + ", guessing " +
         format_fixed(guessing, 1);
}

std::string divergence_text(const Divergence& d) {
  return "Training diverged at step " + std::to_string(d.step) + ": " + d.what +
         " (last step: loss " + format_fixed(d.loss, 4) + ", learning rate " +
         format_scientific(d.rate) + ").";
}

Error divergence_error(const Divergence& d) {
  const std::string run = shell_word(d.run);
  return Error(
      Exit::diverged,
      divergence_text(d) +
          (d.saved < 0 ? " There is no checkpoint yet."
                       : " The checkpoints up to step " + std::to_string(d.saved) + " are good."),
      "see it again: heed resume " + run +
          " --set train.log_every=1; go on more slowly: " + "heed resume " + run +
          " --set optimizer.learning_rate=" + format_scientific(d.peak_learning_rate / 10) +
          "; if that diverges at once, train anew with such a rate");
}

}  // namespace heed
