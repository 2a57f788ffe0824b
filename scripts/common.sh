# Sourced by the shell scripts: strict mode, --help, where the repository is, and how many jobs fit this machine.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

usage() { sed -n '1d; /^#/!q; s/^# \{0,1\}//p' "$0"; }  # the comment at the head of the script
case ${1-} in -h | --help) usage; exit ;; esac

# How many compilers or tests may run at the same time: one per core, or fewer if the container is limited to fewer.
parallel_jobs() {
  local jobs quota period share
  jobs=$(nproc)
  if read -r quota period 2>/dev/null </sys/fs/cgroup/cpu.max && [[ $quota != max ]]; then
    share=$(((quota + period - 1) / period))
    jobs=$((share < jobs ? share : jobs))
  fi
  echo "$jobs"
}

# How cmake configures a build folder that is not there yet. The default build needs a processor with AVX2.
fresh_build=(-G Ninja)
if [[ $(uname -m) == x86_64 ]] && ! grep -qw avx2 /proc/cpuinfo; then fresh_build+=(-DHEED_NATIVE=ON); fi
