// What each part of a model is worth: the loss on held-out text with the part taken away.
//
// A head's output o (before W_O) is replaced by its mean over all positions of these texts; so is
// what a feed-forward network or a layer adds to the rows. The mean keeps what does not depend on
// the text, so the difference is what the part tells of the text. Two parts may stand in for one
// another: then neither matters alone. So each part is also kept alone, with all others of its sort
// taken away.
#pragma once

#include <compare>
#include <vector>

#include "base/json_fwd.h"
#include "base/pool.h"
#include "base/std_names.h"
#include "data/objective.h"
#include "decode/predictor.h"
#include "evaluate/comparison.h"
#include "nn/transformer.h"

namespace heed {

// A part, or all heads of a kind of attention.
struct ModelPart {
  enum Type { attention, layers, feed_forward, heads } type;
  AttentionKind kind;  // of a layer and its feed-forward network: that of its self-attention
  int layer = -1, head = -1;

  auto operator<=>(const ModelPart&) const = default;
};

// Kind by kind: attention, then layers, feed-forward networks and heads.
vector<ModelPart> parts_of(const Transformer& model);

// {"loss": of the whole model, in nats per token; "sequences", "different", "tokens"; "passes":
// forward passes over them; "replaced_by"; "parts": the largest difference first}. Of a part:
// "sort", "kind", "layer", "head", "name"; "difference" of the loss without it; "low", "high": the
// ends of its 95 % interval (evaluate/comparison.h); "all_but_this": the same difference with all
// others of its sort and kind taken away (NaN: there are no others).
//
// `zero`: takes away by 0, not by the mean. Each of the examples has a token to predict. Does not
// depend on the number of threads.
Json ablate(const Transformer& model, const ParamVec<float>& values,
            const vector<Example>& examples, Pool& pool, bool zero);

// -log p of the example's labels if the part gives 0.
double loss_without(const ModelPart& part, const Predictor& predictor, const Example& example);

}  // namespace heed
