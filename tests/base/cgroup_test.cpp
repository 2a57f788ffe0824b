#include "base/cgroup.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "base/temporary_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// Of a group, below sys/fs/cgroup: files and what they hold.
using Files = std::vector<std::pair<std::string, std::string>>;

Files memory1(const std::string& group, const std::string& limit, const std::string& used) {
  return {{group + "/memory.limit_in_bytes", limit}, {group + "/memory.usage_in_bytes", used}};
}
Files memory2(const std::string& group, const std::string& limit, const std::string& used) {
  return {{group + "/memory.max", limit}, {group + "/memory.current", used}};
}
Files cpu1(const std::string& group, const std::string& quota) {
  return {{group + "/cpu.cfs_quota_us", quota}, {group + "/cpu.cfs_period_us", "100000"}};
}
Files cpu2(const std::string& group, const std::string& quota) {
  return {{group + "/cpu.max", quota + " 100000"}};
}

struct Machine {
  const char* groups;  // its proc/self/cgroup, if there is one
  std::vector<Files> files;
  double memory = kNoLimit, cores = kNoLimit;
};

TEST(Cgroup, TheTightestGroupAboveAProcessCounts) {
  const std::string slice = "user.slice/a.slice", job = slice + "/job.scope";
  const Files cached = {{"memory.stat",
                         "anon 2000000\ninactive_file 9000000\nactive_file 6000000"}},
              below = {{"memory/memory.stat",
                        "inactive_file 1\ntotal_inactive_file 9000000\n"
                        "total_active_file 6000000"}},
              no_file = {{"memory.max/x", ""}};  // a folder of that name
  const Machine machines[] = {
      // Of version 2 a container's own group is the top one, and every group above counts.
      {"0::/", {memory2(".", "20000000", "19000000"), cpu2(".", "150000")}, 1e6, 1.5},
      {"0::/", {memory2(".", "max", "19000000"), cpu2(".", "max")}},
      {"0::/user.slice/a.slice/job.scope", {memory2(job, "900", "100")}, 800},
      {"0::/user.slice/a.slice/job.scope",
       {memory2(job, "900", "100"), memory2(slice, "max", "5000"),
        memory2("user.slice", "1000", "700"), memory2("user.slice/other", "1", "1"),
        cpu2(job, "max"), cpu2(slice, "200000"), cpu2("user.slice", "300000")},
       300,
       2},
      // Of version 1 each resource has its own tree. (9223372036854771712: no limit.)
      {"12:cpuset:/set\n5:cpu,cpuacct:/job/step\n4:memory:/job\n1:name=systemd:/job/deep",
       {memory1("memory/job", "60000000", "10000000"),
        memory1("memory", "9223372036854771712", "70000000"), memory1("memory/set", "1", "0"),
        cpu1("cpu/job/step", "-1"), cpu1("cpu/job", "50000"), cpu1("cpu/set", "1000")},
       5e7,
       0.5},
      // Of both versions both count.
      {"4:memory:/a\n0::/b",
       {memory1("memory/a", "1000", "0"), cpu2("unified/b", "400000")},
       1000,
       4},
      {"4:memory:/a\n0::/b",
       {memory1("memory/a", "1000", "0"), memory2("unified/b", "500", "0")},
       500},
      // Where paths are the host's, the top group is the container's. (docker: of others in it.)
      {"5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n0::/../other",
       {memory1("memory", "1000", "400"), memory1("memory/docker", "1", "1"),
        cpu1("cpu", "200000")},
       600,
       2},
      {nullptr, {memory2(".", "1000", "400")}, 600},
      // Cached pages of files count as free, also of the groups below, and if read a little later.
      {"0::/", {memory2(".", "20000000", "19000000"), cached}, 16e6},
      {"0::/", {memory2(".", "20000000", "1000"), cached}, 20e6},
      {"4:memory:/", {memory1("memory", "20000000", "19000000"), below}, 16e6},
      // What cannot be read is no limit.
      {"nonsense\n0::/a\n:::", {memory2("a", "nonsense", "7"), cpu2("a", "nonsense"), no_file}},
      {"nonsense\n0::/a\n:::", {memory2("a", "1000", "nonsense"), no_file}, 1000},
  };
  for (const Machine& machine : machines) {
    SCOPED_TRACE(&machine - machines);
    const TemporaryFolder folder;
    const auto write = [&](const fs::path& file, const std::string& text) {
      fs::create_directories((folder.path() / file).parent_path());
      std::ofstream(folder.path() / file) << text << "\n";
    };
    if (machine.groups != nullptr) write("proc/self/cgroup", machine.groups);
    for (const Files& files : machine.files)
      for (const auto& [file, text] : files) write(fs::path("sys/fs/cgroup") / file, text);
    EXPECT_EQ(cgroup_memory(folder.path()), machine.memory);
    EXPECT_EQ(cgroup_cores(folder.path()), machine.cores);
  }
}

}  // namespace
}  // namespace heed
