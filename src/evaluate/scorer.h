// Forward passes that only score: how well a model predicts the labels of given examples. Each is
// scored once, as in training but without dropout or smoothing, to the same bytes whatever the
// threads.
#pragma once

#include <functional>
#include <vector>

#include "base/pool.h"
#include "data/objective.h"
#include "nn/transformer.h"

namespace heed {

// Source and target tokens of one pass that only scores: its activations stay in the cache.
constexpr int kForwardTokens = 1024;

struct Evaluation {
  LossSums sums;
  double loss() const { return sums.nll / static_cast<double>(sums.tokens); }  // nats per token
  double perplexity() const;
  double accuracy() const { return static_cast<double>(sums.correct) / sums.tokens; }
  // nats / (ln 2 * bytes)
  double bits_per_byte(std::uint64_t bytes) const;
};

// `stop`, if given, is asked between chunks; an evaluation that was stopped has tokens 0.
Evaluation evaluate(const Transformer& model, const ParamVec<float>& values,
                    const ExampleList& examples, Pool& pool,
                    const std::function<bool()>& stop = nullptr);

// For each example log p(label), in nats, of each label that is scored. Error (diverged) if the
// logits are not finite.
std::vector<std::vector<double>> label_log_probs(const Transformer& model,
                                                 const ParamVec<float>& values,
                                                 const std::vector<Example>& examples, Pool& pool);

}  // namespace heed
