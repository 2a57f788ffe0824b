#include "store/run_folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "store/new_runs.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// A run with steps 10, 20, 30; the best is 20.
class RunFolder : public Writer {
 protected:
  RunFolder() {
    run_ = folder_.path() / "run";
    RunWriter writer = new_run(run_);
    for (const int step : {10, 20, 30}) writer.save(at(step, 20).contents(), {0});
  }
};

TEST_F(RunFolder, LinksThatLeadOutOfTheRunAreRefused) {
  fs::copy(checkpoint("step-00000010"), folder_.path() / "step-00000099");
  fs::create_symlink(folder_.path() / "step-00000099", checkpoint("step-00000099"));
  fs::copy(checkpoint("step-00000010"), checkpoint("kept-00000010"));
  for (const std::string target : {"../../step-00000099", "..", ".", "/etc", "step-00000099",
                                   "./step-00000010", "kept-00000010"}) {
    fs::remove(checkpoint("best"));
    fs::create_symlink(target, checkpoint("best"));
    expect_error([&] { find_checkpoint(run_); }, Exit::store, {"best", target});
  }
  fs::remove(checkpoint("best"));  // as a kill leaves it: the same as none
  const fs::path best = find_checkpoint(run_);
  fs::create_symlink("step-00000011", checkpoint("best"));
  EXPECT_EQ(find_checkpoint(run_), best);
  EXPECT_EQ(newest_checkpoint(run_).damaged.at(0).folder, checkpoint("step-00000099"));
}

State validated(std::int64_t step, double loss, double bleu = kNotMeasured) {
  State state;
  state.step = step;
  state.valid_loss = loss;
  state.valid_metric = bleu;
  return state;
}

TEST(Best, IsByBleuThenByLossThenTheEarlierAndAnyValidationIsBetterThanNone) {
  const std::pair<State, State> better[] = {
      {validated(20, 1), validated(10, 2)},
      {validated(10, 1), validated(20, 1)},
      {validated(20, 2, 31), validated(10, 1, 30)},
      {validated(20, 1, 30), validated(10, 2, 30)},
      {validated(10, 1), validated(20, 2, 31)},  // where both have it
      {validated(10, 9), validated(20, kNotMeasured)},
      {validated(20, kNotMeasured), validated(10, kNotMeasured)},  // without any the last is
  };
  for (const auto& [one, other] : better) {
    EXPECT_TRUE(is_better(one, other)) << one.step;
    EXPECT_FALSE(is_better(other, one)) << one.step;
  }
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
