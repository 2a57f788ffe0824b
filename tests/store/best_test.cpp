#include "store/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "store/new_runs.h"

namespace heed {
namespace {

State validated(std::int64_t step, double loss, double bleu = kNotMeasured) {
  State state;
  state.step = step;
  state.valid_loss = loss;
  state.valid_metric = bleu;
  return state;
}

TEST(Best, IsTheOneWithTheBestValidationOfItsOwn) {
  EXPECT_TRUE(is_better(validated(20, 1), validated(10, 2)));
  EXPECT_FALSE(is_better(validated(20, 2), validated(10, 1)));
  EXPECT_TRUE(is_better(validated(10, 1), validated(20, 1)));  // the earlier of equals
  EXPECT_FALSE(is_better(validated(20, 1), validated(10, 1)));
}

TEST(Best, IsByBleuWhereBothHaveIt) {
  EXPECT_TRUE(is_better(validated(20, 2, 31), validated(10, 1, 30)));
  EXPECT_TRUE(is_better(validated(20, 1, 30), validated(10, 2, 30)));  // then by loss
  EXPECT_FALSE(is_better(validated(20, 2, 31), validated(10, 1)));
}

TEST(Best, AnyValidationIsBetterThanNoneAndWithoutAnyTheLastIs) {
  EXPECT_TRUE(is_better(validated(10, 9), validated(20, kNotMeasured)));
  EXPECT_FALSE(is_better(validated(20, kNotMeasured), validated(10, 9)));
  EXPECT_TRUE(is_better(validated(20, kNotMeasured), validated(10, kNotMeasured)));
}

TEST_F(Writer, TheBestIsThatOfTheCheckpointsPresent) {
  expect_error([&] { best_of(states_of(run_)); }, Exit::store, {run_.string()});
  RunWriter writer = new_run(run_);
  EXPECT_FALSE(best_of(states_of(run_)));
  for (const int step : {10, 20, 30}) writer.save(at(step, 20).contents(), {0});
  EXPECT_EQ(best_of(states_of(run_))->step, 20);
  EXPECT_EQ(best_of(states_of(run_, 10))->step, 10);
  std::ofstream(checkpoint("step-00000020/state.json")) << "damaged";
  EXPECT_EQ(best_of(states_of(run_))->step, 10);
}

}  // namespace
}  // namespace heed
