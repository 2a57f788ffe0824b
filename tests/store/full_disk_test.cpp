// Real file systems that are full or read-only, if the tests may mount one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <fstream>

#include "base/folders.h"
#include "base/temporary_folder.h"
#include "store/checkpoint.h"
#include "store/run_folder.h"
#include "store/run_writer.h"
#include "store/small_checkpoint.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

class SmallDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    mounted_ = ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=128k") == 0;
    if (!mounted_) GTEST_SKIP() << "mounting a tmpfs needs root";
  }
  void TearDown() override {
    const bool ok = !mounted_ || ::umount(folder_.path().c_str()) == 0;
    EXPECT_TRUE(ok);
  }

  TemporaryFolder folder_;
  bool mounted_ = false;
  fs::path run_ = folder_.path() / "run";
};

TEST_F(SmallDisk, AFullDiskStopsASaveAtAnyFileAndTheOldCheckpointStays) {
  RunWriter writer = RunWriter::create(run_, false);
  writer.save(SmallModel(10).contents(), 1);
  const fs::path filler = folder_.path() / "filler";
  SmallModel better(20);
  better.state.valid_loss = 1;
  int failed = 0;
  bool saved = false;
  for (int pages = 32; pages >= 0 && !saved; --pages) {
    std::ofstream(filler) << std::string(std::size_t(pages) * 4096, 'x');
    try {
      writer.save(better.contents(), 2);
      saved = true;
    } catch (const Error& e) {
      ++failed;
      EXPECT_EQ(e.exit(), Exit::store);
      expect_facts(e.what(), {"No space left", "try:"});
      EXPECT_THAT(expect_whole(find_checkpoint(run_)), ::testing::AnyOf(10, 20));
    }
  }
  EXPECT_GT(failed, 5);
  EXPECT_EQ(expect_whole(find_checkpoint(run_)), 20);
}

TEST_F(SmallDisk, TheCheckBeforehandSeesTheRealSpace) {
  check_free_space(folder_.path(), 100'000);
  expect_error([&] { check_free_space(folder_.path(), 400'000); }, Exit::store,
               {"391 KiB", "128 KiB"});
}

TEST_F(SmallDisk, AReadOnlyRunIsReadButNotWritten) {
  { RunWriter::create(run_, false).save(SmallModel(10).contents(), 1); }
  ASSERT_EQ(::mount("", folder_.path().c_str(), "", MS_REMOUNT | MS_RDONLY, ""), 0);
  EXPECT_EQ(expect_whole(find_checkpoint(run_)), 10);
  EXPECT_EQ(newest_checkpoint(run_).checkpoint->state().step, 10);
  expect_error([&] { RunWriter::open(run_); }, Exit::store, {"Read-only file system"});
  expect_error([&] { RunWriter::create(folder_.path() / "other", false); }, Exit::store,
               {"Read-only file system", "try:"});
}

}  // namespace
}  // namespace heed
