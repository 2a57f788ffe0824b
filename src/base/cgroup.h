// What the control groups of this process leave it of memory and CPU time: a container's limits,
// those of systemd-run or of a batch system (Linux, cgroups(7)).
//
// /proc/self/cgroup names a process's groups; the limit of each group above them holds too. There
// is one tree of groups for all resources (version 2), one for each (version 1), or both. `root`
// is where /proc and /sys are: tests have trees of their own.
#pragma once

#include <filesystem>

namespace heed {

// Bytes that may still be taken, or infinity. Cached pages of files count as free.
double cgroup_memory(const std::filesystem::path& root = "/");

// Seconds of CPU time in a second, or infinity.
double cgroup_cores(const std::filesystem::path& root = "/");

}  // namespace heed
