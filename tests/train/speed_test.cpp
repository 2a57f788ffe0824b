#include "train/speed.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_folder.h"
#include "data/splits.h"

namespace heed {
namespace {

constexpr int kBytes = 8192, kBatch = 256;

// A tiny model that learns kBytes.
PreparedRun tiny_run() {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "a.txt") << 'b' + std::string(kBytes - 1, 'a');
  const RunConfig config =
      causal_config({"model.d_model=8", "model.n_heads=2", "model.d_ff=8", "model.decoder_layers=1",
                     "objective.target_length=64", key_is("train.batch_tokens", kBatch),
                     "data.valid_fraction=0"});
  return prepare_run(config, folder.path().string(), {}, 1);
}

Speed speed_of(const PreparedRun& run, std::int64_t least) {
  return measure_speed(run, [&](std::int64_t steps, double) { return steps >= least; });
}

TEST(Speed, SaysHowMuchOfTheTextAStepReads) {
  const PreparedRun run = tiny_run();
  for (const int least : {20, -10}) {  // in the warm-up
    const Speed speed = speed_of(run, least);
    EXPECT_EQ(speed.steps, std::max(least, 1));
    EXPECT_GT(speed.step_seconds, 0);
    EXPECT_NEAR(run.plan.step_epochs, 1.0 * kBatch / kBytes, 1e-3);
  }
}

}  // namespace
}  // namespace heed
