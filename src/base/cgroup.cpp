#include "base/cgroup.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// The folders of this process's group and of those above it.
std::vector<fs::path> groups_of(const fs::path& root) {
  const fs::path top = root / "sys/fs/cgroup";
  std::vector<fs::path> groups{top};
  std::error_code none;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::")) continue;  // "0::/user.slice/a.scope"; others are of version 1
    fs::path below = fs::path(line.substr(3)).lexically_normal().relative_path();
    // In a container the path may be the host's. Then the group is the top one here.
    if (!fs::exists(top / below, none)) continue;
    for (; !below.empty(); below = below.parent_path()) groups.push_back(top / below);
  }
  return groups;
}

// The number in a file, or `otherwise`: "max" is no limit.
double number_in(const fs::path& file, double otherwise) {
  double number;
  return std::ifstream(file) >> number ? number : otherwise;
}

}  // namespace

double cgroup_memory(const fs::path& root) {
  double least = kNoLimit;
  for (const fs::path& group : groups_of(root)) {
    double used = number_in(group / "memory.current", 0), bytes = 0;
    // The kernel reclaims cached file pages before it refuses memory.
    std::ifstream stat(group / "memory.stat");
    for (std::string key; stat >> key >> bytes;)
      if (key == "inactive_file" || key == "active_file") used -= bytes;
    const double limit = number_in(group / "memory.max", kNoLimit);
    least = std::min(least, std::max(0.0, limit - std::max(0.0, used)));
  }
  return least;
}

double available_memory() {
  double available = 1e18;
  std::ifstream info("/proc/meminfo");
  for (std::string key, unit; info >> key;) {
    double kib = 0;
    info >> kib;
    std::getline(info, unit);
    if (key == "MemAvailable:") available = kib * 1024;
  }
  return std::min(available, cgroup_memory());
}

void require_memory(double bytes, const std::string& what) {
  constexpr double kSmall = 1 << 20;  // looking takes longer than filling it
  const double available = bytes > kSmall ? available_memory() : bytes;
  if (bytes <= available) return;
  const auto mib = [](double x) { return std::to_string(std::lround(x / (1 << 20))) + " MiB"; };
  throw Error(Exit::memory,
              what + " does not fit into memory: it needs " + mib(bytes) + " more, and " +
                  mib(available) + " are available.",
              "less of it, or more memory: of the machine, its control group or ulimit -v");
}

double cgroup_cores(const fs::path& root) {
  double least = kNoLimit;
  for (const fs::path& group : groups_of(root)) {
    double quota = 0, period = 0;  // microseconds of CPU time in each period; or "max"
    if (std::ifstream(group / "cpu.max") >> quota >> period && period > 0)
      least = std::min(least, quota / period);
  }
  return least;
}

}  // namespace heed
