#include "train/validation.h"

#include <fmt/core.h>

#include <cmath>

#include "base/format.h"
#include "evaluate/scorer.h"
#include "evaluate/translation.h"

namespace heed {

std::optional<ValidLine> Validation::measure(std::int64_t step, const ParamVec<float>& values,
                                             const std::function<bool()>& stop) const {
  ValidLine line;
  line.step = step;
  const Split& split = run.data.valid;
  line.evaluation = evaluate(run.model, values, objective.evaluation(split), *run.pool, stop);
  if (line.evaluation.sums.tokens == 0) return std::nullopt;
  line.bytes = objective.scored_bytes(split);
  if (by_bleu() && std::isfinite(line.evaluation.loss()))
    line.bleu =
        validation_bleu(run.model, values, objective, split, *run.tokenizers.target, *run.pool);
  return line;
}

void forget_best(State& state) {
  const State fresh;
  state.best_loss = fresh.best_loss;
  state.best_metric = fresh.best_metric;
  state.best_step = fresh.best_step;
}

bool Validation::is_best(const ValidLine& line, const State& state) const {
  if (by_bleu()) return state.best_step < 0 || line.bleu > state.best_metric;
  return line.evaluation.loss() < state.best_loss;
}

std::string Validation::count_best(const ValidLine& line, State& state) const {
  state.best_loss = line.evaluation.loss();
  if (by_bleu()) state.best_metric = line.bleu;
  state.best_step = line.step;
  state.stalled = 0;
  return "new best";
}

std::string Validation::count_stalled(State& state) const {
  state.stalled += 1;
  const int patience = run.config.train.patience;
  const std::string best =
      by_bleu() ? format_fixed(state.best_metric, 2) : format_fixed(state.best_loss, 4);
  return fmt::format("stalled {}{} (best {} @ {})", state.stalled,
                     patience > 0 ? fmt::format("/{}", patience) : "", best, state.best_step);
}

}  // namespace heed
