// RunWriter::create(): a start makes a run or changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "base/faulty_calls.h"
#include "store/new_runs.h"
#include "store/run_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

class RunStart : public Writer {};

TEST_F(RunStart, TheCurrentFolderIsRenamedByItsName) {
  { new_run(run_).write_config("first"); }
  const fs::path here = fs::current_path();
  fs::current_path(run_);
  { new_run(".", true).write_config("second"); }
  fs::current_path(run_);
  { new_run("../run/.", true).write_config("third"); }
  fs::current_path(here);
  EXPECT_EQ(read_file(run_.string() + ".old-1/config.json", 9), "first");
  EXPECT_EQ(read_file(run_.string() + ".old-2/config.json", 9), "second");
  EXPECT_EQ(read_file(run_ / "config.json", 9), "third");
}

TEST_F(RunStart, WhatIsSomebodysIsNeverRemoved) {
  const fs::path precious = folder_.path() / "stuff";
  const auto is_refused = [&] {
    expect_error([&] { new_run(run_); }, Exit::usage, {run_.string()});
    expect_error([&] { new_run(run_, true); }, Exit::store, {run_.string()});
  };
  fs::create_directories(run_);
  for (const char* name : {"text.txt", ".lock", "config.json"}) {
    replace_file(run_ / name, "precious");
    is_refused();
    EXPECT_EQ(read_file(run_ / name, 9), "precious");
    fs::remove(run_ / name);
  }
  fs::create_directory(run_ / "checkpoints");
  is_refused();
  fs::remove_all(run_);
  fs::create_directories(precious);
  fs::create_directory_symlink(precious, run_);
  is_refused();
}

TEST_F(RunStart, AnEmptyFolderIsFilled) {
  fs::create_directories(run_);
  new_run(run_).save(at(10, 10).contents(), {1});
  EXPECT_TRUE(is_run(run_));
  EXPECT_EQ(expect_whole(find_checkpoint(run_)), 10);
}

TEST_F(RunStart, OfSeveralAtOnceOneWinsAndTheOthersAreRefused) {
  for (int round = 0; round < 100; ++round) {
    const fs::path run = run_.string() + std::to_string(round);
    std::atomic<int> ready = 0, won = 0, refused = 0;
    std::vector<std::thread> starts;
    for (int i = 0; i < 3; ++i)
      starts.emplace_back([&] {
        for (++ready; ready < 3;) std::this_thread::yield();
        try {
          new_run(run).write_config("{}");
          ++won;
        } catch (const Error& e) {
          EXPECT_EQ(e.exit(), Exit::usage) << e.what();
          ++refused;
        }
      });
    for (std::thread& start : starts) start.join();
    EXPECT_EQ(won, 1);
    EXPECT_EQ(refused, 2);
    EXPECT_TRUE(is_run(run));
    fs::remove_all(run);
    EXPECT_TRUE(names_in(run_.parent_path()).empty());
  }
}

TEST_F(RunStart, AFileSystemThatCannotSyncFoldersHoldsARun) {
  struct NoFolderSync : TestCalls {
    int fsync(int fd) override {
      struct stat info;
      if (::fstat(fd, &info) == 0 && !S_ISDIR(info.st_mode)) return 0;
      errno = EINVAL;
      return -1;
    }
  } calls;
  new_run(run_).save(at(10, 10).contents(), {1});
  EXPECT_EQ(expect_whole(find_checkpoint(run_)), 10);
}

// What cannot be removed either, because later calls fail too, the next start removes.
TEST_F(RunStart, AStartThatFailsLeavesNothingInTheWay) {
  for (const bool for_good : {false, true})
    for_each_failure({.for_good = for_good},
                     [&](const fs::path& folder, FaultyCalls& calls, auto begin) {
                       const fs::path run = folder / "run";
                       begin();
                       try {
                         new_run(run, false, {"{}", "{}", "/etc/hostname"});
                       } catch (const Error&) {
                         EXPECT_TRUE(for_good || names_in(folder).empty()) << *calls.kinds.begin();
                         calls.fail_at = 0;
                         // Forced, since the last calls fail when the run is in place.
                         EXPECT_NO_THROW(new_run(run, true));
                         for (const std::string& name : names_in(folder))
                           EXPECT_TRUE(name.starts_with("run")) << name;
                       }
                     });
}

TEST_F(RunStart, WhatAKilledStartLeftIsRemovedButNotThatOfAStartThatGoesOn) {
  const fs::path left = run_.parent_path() / ".tmp-run-01234567";
  fs::create_directories(left);
  {
    const RunLock lock(left);
    new_run(run_);
    EXPECT_TRUE(fs::exists(left));
  }
  new_run(run_, true);
  EXPECT_THAT(names_in(run_.parent_path()), ::testing::ElementsAre("run", "run.old-1"));
}

TEST_F(RunStart, AfterAKillAtAnyCallTheNextStartWorksAndTheOldRunIsWhole) {
  for (const bool force : {false, true}) {
    bool killed = true;
    for (int n = 1; killed; ++n) {
      ASSERT_LT(n, 200);
      TemporaryFolder folder;
      const fs::path run = folder.path() / "run";
      if (force) new_run(run, false, {"{}", "old", ""});
      const FirstFiles first{"{}", "new", "/etc/hostname"};
      const pid_t child = ::fork();
      if (child == 0) {
        FaultyCalls calls({.deadly = true});
        calls.fail_at = n;
        new_run(run, force, first);
        ::_exit(0);
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      killed = WEXITSTATUS(status) == 9;
      SCOPED_TRACE(n);
      const fs::path aside = run.string() + ".old-1";
      const bool moved = path_exists(aside);
      if (force) {
        EXPECT_EQ(read_file((moved ? aside : run) / "config.json", 9), "old");
      }
      if (is_run(run))
        EXPECT_NO_THROW(RunWriter::open(run));
      else
        EXPECT_NO_THROW(new_run(run, false, first));
      EXPECT_TRUE(is_run(run));
    }
  }
}

TEST_F(RunStart, AForcedStartThatFailsLeavesTheOldRunUnderItsName) {
  std::set<std::string> kinds;
  for (const bool for_good : {false, true})
    kinds.merge(for_each_failure(
        {.for_good = for_good}, [&](const fs::path& folder, FaultyCalls& calls, auto begin) {
          const fs::path run = folder / "run";
          { new_run(run, false, {"{}", "old", ""}); }
          begin();
          try {
            new_run(run, true, {"{}", "new", ""});
            EXPECT_EQ(read_file(run / "config.json", 9), "new");
          } catch (const Error&) {
            // If every later call fails too, it may stay as run.old-1.
            const std::string old = run.string() + ".old-1";
            const fs::path left = for_good && path_exists(old) ? old : run.string();
            EXPECT_EQ(read_file(left / "config.json", 9), "old") << *calls.kinds.begin();
            EXPECT_TRUE(for_good || !path_exists(old)) << *calls.kinds.begin();
          }
        }));
  for (const char* kind : {"mkdir", "symlink", "write", "rename"})
    EXPECT_TRUE(kinds.contains(kind));
}

}  // namespace
}  // namespace heed
