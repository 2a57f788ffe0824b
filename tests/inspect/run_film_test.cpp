// What a frame costs, and when there is no film. tests/cli/film_test.py checks the films of runs.
#include "inspect/run_film.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/splits.h"

namespace heed {
namespace {

constexpr int kVocab = 400;

class RunFilmTest : public testing::Test {
 protected:
  RunFilmTest() { data_.train = counting_text(kVocab - 10); }

  // Of a frame.
  double cost(std::vector<std::string> sets) const {
    sets.insert(sets.end(), {"model.d_model=32", "model.d_ff=32", "data.valid_fraction=0"});
    const RunConfig config = causal_config(sets);
    const Transformer model(config.model, kVocab, kVocab);
    return make_film(config, model, tokenizers_, data_)->cost();
  }

  const Tokenizers tokenizers_;
  Dataset data_;
};

TEST_F(RunFilmTest, AFrameCostsTheLessTheLargerABatchIs) {
  const double small = cost({"train.batch_tokens=1024"});
  EXPECT_GT(small, 0);
  EXPECT_DOUBLE_EQ(cost({"train.batch_tokens=2048"}), small / 2);
}

TEST_F(RunFilmTest, AFrameCostsTheMoreTheMoreThreadsAStepMayHave) {
  const double one = cost({"train.shards=1"});
  EXPECT_DOUBLE_EQ(cost({"train.shards=2"}), 2 * one);
  EXPECT_DOUBLE_EQ(cost({"train.shards=16"}), 4 * one);
}

TEST_F(RunFilmTest, ThereIsNoneOfTooManyHeads) {
  ModelConfig model;
  model.encoder_layers = 0;
  model.n_heads = 32;
  model.decoder_layers = 42;
  EXPECT_TRUE(is_filmed(model));
  model.decoder_layers = 43;
  EXPECT_FALSE(is_filmed(model));
}

}  // namespace
}  // namespace heed
