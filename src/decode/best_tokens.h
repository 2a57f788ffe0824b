// The most probable tokens of a row of logits.
#pragma once

#include <span>
#include <vector>

namespace heed {

struct ScoredToken {
  int id;
  double log_probability;  // nats, of the softmax over the whole row
};

// The n most probable ids that are not banned, best first; ties by lower id.
std::vector<ScoredToken> best_tokens(std::span<const float> logits, int n,
                                     std::span<const int> banned);
// The log-probability of one id.
ScoredToken scored_token(std::span<const float> logits, int id);

}  // namespace heed
