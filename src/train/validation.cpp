#include "train/validation.h"

#include <fmt/core.h>

#include <cmath>

#include "base/format.h"
#include "evaluate/scorer.h"
#include "evaluate/translation.h"
#include "store/best.h"
#include "train/divergence.h"

namespace heed {
namespace {

std::string value_of(double loss, double bleu, bool by_bleu) {
  return by_bleu ? format_fixed(bleu, 2) : format_fixed(loss, 4);
}

constexpr const char* kNewBest = "new best";
constexpr const char* kRuined = "far worse than untrained weights";

}  // namespace

std::optional<ValidEvent> Validation::measure(std::int64_t step, const ParamVec<float>& values,
                                              const std::function<bool()>& stop) const {
  const Split& split = run.data.valid;
  const Evaluation e = evaluate(run.model, values, objective.evaluation(split), *run.pool, stop);
  if (e.sums.tokens == 0) return std::nullopt;
  ValidEvent line{.step = step,
                  .loss = e.loss(),
                  .perplexity = e.perplexity(),
                  .accuracy = e.accuracy(),
                  .tokens = e.sums.tokens};
  if (const auto bytes = objective.scored_bytes(split)) line.bits_per_byte = e.bits_per_byte(bytes);
  if (by_bleu() && std::isfinite(e.loss()))
    line.bleu =
        validation_bleu(run.model, values, objective, split, *run.tokenizers.target, *run.pool);
  return line;
}

bool Validation::judge(ValidEvent& line, State& state) const {
  const bool best = by_bleu() ? state.best_step < 0 || line.bleu > state.best_metric
                              : line.loss < state.best_loss;
  if (best) {
    state.best_loss = line.loss;
    state.best_metric = line.bleu.value_or(state.best_metric);
    state.best_step = line.step;
    state.stalled = 0;
    line.verdict = kNewBest;
  } else {
    state.stalled += 1;
    const int patience = run.config.train.patience;
    line.verdict =
        fmt::format("stalled {}{} (best {} @ {})", state.stalled,
                    patience > 0 ? fmt::format("/{}", patience) : "",
                    value_of(state.best_loss, state.best_metric, by_bleu()), state.best_step);
  }
  if (line.loss > divergence_threshold(run.model)) line.verdict = kRuined;
  return best;
}

void Validation::judge_end(ValidEvent& line, const State& state,
                           const std::optional<State>& best) const {
  line.verdict =
      !best || is_better(state, *best)
          ? kNewBest
          : fmt::format("not better than {} @ {}",
                        value_of(best->valid_loss, best->valid_bleu, by_bleu()), best->step);
  if (line.loss > divergence_threshold(run.model)) line.verdict = kRuined;
}

}  // namespace heed
