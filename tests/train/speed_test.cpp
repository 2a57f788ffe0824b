#include "train/speed.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_folder.h"
#include "data/splits.h"

namespace heed {
namespace {

constexpr int kBytes = 8192, kBatch = 256;

// Of a tiny model that learns kBytes, of which this share is held out.
Speed speed_with(const std::string& valid_fraction, double seconds) {
  TemporaryFolder folder;
  std::ofstream(folder.path() / "a.txt") << 'b' + std::string(kBytes - 1, 'a');
  const RunConfig config =
      causal_config({"model.d_model=8", "model.n_heads=2", "model.d_ff=8", "model.decoder_layers=1",
                     "objective.target_length=64", set("train.batch_tokens", kBatch),
                     "data.valid_fraction=" + valid_fraction});
  Pool pool(1);
  return measure_speed(prepare_run(config, folder.path().string(), {}, 1), pool, seconds);
}

TEST(Speed, SaysHowMuchOfTheTextAStepReads) {
  for (const double seconds : {60.0, 0.0}) {
    const Speed speed = speed_with("0", seconds);
    EXPECT_GT(speed.step, 0);
    EXPECT_NEAR(speed.epochs, 1.0 * kBatch / kBytes, seconds > 0 ? 1e-3 : 1e-2);
    EXPECT_EQ(speed.validation, 0);
  }
}

TEST(Speed, OfAValidationThatTakesTooLongIsThatOfTrainingOnAsManyTokens) {
  const Speed speed = speed_with("0.5", 0.0);
  EXPECT_GE(speed.validation, speed.step * 0.5 * kBytes / kBatch);
}

}  // namespace
}  // namespace heed
