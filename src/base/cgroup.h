// Memory and CPU time that this process may use under its control groups: the limits of a
// container, of systemd-run or of a batch system (Linux, cgroups(7)).
//
// /proc/self/cgroup names a process's groups; the limits of their parents apply too. There is one
// tree of groups for all resources (version 2), one for each (version 1), or both. `root` contains
// /proc and /sys; tests use trees of their own.
#pragma once

#include <filesystem>
#include <string>

#include "base/std_names.h"

namespace heed {

// Bytes that can still be allocated, or infinity. Cached file pages count as free.
double cgroup_memory(const fs::path& root = "/");

// Bytes that this process may still take: the machine's available memory, or less in a control
// group.
double available_memory();

// Error (memory) if there are fewer than `bytes` bytes, unless that is little; `what`: "the data".
void require_memory(double bytes, const string& what);

// CPU seconds per second, or infinity.
double cgroup_cores(const fs::path& root = "/");

}  // namespace heed
