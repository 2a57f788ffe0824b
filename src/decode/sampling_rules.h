// From logits to the tokens that may be drawn. The rules come in the customary order: repetition
// penalty (Keskar et al. 2019, section 4.1), temperature, top-k, top-p (nucleus sampling, Holtzman
// et al. 2020), min-p (Nguyen et al. 2024). Pure functions, safe from any thread.
#pragma once

#include <span>
#include <vector>

namespace heed {

struct LogitsRules {
  double temperature = 1.0;         // 0: the most probable token, always
  int top_k = 0;                    // only the k most probable; 0: all
  double top_p = 1.0;               // only the fewest whose probabilities sum to at least this
  double min_p = 0.0;               // only those at least this times as probable as the first
  double repetition_penalty = 1.0;  // tokens that occurred: positive logits / this, others * this
};

// In place: the row of logits, all finite, becomes the probabilities of the tokens that may come
// next, 0 for those that may not. `occurred` marks [vocab] the tokens that the penalty is for (may
// be empty: none); `banned` ids never come. Of equally probable tokens at an edge the lower ids
// stay.
void apply_rules(std::span<float> row, const LogitsRules& rules, const std::vector<bool>& occurred,
                 std::span<const int> banned);

// The token whose share of [0, 1) holds u. Never one of probability 0.
int draw(std::span<const float> probabilities, double u);

}  // namespace heed
