// What the model learns to predict: the section `objective` of a config. Plain values.
#pragma once

#include <string>
#include <vector>

namespace heed {

struct Field;

struct ObjectiveConfig {
  std::string type = "prefix_lm";  // a name in the table of data/objective.cpp
  int source_length = 64;          // tokens an encoder reads at most (text objectives)
  int target_length = 64;          // tokens of a tile (text objectives)
  double mask_fraction = 0.15;
  double label_smoothing = 0.0;
};

// `types`: the allowed names of `type`; `type_doc`: what they mean.
std::vector<Field> fields(ObjectiveConfig& c, std::vector<std::string> types, std::string type_doc);

}  // namespace heed
