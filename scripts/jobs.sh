#!/usr/bin/env bash
# Prints how many compilers or tests may run at the same time: one per core, or fewer if the container is limited to fewer.
set -euo pipefail
jobs=$(nproc)
if read -r quota period 2>/dev/null </sys/fs/cgroup/cpu.max && [[ $quota != max ]]; then
  share=$(((quota + period - 1) / period))
  jobs=$((share < jobs ? share : jobs))
fi
echo "$jobs"
