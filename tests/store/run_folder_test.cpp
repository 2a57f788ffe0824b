#include "store/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "base/temporary_folder.h"
#include "store/checkpoint.h"
#include "store/new_runs.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A run with steps 10, 20, 30; the best is 20.
class RunFolder : public ::testing::Test {
 protected:
  RunFolder() : run_(folder_.path() / "run") {
    RunWriter writer = new_run(run_);
    for (const int step : {10, 20, 30}) {
      SmallModel model(step);
      if (step == 20) model.state.valid_loss = 1;
      writer.save(model.contents(), {0});
    }
  }
  fs::path checkpoint(const std::string& name) const { return run_ / "checkpoints" / name; }

  TemporaryFolder folder_;
  fs::path run_;
};

TEST_F(RunFolder, CheckpointsAreFoundByName) {
  EXPECT_EQ(find_checkpoint(run_), checkpoint("step-00000020"));
  EXPECT_EQ(find_checkpoint(run_, "best"), checkpoint("step-00000020"));
  EXPECT_EQ(find_checkpoint(run_, "last"), checkpoint("step-00000030"));
  EXPECT_EQ(find_checkpoint(run_, "step-10"), checkpoint("step-00000010"));
  EXPECT_EQ(find_checkpoint(run_, "step-00000010"), checkpoint("step-00000010"));
  EXPECT_EQ(find_checkpoint(run_, checkpoint("step-00000010")), checkpoint("step-00000010"));
  EXPECT_EQ(find_checkpoint(checkpoint("step-00000010")), checkpoint("step-00000010"));
  EXPECT_NE(error_of([&] { find_checkpoint(run_, run_.parent_path()); }, Exit::store), "");
  EXPECT_EQ(find_checkpoint(checkpoint("last")), fs::canonical(checkpoint("step-00000030")));
  EXPECT_THAT(list_steps(run_), ElementsAre(10, 20, 30));
  EXPECT_EQ(step_folder_name(123456789012), "step-123456789012");
}

TEST_F(RunFolder, WithoutLinksTheSameIsMeant) {
  for (const char* link : {"best", "last"}) {
    const fs::path meant = find_checkpoint(run_, link);
    fs::remove(checkpoint(link));
    EXPECT_EQ(find_checkpoint(run_, link), meant);
    fs::create_directory(checkpoint(link));
    EXPECT_EQ(find_checkpoint(run_, link), meant);
    fs::remove(checkpoint(link));
    std::ofstream(checkpoint(link)) << "step-00000010";
    EXPECT_EQ(find_checkpoint(run_, link), meant);
  }
  EXPECT_EQ(find_checkpoint(run_), checkpoint("step-00000020"));
}

TEST_F(RunFolder, WhatIsNotThereIsSaidWithWhatIs) {
  for (const std::string which : {"step-11", "average-1-2", "..", "."}) {
    expect_error(
        [&] { find_checkpoint(run_, which); }, Exit::store,
        {which, run_.string(), "best", "last", "step-00000010", "step-00000020", "step-00000030"});
  }
  expect_error([&] { find_checkpoint(folder_.path() / "no"); }, Exit::store,
               {(folder_.path() / "no").string()});
  expect_error([&] { find_checkpoint(folder_.path()); }, Exit::store,
               {folder_.path().string(), "checkpoints/"});
  expect_error([&] { find_checkpoint(checkpoint("last") / "state.json"); }, Exit::store,
               {(checkpoint("last") / "state.json").string()});
  expect_error([&] { find_checkpoint(run_, "/no/where"); }, Exit::store, {"/no/where"});
  expect_error([&] { newest_checkpoint(checkpoint("last")); }, Exit::store,
               {checkpoint("last").string()});
  const fs::path empty = folder_.path() / "empty";
  new_run(empty);
  expect_error([&] { find_checkpoint(empty); }, Exit::store, {empty.string()});
}

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

