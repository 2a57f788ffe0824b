#!/usr/bin/env bash
# Builds everything into build/ and runs every test. Extra arguments go to ctest: scripts/test.sh -R Linear
source "$(dirname "$0")/common.sh"
cd "$repository"

scripts/install_dependencies.sh build tests mpi onednn

fresh=()
[[ -e build/CMakeCache.txt ]] || fresh=("${fresh_build[@]}")
unit=ON  # what is not run need not be built
if [[ "$*" == *"--label-exclude unit"* ]]; then unit=OFF; fi
cmake -S . -B build "${fresh[@]}" -DCMAKE_BUILD_TYPE=Release -DHEED_TESTS=ON -DHEED_UNIT_TESTS=$unit
cmake --build build --parallel "$(parallel_jobs)"
# Two tests to a core, because they wait for disks and pages as long as they compute.
ctest --test-dir build --output-on-failure --no-tests=error --parallel "$((2 * $(parallel_jobs)))" "$@"
