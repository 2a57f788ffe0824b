// The loss of a whole split: every token once, forward only, always the same bytes whatever the
// threads.
#pragma once

#include <functional>

#include "base/pool.h"
#include "data/examples.h"
#include "nn/transformer.h"

namespace heed {

// Source and target tokens of one pass that only scores: its activations stay in the cache.
constexpr int kForwardTokens = 1024;

struct Evaluation {
  LossSums sums;
  double loss() const { return sums.plain / static_cast<double>(sums.tokens); }  // nats per token
  double perplexity() const;
  double accuracy() const { return static_cast<double>(sums.correct) / sums.tokens; }
  // nats / (ln 2 * bytes)
  double bits_per_byte(std::uint64_t bytes) const;
};

// The same for any examples: make(i, example) gives the i-th of `count`; called by several threads.
Evaluation evaluate(const Transformer& model, const ParamVec<float>& values, std::int64_t count,
                    const std::function<void(std::int64_t, Example&)>& make, Pool& pool,
                    const std::function<bool()>& stop = nullptr);

// `stop`, if given, is asked between chunks; an evaluation that was stopped has tokens 0.
Evaluation evaluate(const Transformer& model, const ParamVec<float>& values,
                    const Examples& examples, Pool& pool,
                    const std::function<bool()>& stop = nullptr);

}  // namespace heed