TEST_F(RunFolder, TheNewestWholeCheckpointIsFoundAndTheDamagedOnesAreNamed) {
  EXPECT_EQ(newest_checkpoint(run_).checkpoint->state.step, 30);
  std::ofstream(checkpoint("step-00000030/model.safetensors"), std::ios::app) << "x";
  fs::remove(checkpoint("step-00000020/state.json"));
  const NewestCheckpoint newest = newest_checkpoint(run_);
  ASSERT_TRUE(newest.checkpoint);
  EXPECT_EQ(newest.checkpoint->state.step, 10);
  ASSERT_EQ(newest.damaged.size(), 2u);
  EXPECT_EQ(newest.damaged[0].folder, checkpoint("step-00000030"));
  EXPECT_THAT(newest.damaged[0].reason, HasSubstr("step-00000030/model.safetensors"));
  EXPECT_THAT(newest.damaged[1].reason, HasSubstr("step-00000020/state.json"));

  fs::remove_all(checkpoint("step-00000010"));
  fs::rename(checkpoint("step-00000020"), checkpoint("step-00000010"));
  EXPECT_FALSE(newest_checkpoint(run_).checkpoint);
}

TEST_F(RunFolder, ACheckpointUnderAnotherStepsNameIsNotResumed) {
  fs::rename(checkpoint("step-00000010"), checkpoint("step-00000040"));
  const NewestCheckpoint newest = newest_checkpoint(run_);
  EXPECT_EQ(newest.checkpoint->state.step, 30);
  EXPECT_EQ(newest.damaged.at(0).folder, checkpoint("step-00000040"));
}

TEST_F(RunFolder, ACheckpointHasTheStepThatItsFolderSays) {
  const auto refused = [&](const std::string& name) {
    SCOPED_TRACE(name);
    const Facts facts{checkpoint(name).string()};
    expect_error([&] { Checkpoint::open(checkpoint(name)); }, Exit::store, facts);
  };
  const fs::path ten = checkpoint("step-00000010");
  for (const std::string name : {"step-00000011", "step-10", "step-x", "average-1-11",
                                 "average-1-10", "step-99999999999999999999", "step-1\n0"}) {
    fs::rename(ten, checkpoint(name));
    refused(name);
    expect_error(
        [&] {
          find_checkpoint(run_, name);
          open_checkpoint(run_, name);
        },
        Exit::store, {});
    fs::rename(checkpoint(name), ten);
  }
  fs::rename(ten, folder_.path() / "step-00000010");  // a link to a checkpoint elsewhere
  fs::create_symlink(folder_.path() / "step-00000010", ten);
  refused("step-00000010");
  EXPECT_THAT(states_of(run_), testing::SizeIs(2));
  fs::remove(ten);
  for (const std::string name : {"step-00000011", "mine"}) {  // elsewhere any name is right
    fs::rename(folder_.path() / "step-00000010", folder_.path() / name);
    expect_whole(find_checkpoint(folder_.path() / name));
    fs::rename(folder_.path() / name, folder_.path() / "step-00000010");
  }
  fs::rename(folder_.path() / "step-00000010", checkpoint("mine"));
  expect_whole(find_checkpoint(run_, "mine"));
}

TEST_F(RunFolder, ReadersLeaveNoTrace) {
  const auto snapshot = [&] {
    std::map<std::string, fs::file_time_type> times;
    for (const auto& entry : fs::recursive_directory_iterator(run_)) {
      if (!entry.is_symlink()) times[entry.path()] = entry.last_write_time();
    }
    times[run_] = fs::last_write_time(run_);
    return times;
  };
  fs::create_directory(checkpoint(".tmp-step-00000040"));  // of a save in progress
  const auto before = snapshot();
  expect_whole(find_checkpoint(run_));
  newest_checkpoint(run_);
  EXPECT_EQ(snapshot(), before);
}

}  // namespace
}  // namespace heed
