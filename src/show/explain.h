// One prediction explained: what every layer would predict, who wrote the answer, and what one head
// computed. All but what a head costs is read off one forward pass of training in double, without
// dropout.
//
// One row of the answering stack (a decoder's, else the encoder's) predicts. With pre-norm its last
// layer's output is a sum of what was written into it, [d_model] each:
//
//   x = s E[id] + position + sum over layers of  sum_h W_O,h o_h + b_O  (self; cross)
//                                              + W_2 f + b_2            (feed-forward)
//   y = N(x) + beta,   N(z) = r (z - mean z) g,   logits = W y
//
// g and beta are gain and bias of the stack's last norm, r is 1 / its deviation of x; RMSNorm has
// no mean. With r frozen N is linear, and so every part has a share of the answer's logit less the
// mean of all logits (softmax does not see what all logits have in common), or of the difference
// of two answers (direct logit attribution: Elhage et al. 2021, "A Mathematical Framework for
// Transformer Circuits"):
//
//   u = W_answer - mean_k W_k   or   W_answer - W_against              [d_model]
//   share(z) = u . N(z) = a . z,   a = r (g u - mean(g u)),   share(beta) = u . beta
//   sum of all shares = u . y = logit_answer - mean logit   or   - logit_against
//
// The part of key j in the share of a head is P_j a . (W_O,h v_j), a value bias being part of v_j.
// With post-norm no such sum exists, because each norm divides all that came before it by its own
// deviation: there are no shares then.
//
// A share is what a part wrote itself, not what later parts made of it. So each head is also taken
// away (show/ablation.h): what the log-probability of the answer loses if the head gives 0. The
// strongest head is the one that costs most. Where so many passes would take more than two seconds,
// as many as do are made, at least ten, for the heads with the largest shares (with post-norm: that
// add the longest vectors W_O,h o_h).
//
// What a layer would predict (logit lens: nostalgebraist 2020): W (N(x) + beta) of the row after
// that layer, with r of that row; with post-norm W x.
#pragma once

#include "base/json_fwd.h"
#include "data/objective.h"
#include "nn/transformer.h"

namespace heed {

struct Prediction {
  Example read;  // framed
  int row = 0;   // of the answering stack
  // What the answer may be, the most probable of these: a word with and without a space before it.
  // Empty: the most probable token; no other answer.
  TokenIds answer = {}, against = {};
  TokenIds not_next = {};  // no answers, unless `answer` names one
};

// What is read, with an answer as its only label.
Example asked(const Transformer& model, const Prediction& prediction, int answer);

// The keys from "answer" on of docs/formats.md, "What heed explain prints", without tokens beside
// the ids. "pull" (show/pull.h) needs Prediction::answer: of its loss alone. Error (usage) if both
// answers are one token; Error (diverged) if the model has NaN.
Json explain(const Transformer& model, const ParamVec<float>& values, const Prediction& prediction);

}  // namespace heed
