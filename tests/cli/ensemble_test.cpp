#include "cli/answers.h"

#include <gtest/gtest.h>

#include "data/splits.h"

namespace heed {
namespace {

TEST(Misfits, NameTheKeys) {
  const auto keys = [](const RunConfig& a, const RunConfig& b) {
    std::vector<std::string> names;
    for (const KeyChange& change : misfits(a, b)) names.push_back(change.key);
    return names;
  };
  using Names = std::vector<std::string>;
  const RunConfig text = causal_config();
  EXPECT_EQ(keys(text, causal_config({"seed=3", "model.d_model=32", "model.n_heads=2",
                                      "objective.label_smoothing=0.1"})),
            Names());
  EXPECT_EQ(keys(text, causal_config({"objective.target_length=7"})),
            Names{"objective.target_length"});
  EXPECT_EQ(keys(text, causal_config({"data.lowercase=true"})), Names{"data.lowercase"});
  EXPECT_EQ(keys(pairs_config(), pairs_config({"model.encoder_layers=0"})),
            Names{"model.encoder_layers"});
  EXPECT_EQ(keys(pairs_config({"model.positions=learned"}),
                 pairs_config({"model.positions=learned", "model.max_length=300"})),
            Names{"model.max_length"});
  EXPECT_EQ(
      keys(pairs_config({"model.positions=learned"}), pairs_config({"model.positions=rotary"})),
      Names{"model.positions"});
  EXPECT_EQ(keys(pairs_config({"model.positions=none"}), pairs_config({"model.positions=rotary"})),
            Names());
}

}  // namespace
}  // namespace heed
