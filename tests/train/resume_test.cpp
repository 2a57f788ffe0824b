// Resuming runs that a kill or damage has left in an unusual state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/folders.h"
#include "base/temporary_folder.h"
#include "math/blas.h"
#include "store/run_folder.h"
#include "store/small_checkpoint.h"
#include "train/resume.h"
#include "train/start.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A finished run of 6 steps, saved at 2, 4 and 6.
class Resume : public ::testing::Test {
 protected:
  Resume() {
    prepare_blas();
    std::ofstream corpus(folder_.path() / "corpus.txt");
    for (int i = 0; i < 100; ++i) corpus << "line " << i * i << " of a text\n";
    corpus.close();
    replace_file(folder_.path() / "config.json", R"({
      "data": {"train": "corpus.txt"}, "tokenizer": {"type": "char"},
      "model": {"d_model": 8, "n_heads": 2, "d_ff": 8, "encoder_layers": 1, "decoder_layers": 1},
      "objective": {"type": "prefix_lm", "source_length": 8, "target_length": 8},
      "train": {"batch_tokens": 64, "max_steps": 6, "save_every": 2, "eval_every": 2}})");
    TrainRequest request;
    request.run.folder = run_;
    request.run.threads = 1;
    const RunConfig config = load_config(folder_.path() / "config.json");
    EXPECT_EQ(train_run(request, config, folder_.path(), log_).exit, Exit::ok);
  }
  Exit resume() {
    ResumeRequest request;
    request.run.folder = run_;
    request.run.threads = 1;
    return resume_run(request, log_).exit;
  }
  fs::path checkpoint(const std::string& name) const { return run_ / "checkpoints" / name; }
  std::vector<std::string> names() const { return names_in(run_ / "checkpoints"); }

  TemporaryFolder folder_;
  fs::path run_ = folder_.path() / "run";
  Log log_{{.quiet = true}};
};

TEST_F(Resume, AFinishedRunGetsTheLinksThatAKilledSaveDidNotSet) {
  const auto last = fs::read_symlink(checkpoint("last"));
  EXPECT_EQ(last, "step-00000006");
  const auto best = fs::read_symlink(checkpoint("best"));
  replace_symlink(checkpoint("last"), "step-00000004");
  fs::remove(checkpoint("best"));
  EXPECT_EQ(resume(), Exit::ok);
  EXPECT_EQ(fs::read_symlink(checkpoint("last")), last);
  EXPECT_EQ(fs::read_symlink(checkpoint("best")), best);
}

TEST_F(Resume, ADamagedNewestCheckpointIsMadeAgainFromTheOneBefore) {
  const std::string whole = read_file(checkpoint("step-00000006/model.safetensors"), 1 << 20);
  std::ofstream(checkpoint("step-00000006/model.safetensors"), std::ios::app) << 'x';
  EXPECT_EQ(resume(), Exit::ok);
  EXPECT_EQ(read_file(checkpoint("step-00000006/model.safetensors"), 1 << 20), whole);
}

TEST_F(Resume, WithoutAWholeCheckpointNothingIsStartedOver) {
  const auto before = names();
  for (const int step : {2, 4, 6}) {
    fs::resize_file(checkpoint(step_folder_name(step)) / "training.safetensors", 100);
  }
  expect_error([&] { resume(); }, Exit::store, {run_.string()});
  EXPECT_EQ(names(), before);
  EXPECT_THAT(read_file(run_ / "train.log", 1 << 20), HasSubstr("training.safetensors"));
}

}  // namespace
}  // namespace heed
