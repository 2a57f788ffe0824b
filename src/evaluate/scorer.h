// Forward passes that only score: how well a model predicts the labels of given examples. Each
// example is scored once, as in training but without dropout and label smoothing. The result has
// the same bytes for any number of threads.
#pragma once

#include <functional>
#include <vector>

#include "base/std_names.h"
#include "data/objective.h"
#include "decode/next_token.h"
#include "decode/predictor.h"
#include "evaluate/figures.h"
#include "step/crew.h"

namespace heed {

// Source and target tokens of one pass: few enough for its activations to stay in the CPU's cache.
constexpr int kForwardTokens = 1024;

struct Evaluation {
  LossSums sums;
  // Tokens but </s>, which is easy and in every line; those that are the first of the largest
  // logits.
  int64_t judged = 0, right = 0;
  // Nats per token; NaN if there is none to predict.
  double loss() const { return sums.nll / double(sums.tokens); }
  // For evaluate/figures.h.
  Sums counts(uint64_t bytes) const {
    return {sums.nll, double(sums.tokens), double(right), double(judged), double(bytes)};
  }
};

// `stop`, if given, is called between chunks; a stopped evaluation has 0 tokens.
Evaluation evaluate(const Predictor& predictor, const ExampleList& examples, const Crew& crew,
                    const function<bool()>& stop = nullptr);

// For each example, log p(label) in nats for each scored label, with its rank, the entropy and the
// n most probable ids in its place; n = -1: without these. Error (diverged) if the logits are not
// finite. All threads of the pool share the observer.
vector<vector<TokenOdds>> label_odds(const Predictor& predictor, const vector<Example>& examples,
                                     Pool& pool, int n, Observer<float>* observer = nullptr);

}  // namespace heed
