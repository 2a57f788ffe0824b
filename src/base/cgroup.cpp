#include "base/cgroup.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/std_names.h"

namespace heed {
namespace {

// The folders of the groups that limit this process's use of a resource ("memory" or "cpu").
vector<fs::path> groups_of(const fs::path& root, const string& resource) {
  const fs::path mounted = root / "sys/fs/cgroup", unified = mounted / "unified";
  vector<fs::path> groups{mounted};  // if /proc cannot be read
  ifstream file(root / "proc/self/cgroup");
  // "0::/user.slice/a.scope" (version 2) or "4:cpu,cpuacct:/user.slice" (version 1)
  for (string number, resources, path;
       getline(file, number, ':') && getline(file, resources, ':') && getline(file, path);) {
    fs::path top;
    if (resources.empty())
      top = fs::exists(unified, ignored()) ? unified : mounted;
    else if (("," + resources + ",").find("," + resource + ",") != string::npos)
      top = mounted / resource;
    else
      continue;
    // In a container the path may be the host's. Then the group is the top one here.
    fs::path below = fs::path(path).lexically_normal().relative_path();
    if (!fs::exists(top / below, ignored())) below.clear();
    for (; !below.empty(); below = below.parent_path()) groups.push_back(top / below);
    groups.push_back(top);
  }
  return groups;
}

// The number in a file, or `otherwise`: version 2 writes "max" for no limit.
double number_in(const fs::path& file, double otherwise) {
  double number;
  return ifstream(file) >> number ? number : otherwise;
}

// `total`: before the keys of memory.stat that count the groups below, too.
double memory_left(const fs::path& group, const char* limit, const char* used,
                   const string& total) {
  double taken = number_in(group / used, 0), bytes = 0;
  // The kernel reclaims cached file pages before it refuses memory.
  ifstream stat(group / "memory.stat");
  for (string key; stat >> key >> bytes;)
    if (key == total + "inactive_file" || key == total + "active_file") taken -= bytes;
  return max(0.0, number_in(group / limit, INFINITY) - max(0.0, taken));
}

}  // namespace

double cgroup_memory(const fs::path& root) {
  double least = INFINITY;
  for (const fs::path& group : groups_of(root, "memory"))
    least = min({least, memory_left(group, "memory.max", "memory.current", ""),
                 memory_left(group, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_")});
  return least;
}

double available_memory() {
  double available = 1e18;
  ifstream info("/proc/meminfo");
  for (string key, unit; info >> key;) {
    double kib = 0;
    info >> kib;
    getline(info, unit);
    if (key == "MemAvailable:") available = kib * 1024;
  }
  return min(available, cgroup_memory());
}

void require_memory(double bytes, const string& what) {
  constexpr double kSmall = 1 << 20;  // looking takes longer than filling it
  const double available = bytes > kSmall ? available_memory() : bytes;
  if (bytes <= available) return;
  const auto mib = [](double x) { return to_string(int64_t(x / (1 << 20))) + " MiB"; };
  throw Error(Exit::memory,
              what + " does not fit into memory: it needs " + mib(bytes) + " more, and " +
                  mib(available) + " are available.",
              "less of it, or more memory: of the machine, its control group or ulimit -v");
}

double cgroup_cores(const fs::path& root) {
  double least = INFINITY;
  for (const fs::path& group : groups_of(root, "cpu")) {
    // Microseconds of CPU time in each period; "max" or -1: no limit.
    double quota = number_in(group / "cpu.cfs_quota_us", -1);
    double period = number_in(group / "cpu.cfs_period_us", 0);
    ifstream(group / "cpu.max") >> quota >> period;
    if (quota > 0 && period > 0) least = min(least, quota / period);
  }
  return least;
}

}  // namespace heed
