// What may be written next: rules of every search (greedy, beam, sampling), and from logits to the
// tokens that may be drawn. Those of sampling apply in the usual order: repetition penalty (Keskar
// et al. 2019, section 4.1), temperature, top-k, top-p (nucleus sampling, Holtzman et al. 2020),
// min-p (Nguyen et al. 2024). Pure functions, safe from any thread.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "text/tokenizer.h"

namespace heed {

// To add one: a line in allowed_next(), and one in CommandLine::add_rules().
struct WritingRules {
  int no_repeat = 0;   // no so many tokens in a row twice (Paulus et al. 2018, section 2.5); 0: any
  int min_tokens = 0;  // the end not before so many
  std::vector<int> beginning = {};  // of a text
  std::vector<int> not_next = {};   // ids that do not follow it
};

struct AllowedNext {
  std::optional<int> only;  // this id and no other
  std::vector<int> banned;  // these not
};

// After `text`, whose last `written` tokens are new. `never`: ids that are banned everywhere.
AllowedNext allowed_next(const WritingRules& rules, std::span<const int> text, std::size_t written,
                         std::span<const int> never, int end);

struct SamplingRules {
  double temperature = 1.0;         // 0: always the most probable token
  int top_k = 0;                    // keep the k most probable tokens; 0: all
  double top_p = 1.0;               // keep the smallest set with at least this total probability
  double min_p = 0.0;               // keep tokens with at least this fraction of the top one
  double repetition_penalty = 1.0;  // tokens that occurred: positive logits / this, others * this

  bool draws() const { return temperature > 0; }  // else only the penalty and what is banned count
};

// In place: the row of logits, all finite, becomes the probabilities of the next token, 0 for
// tokens that the rules exclude. `occurred` [vocab] marks the tokens that the penalty applies to
// (empty: none). `banned` ids get 0; if all are banned, </s> follows. Ties at a cut-off keep the
// lower ids.
void apply_rules(std::span<float> row, const SamplingRules& rules,
                 const std::vector<bool>& occurred, std::span<const int> banned);

// The token whose share of [0, 1) contains u; never one of probability 0.
int draw(std::span<const float> probabilities, double u);

}  // namespace heed
