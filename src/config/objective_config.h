// What the model learns to predict: the section `objective` of a config. Plain values.
#pragma once

#include <string>
#include <vector>

namespace heed {

struct Field;

struct ObjectiveConfig {
  std::string type = "prefix_lm";  // a name in the table of data/objective.cpp
  int source_length = 64;          // most tokens that an encoder reads (text objectives)
  int target_length = 64;          // tokens of a tile (text objectives)
  double mask_fraction = 0.15;
  double mean_span = 3;
  double label_smoothing = 0.0;
};

// An objective, for the documentation of the keys.
struct ObjectiveDoc {
  std::string name;               // a value of `type`
  std::string text;               // what it is, in a few words
  std::vector<std::string> keys;  // keys it uses that some other objectives do not
};

std::vector<Field> fields(ObjectiveConfig& c, const std::vector<ObjectiveDoc>& objectives);

}  // namespace heed
