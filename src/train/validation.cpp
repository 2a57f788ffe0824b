#include "train/validation.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/format.h"
#include "decode/beam.h"
#include "evaluate/figures.h"
#include "evaluate/scorer.h"
#include "evaluate/translation.h"
#include "store/run_folder.h"
#include "text/utf8.h"
#include "train/divergence.h"

namespace heed {
namespace {

constexpr std::size_t kTranslatedAtOnce = 1000;  // sentences

bool predicts_any(const ExampleList& examples) {
  Example e;
  for (std::int64_t i = 0; i < examples.count; ++i) {
    examples.get(i, e);
    if (e.scored() > 0) return true;
  }
  return false;
}

// The held-out part's targets.
std::vector<std::string> references(const PreparedRun& run) {
  std::vector<std::string> targets;
  const Split& valid = run.data.valid;
  for (std::int64_t i = 0; i < std::ssize(valid.target_begin) - 1; ++i)
    targets.push_back(run.tokenizers.target->decode(valid.sentence(Side::target, i), true));
  return targets;
}

// Of greedy translations of the held-out part, split at spaces.
Sums translation_sums(const PreparedRun& run, const Objective& objective,
                      const ParamVec<float>& values, const Crew& crew) {
  const Tokenizer& target = *run.tokenizers.target;
  const std::vector<std::string> expected = references(run);
  std::vector<TokenIds> sources;
  for (std::int64_t i = 0; i < std::ssize(expected); ++i)
    sources.push_back(objective.framed_source(run.data.valid.sentence(Side::source, i)));
  BeamOptions options;
  options.beam_size = 1;
  options.max_length = translation_limit(run.data.train.longest(Side::target));
  options.banned = objective.never_written(target);
  std::vector<std::string> hypotheses(sources.size());
  crew.in_pieces(sources.size(), kTranslatedAtOnce, [&](std::size_t begin, std::size_t end) {
    const std::span few(sources.data() + begin, end - begin);
    for (const auto& found : beam_search(run.with(values), crew.pool(), few, options))
      hypotheses[begin++] = found.empty() ? "" : target.decode(found.front().ids);
  });
  crew.gather(hypotheses);
  Sums sums;
  for (std::size_t i = 0; i < hypotheses.size(); ++i)
    sums += translation_counts(hypotheses[i], {expected[i]}, {.tokenize = "none"});
  return sums;
}

}  // namespace

std::optional<ValidEvent> Validation::measure(std::int64_t step, const ParamVec<float>& values,
                                              const std::function<bool()>& stop) const {
  const Split& split = run.data.valid;
  const Evaluation e = evaluate(run.with(values), objective.evaluation(split), crew, stop);
  if (e.sums.tokens == 0) return std::nullopt;
  Sums sums = e.counts(objective.scored_bytes(split));
  ValidEvent line{.step = step,
                  .loss = e.loss(),
                  .perplexity = figure("perplexity").of(sums),
                  .accuracy = figure("accuracy").of(sums),
                  .tokens = e.sums.tokens};
  if (sums[kBytes] > 0) line.bits_per_byte = figure("bits_per_byte").of(sums);
  const std::string& select_by = run.config.train.select_by;
  const Figure* metric = selecting_figure(select_by);
  if (metric != nullptr && std::isfinite(e.loss())) {
    if (metric->needs == Figure::translations)
      sums = translation_sums(run, objective, values, crew);
    line.metric_name = select_by;
    line.metric = metric->of(sums);
  }
  return line;
}

Error Validation::out_of_memory() const {
  const Split& valid = run.data.valid;
  return {
      Exit::memory,
      "not enough memory for the validation" +
          (valid.pairs() ? "; its longest sentence is " + valid.longest_in_words() : "") + ".",
      "fewer --threads, or other held-out data (data.max_length does not drop any); heed resume "
      "validates first"};
}

// BLEU counts up to four words in a row.
std::string Validation::doubts() const {
  if (run.config.train.select_by != "bleu") return "";
  const std::vector<std::string> lines = references(run);
  double words = 0;
  for (const std::string& line : lines) words += static_cast<double>(split_words(line).size());
  words /= static_cast<double>(lines.size());
  if (words >= 4) return "";
  return fmt::format(
      "train.select_by bleu counts words between spaces, up to four in a row; the held-out targets "
      "have {:.1f} on average, which it cannot judge: --set train.select_by=chrf",
      words);
}

bool Validation::judge(ValidEvent& line, State& state, bool on_grid,
                       const std::optional<State>& best) const {
  const Figure* by = line.metric ? selecting_figure(*line.metric_name) : nullptr;
  const auto named = [&](double loss, double metric, std::int64_t step) {
    return fmt::format("{} @ {}", by ? format_fixed(metric, by->digits) : format_fixed(loss, 4),
                       step);
  };
  line.verdict = !best || is_better(state, *best)
                     ? "new best"
                     : "not better than " + named(best->valid_loss, best->valid_metric, best->step);
  State known;  // the best on the grid so far
  known.step = state.best_step;
  known.valid_loss = state.best_loss;
  known.valid_metric = state.best_metric;
  const bool better = on_grid && (state.best_step < 0 || is_better(state, known));
  if (better) {
    state.best_loss = line.loss;
    state.best_metric = line.metric.value_or(state.best_metric);
    state.best_step = line.step;
    state.stalled = 0;
  } else if (on_grid) {
    state.stalled += 1;
    const int patience = run.config.train.patience;
    line.verdict = fmt::format("stalled {}{} (best {})", state.stalled,
                               patience > 0 ? fmt::format("/{}", patience) : "",
                               named(state.best_loss, state.best_metric, state.best_step));
  }
  if (line.loss > divergence_threshold(run.model))
    line.verdict = "far worse than untrained weights";
  return better;
}

std::optional<Validation> validation_of(const PreparedRun& run, const Objective& objective) {
  if (!run.config.data.has_validation() || !predicts_any(objective.evaluation(run.data.valid)))
    return std::nullopt;
  return Validation{run, objective};
}

}  // namespace heed
