// Log-probabilities of given labels, many examples at a time: forward passes of the ordinary kind,
// as in training.
#pragma once

#include <string>
#include <vector>

#include "base/pool.h"
#include "data/examples.h"
#include "nn/transformer.h"

namespace heed {

// log p(label), in nats, of every row of every example's output side (0 where unlabelled).
std::vector<std::vector<double>> label_log_probs(const Transformer& model,
                                                 const ParamVec<float>& values,
                                                 const std::vector<Example>& examples, Pool& pool);

// A line as a model reads and scores it: one example, or the tiles of a line longer than those of
// training; masked_lm: one example for each token, which is masked in it (Salazar et al. 2020).
// `source` and `target` are ids without <s> and </s>; `source` is for seq2seq and prefix_lm (there
// empty: <s> alone).
std::vector<Example> score_examples(const RunConfig& config, const std::vector<int>& source,
                                    const std::vector<int>& target, int mask_id);

// seq2seq: from `source`, with its </s>, to `target`, here without <s> and </s>.
Example pair_example(std::vector<int> source, const std::vector<int>& target);

// Error (data) naming `what` if a side of the example is longer than the model has positions.
void check_positions(const RunConfig& config, const Example& example, const std::string& what);

}  // namespace heed
