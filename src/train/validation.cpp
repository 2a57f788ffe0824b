#include "train/validation.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/format.h"
#include "base/std_names.h"
#include "decode/beam.h"
#include "evaluate/figures.h"
#include "evaluate/scorer.h"
#include "evaluate/writing.h"
#include "store/run_folder.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr size_t kTranslatedAtOnce = 1000;  // sentences

// The first tensor with a NaN or an infinity in it, or "".
string first_not_finite(const ParamTable& table, const ParamVec<float>& numbers) {
  for (const ParamInfo& info : table.infos()) {
    const float* p = numbers.data() + info.param.offset;
    if (std::any_of(p, p + info.param.size(), [](float x) { return !isfinite(x); }))
      return info.name;
  }
  return "";
}

// Of greedy translations of the held-out part, split at spaces.
Sums translation_sums(const PreparedRun& run, const Objective& objective,
                      const ParamVec<float>& values) {
  const Tokenizer& target = *run.tokenizers.target;
  const Split& valid = run.data.valid;
  vector<TokenIds> sources;
  for (int64_t i = 0; i < ssize(valid.target_begin) - 1; ++i)
    sources.push_back(objective.framed_source(valid.sentence(Side::source, i)));
  const BeamOptions options{.beam_size = 1,
                            .max_length = translation_limit(run.data.train.longest(Side::target)),
                            .banned = objective.never_written(target)};
  Sums sums(translation_counts("", {""}).size());  // as many in each process
  run.crew.in_pieces(sources.size(), kTranslatedAtOnce, [&](size_t begin, size_t end) {
    const span few(sources.data() + begin, end - begin);
    for (const auto& found : beam_search(run.with(values), run.crew.pool(), few, options)) {
      const string written = found.empty() ? "" : target.decode(found.front().ids);
      const TokenIds expected = valid.sentence(Side::target, int64_t(begin++));
      sums += translation_counts(written, {target.decode(expected, true)},
                                 {.tokenize = "none", .units = &target});
    }
  });
  for (double& sum : sums) sum = run.crew.sum(sum);
  return sums;
}

}  // namespace

bool can_validate(const PreparedRun& run, const Objective& objective) {
  if (!run.config.data.has_validation()) return false;
  const ExampleList examples = objective.evaluation(run.data.valid);
  Example e;
  for (int64_t i = 0; i < examples.count; ++i) {
    examples.get(i, e);
    if (e.scored() > 0) return true;
  }
  return false;
}

optional<ValidEvent> measure_validation(const PreparedRun& run, const Objective& objective,
                                        int64_t step, const ParamVec<float>& values,
                                        const function<bool()>& stop) {
  const Split& split = run.data.valid;
  const Evaluation e = evaluate(run.with(values), objective.evaluation(split), run.crew, stop);
  if (e.sums.tokens == 0) return nullopt;
  Sums sums = e.counts(objective.scored_bytes(split));
  ValidEvent line{.step = step,
                  .loss = e.loss(),
                  .perplexity = figure("perplexity").of(sums),
                  .accuracy = figure("accuracy").of(sums),
                  .tokens = e.sums.tokens};
  if (sums[kBytes] > 0) line.bits_per_byte = figure("bits_per_byte").of(sums);
  const string& select_by = run.config.train.select_by;
  const Figure* metric = selecting_figure(select_by);
  if (metric != nullptr && isfinite(e.loss())) {
    if (metric->needs == Figure::translations) sums = translation_sums(run, objective, values);
    line.metric_name = select_by;
    line.metric = metric->of(sums);
  }
  return line;
}

string best_in_words(const State& best, const Figure* by) {
  return fmt::format(
      "{} @ {}",
      by ? format_fixed(abs(best.valid_metric), by->digits) : format_fixed(best.valid_loss, 4),
      best.step);
}

bool judge_validation(const PreparedRun& run, ValidEvent& line, State& state, bool on_grid,
                      const optional<State>& best) {
  const Figure* by = line.metric ? selecting_figure(*line.metric_name) : nullptr;
  line.verdict =
      best && !is_better(state, *best) ? "not better than " + best_in_words(*best, by) : "new best";
  const bool better = on_grid && (state.best_step < 0 || is_better(state, best_so_far(state)));
  if (better) {
    state.best_loss = line.loss;
    if (line.metric) state.best_metric = state.valid_metric;
    state.best_step = line.step;
    state.stalled = 0;
  } else if (on_grid) {
    state.stalled += 1;
    const int patience = run.config.train.patience;
    line.verdict = fmt::format("stalled {}{} (best {})", state.stalled,
                               patience > 0 ? fmt::format("/{}", patience) : "",
                               best_in_words(best_so_far(state), by));
  }
  if (line.loss > divergence_threshold(run.model))
    line.verdict = "far worse than untrained weights";
  return better;
}

string not_finite(const ParamTable& table, const ParamVec<float>& values,
                  const ParamVec<float>& gradients) {
  const string value = first_not_finite(table, values);
  const string gradient = first_not_finite(table, gradients);
  return "NaN or infinity in " + (!value.empty()      ? "the values of " + value
                                  : !gradient.empty() ? "the gradient of " + gradient
                                                      : "the loss or its gradient");
}

double divergence_threshold(const Transformer& model) {
  const double vocab = model.target_vocab, d_model = model.config.d_model;
  return 4 * (std::log(vocab) + sqrt(d_model));
}

string checkpoint_defect(const Predictor& predictor, const ExampleList& examples, Pool& pool) {
  const Transformer& model = predictor.model;
  const string bad = first_not_finite(model.table, predictor.values);
  if (!bad.empty()) return "NaN or infinity in the values of " + bad;
  const ExampleList few{min<int64_t>(4, examples.count), examples.get};
  const Evaluation e = evaluate(predictor, few, pool);
  if (e.sums.tokens == 0 || e.loss() <= divergence_threshold(model)) return "";
  return fmt::format(
      "the new weights give a loss of {:.1e} nats per token, expected at most {:.0f}", e.loss(),
      divergence_threshold(model));
}

}  // namespace heed
