// A checkpoint of a few hundred bytes, different for every step, and ways to look at it.
#pragma once

#include <string>
#include <vector>

#include "base/error_of.h"
#include "base/files.h"
#include "base/input_file.h"
#include "store/checkpoint.h"
#include "store/run_folder.h"

namespace heed {

// Owns the numbers that contents() shows.
struct SmallModel {
  explicit SmallModel(int step) : weight{float(step), 2, 3, 4, 5, -0.0f}, bias{7, 8} {
    state.step = step;
    state.cursor = {step / 10, step % 10};
    state.tokens_seen = 100 * step;
    state.seed = 18446744073709551615u;
    state.valid_loss = 2.0;
    state.best_loss = 1.1;
    state.best_step = step;
    state.data_hash = "abc";
    state.loss_sum = 0.1 * step;
    state.label_sum = 3.0;
  }

  CheckpointContents contents() const {
    CheckpointContents c;
    c.model = {{"a.weight", {2, 3}, weight.data()}, {"a.bias", {2}, bias.data()}};
    c.training = {{"adam.m.a.bias", {2}, bias.data()}};
    c.config = "{\"seed\": " + std::to_string(state.step) + "}\n";
    c.tokenizers = {{"tokenizer.json", "[\"a\", \"b\"]"}, {"source.tokenizer.json", "[]"}};
    c.state = state;
    return c;
  }

  mutable std::vector<float> weight, bias;
  State state;
};

// Loads everything and compares it with SmallModel(step) of the step it says it is; returns that.
// Which one is the best is the test's business.
inline std::int64_t expect_whole(const std::filesystem::path& folder) {
  const Checkpoint checkpoint = Checkpoint::open(folder);
  SmallModel expected(static_cast<int>(checkpoint.state.step));
  expected.state.valid_loss = checkpoint.state.valid_loss;
  std::vector<float> weight(6), bias(2), moment(2);
  checkpoint.load(kModelFile, std::vector<TensorSlot>{{"a.bias", {2}, bias.data()},
                                                      {"a.weight", {2, 3}, weight.data()}});
  checkpoint.load(kTrainingFile, std::vector<TensorSlot>{{"adam.m.a.bias", {2}, moment.data()}});
  EXPECT_EQ(weight, expected.weight);
  EXPECT_EQ(bias, expected.bias);
  EXPECT_EQ(moment, expected.bias);
  EXPECT_EQ(format_state({checkpoint.state, true, {}}), format_state({expected.state, true, {}}));
  EXPECT_EQ(checkpoint.config, expected.contents().config);
  EXPECT_EQ(checkpoint.tokenizers.size(), 2u);
  return checkpoint.state.step;
}

}  // namespace heed
