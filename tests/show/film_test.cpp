// What a frame costs. tests/cli/film_test.py checks the films of runs.
#include "show/film.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/splits.h"

namespace heed {
namespace {

constexpr int kVocab = 400;
constexpr double kRecord = 0.3;  // steps, of measuring the matrices

class FilmCost : public testing::Test {
 protected:
  FilmCost() { data_.train = counting_text(kVocab - 10); }

  // Of a frame.
  double cost(std::vector<std::string> sets) const {
    sets.insert(sets.end(), {"model.d_model=32", "model.d_ff=32", "data.valid_fraction=0"});
    const RunConfig config = causal_config(sets);
    const Transformer model(config.model, kVocab, kVocab);
    return Film(config, model, tokenizers_, data_).cost() - kRecord;
  }

  const Tokenizers tokenizers_;
  Dataset data_;
};

TEST_F(FilmCost, AFrameCostsTheLessTheLargerABatchIs) {
  const double small = cost({"train.batch_tokens=1024"});
  EXPECT_GT(small, 0);
  EXPECT_NEAR(cost({"train.batch_tokens=2048"}), small / 2, 1e-9);
}

TEST_F(FilmCost, AFrameCostsTheMoreTheMoreThreadsAStepMayHave) {
  const double one = cost({"train.shards=1"});
  EXPECT_NEAR(cost({"train.shards=2"}), 2 * one, 1e-9);
  EXPECT_NEAR(cost({"train.shards=16"}), 4 * one, 1e-9);
}

}  // namespace
}  // namespace heed
