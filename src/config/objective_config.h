// What the model learns to predict: the section `objective` of a config. Plain values.
#pragma once

#include <string>
#include <vector>

namespace heed {

struct Field;
struct KindDoc;

struct ObjectiveConfig {
  std::string type = "prefix_lm";  // a name in the table of data/objective.cpp
  int source_length = 64;          // most tokens that an encoder reads (text objectives)
  int target_length = 64;          // tokens of a tile (text objectives)
  double mask_fraction = 0.15;
  double mean_span = 3;
  double label_smoothing = 0.0;
};

std::vector<Field> fields(ObjectiveConfig& c, const std::vector<KindDoc>& objectives);

}  // namespace heed
