#include "store/checkpoint.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/temporary_folder.h"
#include "store/new_runs.h"
#include "store/run_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Calls `read` until the saver, which keeps one checkpoint only, is done.
template <class Read>
void read_while_saving(const fs::path& run, Read read) {
  RunWriter writer = new_run(run);
  writer.save(SmallModel(1).contents(), {1});
  std::atomic<bool> done = false;
  std::thread saver([&] {
    for (int step = 2; step <= 300; ++step) {
      writer.save(SmallModel(step).contents(), {1});
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    done = true;
  });
  int readings = 0;
  for (; !done; ++readings) EXPECT_NO_THROW(read());
  saver.join();
  EXPECT_GT(readings, 20);
}

TEST(OpenCheckpoint, BesideASaverItIsWhole) {
  TemporaryFolder folder;
  for (const std::string which : {"", "best", "last"}) {
    const fs::path run = folder.path() / ("run" + which);
    read_while_saving(run, [&] { open_checkpoint(run, which); });
  }
  const fs::path run = folder.path() / "newest";
  read_while_saving(run, [&] {
    const NewestCheckpoint newest = newest_checkpoint(run);
    EXPECT_TRUE(newest.checkpoint && newest.damaged.empty());
  });
}

TEST(OpenCheckpoint, AnOpenOneIsReadToTheEndAfterItsFolderIsGone) {
  TemporaryFolder folder;
  write_checkpoint(folder.path(), "step-7", SmallModel(7).contents());
  const Checkpoint checkpoint = Checkpoint::open(folder.path() / "step-7");
  fs::remove_all(folder.path() / "step-7");
  std::vector<float> weight(6), bias(2), moment(2);
  checkpoint.load(kModelFile, std::vector<TensorSlot>{{"a.bias", {2}, bias.data()},
                                                      {"a.weight", {2, 3}, weight.data()}});
  checkpoint.load(kTrainingFile, std::vector<TensorSlot>{{"adam.m.a.bias", {2}, moment.data()}});
  EXPECT_EQ(weight[0], 7);
  EXPECT_EQ(moment, bias);
}

}  // namespace
}  // namespace heed
