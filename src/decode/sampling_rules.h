// From logits to the tokens that may be drawn. The rules apply in the usual order: repetition
// penalty (Keskar et al. 2019, section 4.1), temperature, top-k, top-p (nucleus sampling, Holtzman
// et al. 2020), min-p (Nguyen et al. 2024). Pure functions, safe from any thread.
#pragma once

#include <span>
#include <vector>

namespace heed {

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
// (empty: none). `banned` ids get 0. Ties at a cut-off keep the lower ids.
void apply_rules(std::span<float> row, const SamplingRules& rules,
                 const std::vector<bool>& occurred, std::span<const int> banned);

// The token whose share of [0, 1) contains u; never one of probability 0.
int draw(std::span<const float> probabilities, double u);

}  // namespace heed
