#include "train/divergence.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "evaluate/scorer.h"

namespace heed {
namespace {

// The first tensor with a NaN or an infinity in it, or "".
std::string first_not_finite(const ParamTable& table, const ParamVec<float>& numbers) {
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
  const std::string value = first_not_finite(table, values);
  const std::string gradient = first_not_finite(table, gradients);
  return "NaN or infinity in " + (!value.empty()      ? "the values of " + value
                                  : !gradient.empty() ? "the gradient of " + gradient
                                                      : otherwise);
}

double divergence_threshold(const Transformer& model) {
  const double vocab = model.target_vocab, d_model = model.config.d_model;
  return 4 * (std::log(vocab) + std::sqrt(d_model));
}

std::string checkpoint_defect(const Predictor& predictor, const ExampleList& examples, Pool& pool) {
  const Transformer& model = predictor.model;
  const std::string bad = first_not_finite(model.table, predictor.values);
  if (!bad.empty()) return "NaN or infinity in the values of " + bad;
  const ExampleList few{std::min<std::int64_t>(4, examples.count), examples.get};
  const Evaluation e = evaluate(predictor, few, pool);
  if (e.sums.tokens == 0 || e.loss() <= divergence_threshold(model)) return "";
  if (!std::isfinite(e.loss())) return "NaN or infinity in the loss of the new weights";
  return fmt::format(
      "the new weights give a loss of {:.1e} nats per token, expected at most {:.0f}", e.loss(),
      divergence_threshold(model));
}

std::string divergence_text(std::int64_t step, const std::string& what, const StepResult& last) {
  const std::string text = fmt::format("training diverged at step {}: {}", step, what);
  if (last.sums.tokens == 0) return text + ".";
  return fmt::format("{} (last step: loss {}, learning rate {:.1e}).", text,
                     std::isnan(last.loss()) ? "nan" : format_fixed(last.loss(), 4), last.rate);
}

Error divergence_error(const std::string& text, const std::string& run, std::int64_t saved,
                       double rate) {
  return Error(
      Exit::diverged,
      text + (saved < 0 ? " There is no checkpoint yet."
                        : fmt::format(" The checkpoints up to step {} are good.", saved)),
      fmt::format("see it again: heed resume {0} --set train.log_every=1; continue with a lower "
                  "rate: heed resume {0} --set optimizer.learning_rate={1:.1e}; if that diverges "
                  "at once, start over with that rate",
                  shell_word(run), rate / 10));
}

}  // namespace heed
