// What each part of a model is worth: the loss on held-out text with the part taken away.
//
// A head's output o (before W_O) is replaced by its mean over all positions of these texts; so is
// what a feed-forward network or a layer adds to the rows. The mean keeps what does not depend on
// the text, so the difference is what the part tells of the text. Two parts may stand in for one
// another: then neither matters alone. So each part is also kept alone, with all others of its sort
// taken away.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "base/pool.h"
#include "data/objective.h"
#include "evaluate/comparison.h"
#include "nn/transformer.h"

namespace heed {

enum class Sort { attention, layer, feed_forward, head };
const char* sort_name(Sort sort);  // "attention", "layer", "feed_forward", "head"

// A part, or all heads of a kind of attention.
struct ModelPart {
  Sort sort;
  AttentionKind kind;  // of a layer and its feed-forward network: that of its self-attention
  int layer = -1, head = -1;

  auto operator<=>(const ModelPart&) const = default;
  std::string name() const;  // "cross, layer 0, head 1"
};

// Kind by kind: attention, then layers, feed-forward networks and heads.
std::vector<ModelPart> parts_of(const Transformer& model);

struct PartLoss {
  ModelPart part;
  // Of the loss, in nats per token, without the part and with it; and the ends of its 95 % interval
  // (evaluate/comparison.h).
  double difference = 0, low = 0, high = 0;
  double all_but_this;  // the same with all others of its sort and kind taken away; NaN: no others
};

struct Ablation {
  double loss = 0;  // of the whole model
  std::int64_t sequences = 0, different = 0, tokens = 0;
  int passes = 0;               // forward passes over these sequences
  std::vector<PartLoss> parts;  // the largest difference first
};

// `zero`: takes away by 0, not by the mean. Each of the examples has a token to predict. Does not
// depend on the number of threads.
Ablation ablate(const Transformer& model, const ParamVec<float>& values,
                const std::vector<Example>& examples, Pool& pool, bool zero);

}  // namespace heed
