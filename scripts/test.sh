#!/usr/bin/env bash
# Builds everything into build/ and runs every test. Extra arguments go to ctest: scripts/test.sh -R Linear
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/install_dependencies.sh build tests mpi

fresh=()
[[ -e build/CMakeCache.txt ]] || fresh=(-G Ninja)
cmake -S . -B build "${fresh[@]}" -DCMAKE_BUILD_TYPE=Release -DHEED_TESTS=ON
cmake --build build --parallel "$(scripts/jobs.sh)"
ctest --test-dir build --output-on-failure --no-tests=error --parallel "$(scripts/jobs.sh)" "$@"
