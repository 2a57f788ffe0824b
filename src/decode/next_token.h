// What may follow, from a row of logits: the most probable tokens, where one token stands among
// them, the rules of every search (greedy, beam, sampling), and the tokens that may be drawn. The
// rules of sampling apply in the usual order: repetition penalty (Keskar et al. 2019, section 4.1),
// temperature, top-k, top-p (nucleus sampling, Holtzman et al. 2020), min-p (Nguyen et al. 2024).
// Pure functions, safe from any thread.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/std_names.h"
#include "text/tokenizer.h"

namespace heed {

struct ScoredToken {
  int id;
  double log_probability;  // nats, of the softmax over the whole row
};

// The n most probable ids that are not banned, best first; ties by lower id.
vector<ScoredToken> best_tokens(span<const float> logits, int n, span<const int> banned);
// The log-probability of one id.
ScoredToken scored_token(span<const float> logits, int id);

// Why this token: what the model expected in its place, from the softmax over the whole row.
struct TokenOdds {
  int id = 0;
  double log_probability = 0;     // nats
  int rank = 0;                   // 1: no id is more probable
  double entropy = 0;             // nats: 0 if the model is certain, log(ids) if it guesses
  vector<ScoredToken> best = {};  // the n most probable ids
};
TokenOdds token_odds(span<const float> logits, int id, int n);

// To add one: a line in allowed_next(), and one in CommandLine::add_rules().
struct WritingRules {
  int no_repeat = 0;   // no so many tokens in a row twice (Paulus et al. 2018, section 2.5); 0: any
  int min_tokens = 0;  // the end not before so many
  vector<int> beginning = {};  // of a text
  vector<int> not_next = {};   // ids that do not follow it
};

struct AllowedNext {
  optional<int> only;  // this id and no other
  vector<int> banned;  // these not
};

// After `text`, whose last `written` tokens are new. `never`: ids that are banned everywhere.
AllowedNext allowed_next(const WritingRules& rules, span<const int> text, size_t written,
                         span<const int> never, int end);

struct SamplingRules {
  double temperature = 1.0;         // 0: always the most probable token
  int top_k = 0;                    // keep the k most probable tokens; 0: all
  double top_p = 1.0;               // keep the smallest set with at least this total probability
  double min_p = 0.0;               // keep tokens with at least this fraction of the top one
  double repetition_penalty = 1.0;  // tokens that occurred: positive logits / this, others * this

  bool draws() const { return temperature > 0; }  // else only the penalty and what is banned count
};

// In place: the row of logits, all finite, becomes the probabilities of the next token, 0 for
// tokens that the rules exclude. The penalty applies to tokens of `text`. `banned` ids get 0; if
// all are banned, </s> follows. Ties at a cut-off keep the lower ids.
void apply_rules(span<float> row, const SamplingRules& rules, span<const int> text,
                 span<const int> banned);

// The token whose share of [0, 1) contains u; never one of probability 0.
int draw(span<const float> probabilities, double u);

}  // namespace heed
