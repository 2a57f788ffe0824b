// The most probable tokens of a row of logits, and where one token stands among them.
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

// Why this token: what the model expected in its place, from the softmax over the whole row.
struct TokenOdds {
  int id = 0;
  double log_probability = 0;          // nats
  int rank = 0;                        // 1: no id is more probable
  double entropy = 0;                  // nats: 0 if the model is certain, log(ids) if it guesses
  std::vector<ScoredToken> best = {};  // the n most probable ids
};
TokenOdds token_odds(std::span<const float> logits, int id, int n);

}  // namespace heed
