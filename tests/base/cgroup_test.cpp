#include "base/cgroup.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <string>

#include "base/temporary_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// A machine's /proc and /sys.
class Cgroup : public testing::Test {
 protected:
  void in(const std::string& groups) { write("proc/self/cgroup", groups); }
  void write(const std::string& file, const std::string& text) {
    const fs::path path = folder_.path() / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  // A group's files, in a folder below sys/fs/cgroup.
  void memory_of(const std::string& group, const std::string& limit, const std::string& used) {
    write("sys/fs/cgroup/" + group + "/memory.max", limit + "\n");
    write("sys/fs/cgroup/" + group + "/memory.current", used + "\n");
  }
  void cpu_of(const std::string& group, const std::string& quota) {
    write("sys/fs/cgroup/" + group + "/cpu.max", quota + " 100000\n");
  }
  double memory() const { return cgroup_memory(folder_.path()); }
  double cores() const { return cgroup_cores(folder_.path()); }

  const TemporaryFolder folder_;
};

TEST_F(Cgroup, WithoutGroupsThereIsNoLimit) {
  EXPECT_EQ(memory(), kNoLimit);
  EXPECT_EQ(cores(), kNoLimit);
  in("0::/\n");
  EXPECT_EQ(memory(), kNoLimit);
  EXPECT_EQ(cores(), kNoLimit);
}

TEST_F(Cgroup, AContainersOwnGroupIsTheTopOne) {
  in("0::/\n");
  memory_of(".", "20000000", "19000000");
  cpu_of(".", "150000");
  EXPECT_EQ(memory(), 1e6);
  EXPECT_EQ(cores(), 1.5);
  memory_of(".", "max", "19000000");
  cpu_of(".", "max");
  EXPECT_EQ(memory(), kNoLimit);
  EXPECT_EQ(cores(), kNoLimit);
}

TEST_F(Cgroup, EveryGroupAboveCounts) {
  in("0::/user.slice/a.slice/job.scope\n");
  memory_of("user.slice/a.slice/job.scope", "900", "100");
  EXPECT_EQ(memory(), 800);
  memory_of("user.slice/a.slice", "max", "5000");
  memory_of("user.slice", "1000", "700");
  memory_of("user.slice/other", "1", "1");
  EXPECT_EQ(memory(), 300);
  cpu_of("user.slice/a.slice/job.scope", "max");
  cpu_of("user.slice/a.slice", "200000");
  cpu_of("user.slice", "300000");
  EXPECT_EQ(cores(), 2);
}

TEST_F(Cgroup, WherePathsAreTheHostsTheTopGroupIsTheContainers) {
  in("4:memory:/docker\n0::/docker/abc\n");
  memory_of(".", "1000", "400");
  memory_of("docker", "1", "1");  // of containers in this one
  cpu_of(".", "200000");
  EXPECT_EQ(memory(), 600);
  EXPECT_EQ(cores(), 2);
}

TEST_F(Cgroup, WithoutProcTheTopGroupCounts) {
  memory_of(".", "1000", "400");
  EXPECT_EQ(memory(), 600);
}

TEST_F(Cgroup, CachedPagesOfFilesCountAsFree) {
  in("0::/\n");
  memory_of(".", "20000000", "19000000");
  write("sys/fs/cgroup/memory.stat",
        "anon 2000000\ninactive_file 9000000\nslab 7\nactive_file 6000000\n");
  EXPECT_EQ(memory(), 16e6);
  memory_of(".", "20000000", "1000");  // read a little later than memory.stat
  EXPECT_EQ(memory(), 20e6);
}

TEST_F(Cgroup, WhatCannotBeReadIsNoLimit) {
  in("nonsense\n0::/a\n:::\n");
  memory_of("a", "nonsense", "7");
  cpu_of("a", "nonsense");
  fs::create_directories(folder_.path() / "sys/fs/cgroup/memory.max");
  EXPECT_EQ(memory(), kNoLimit);
  EXPECT_EQ(cores(), kNoLimit);
  memory_of("a", "1000", "nonsense");
  EXPECT_EQ(memory(), 1000);
}

}  // namespace
}  // namespace heed
