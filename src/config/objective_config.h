// What the model learns to predict: the section `objective` of a config. Plain values.
#pragma once

#include <string>
#include <vector>

namespace heed {

struct Field;

enum class ObjectiveType { prefix_lm, causal_lm, masked_lm, seq2seq };

struct ObjectiveConfig {
  ObjectiveType type = ObjectiveType::prefix_lm;
  int source_length = 64;  // tokens an encoder reads at most (text objectives)
  int target_length = 64;  // tokens of a tile (text objectives)
  double mask_fraction = 0.15;
  double label_smoothing = 0.0;
};

std::vector<Field> fields(ObjectiveConfig& c);

const std::string& objective_name(ObjectiveType type);  // as a config has it

}  // namespace heed
