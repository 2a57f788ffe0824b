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
  void memory1(const std::string& group, const std::string& limit, const std::string& used) {
    write("sys/fs/cgroup/" + group + "/memory.limit_in_bytes", limit + "\n");
    write("sys/fs/cgroup/" + group + "/memory.usage_in_bytes", used + "\n");
  }
  void memory2(const std::string& group, const std::string& limit, const std::string& used) {
    write("sys/fs/cgroup/" + group + "/memory.max", limit + "\n");
    write("sys/fs/cgroup/" + group + "/memory.current", used + "\n");
  }
  void cpu1(const std::string& group, const std::string& quota) {
    write("sys/fs/cgroup/" + group + "/cpu.cfs_quota_us", quota + "\n");
    write("sys/fs/cgroup/" + group + "/cpu.cfs_period_us", "100000\n");
  }
  void cpu2(const std::string& group, const std::string& quota) {
    write("sys/fs/cgroup/" + group + "/cpu.max", quota + " 100000\n");
  }
  double memory() const { return cgroup_memory(folder_.path()); }
  double cores() const { return cgroup_cores(folder_.path()); }

  const TemporaryFolder folder_;
};

TEST_F(Cgroup, OfVersion2AContainersOwnGroupIsTheTopOne) {
  in("0::/\n");
  memory2(".", "20000000", "19000000");
  cpu2(".", "150000");
  EXPECT_EQ(memory(), 1e6);
  EXPECT_EQ(cores(), 1.5);
  memory2(".", "max", "19000000");
  cpu2(".", "max");
  EXPECT_EQ(memory(), kNoLimit);
  EXPECT_EQ(cores(), kNoLimit);
}

TEST_F(Cgroup, OfVersion2EveryGroupAboveCounts) {
  in("0::/user.slice/a.slice/job.scope\n");
  memory2("user.slice/a.slice/job.scope", "900", "100");
  EXPECT_EQ(memory(), 800);
  memory2("user.slice/a.slice", "max", "5000");
  memory2("user.slice", "1000", "700");
  memory2("user.slice/other", "1", "1");
  EXPECT_EQ(memory(), 300);
  cpu2("user.slice/a.slice/job.scope", "max");
  cpu2("user.slice/a.slice", "200000");
  cpu2("user.slice", "300000");
  EXPECT_EQ(cores(), 2);
}

TEST_F(Cgroup, OfVersion1EachResourceHasItsOwnTree) {
  in("12:cpuset:/set\n5:cpu,cpuacct:/job/step\n4:memory:/job\n1:name=systemd:/job/deep\n");
  memory1("memory/job", "60000000", "10000000");
  memory1("memory", "9223372036854771712", "70000000");  // no limit
  memory1("memory/set", "1", "0");
  cpu1("cpu/job/step", "-1");
  cpu1("cpu/job", "50000");
  cpu1("cpu/set", "1000");
  EXPECT_EQ(memory(), 5e7);
  EXPECT_EQ(cores(), 0.5);
}

TEST_F(Cgroup, OfBothVersionsBothCount) {
  in("4:memory:/a\n0::/b\n");
  memory1("memory/a", "1000", "0");
  cpu2("unified/b", "400000");
  EXPECT_EQ(memory(), 1000);
  EXPECT_EQ(cores(), 4);
  memory2("unified/b", "500", "0");
  EXPECT_EQ(memory(), 500);
}

TEST_F(Cgroup, WherePathsAreTheHostsTheTopGroupIsTheContainers) {
  in("5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n0::/../other\n");
  memory1("memory", "1000", "400");
  memory1("memory/docker", "1", "1");  // of containers in this one
  cpu1("cpu", "200000");
  EXPECT_EQ(memory(), 600);
  EXPECT_EQ(cores(), 2);
}

TEST_F(Cgroup, WithoutProcTheTopGroupCounts) {
  memory2(".", "1000", "400");
  EXPECT_EQ(memory(), 600);
}

TEST_F(Cgroup, CachedPagesOfFilesCountAsFree) {
  in("0::/\n");
  memory2(".", "20000000", "19000000");
  write("sys/fs/cgroup/memory.stat",
        "anon 2000000\ninactive_file 9000000\nslab 7\nactive_file 6000000\n");
  EXPECT_EQ(memory(), 16e6);
  memory2(".", "20000000", "1000");  // read a little later than memory.stat
  EXPECT_EQ(memory(), 20e6);
}

TEST_F(Cgroup, CachedPagesOfTheGroupsBelowCountToo) {
  in("4:memory:/\n");
  memory1("memory", "20000000", "19000000");
  write("sys/fs/cgroup/memory/memory.stat",
        "inactive_file 1\nactive_file 2\ntotal_inactive_file 9000000\ntotal_active_file 6000000\n");
  EXPECT_EQ(memory(), 16e6);
}

TEST_F(Cgroup, WhatCannotBeReadIsNoLimit) {
  in("nonsense\n0::/a\n:::\n");
  memory2("a", "nonsense", "7");
  cpu2("a", "nonsense");
  fs::create_directories(folder_.path() / "sys/fs/cgroup/memory.max");
  EXPECT_EQ(memory(), kNoLimit);
  EXPECT_EQ(cores(), kNoLimit);
  memory2("a", "1000", "nonsense");
  EXPECT_EQ(memory(), 1000);
}

}  // namespace
}  // namespace heed
