#!/usr/bin/env bash
# Runs a command without address randomisation, if the container allows it: the sanitizers of GCC 12 and clang 14 fail
# with some address layouts (vm.mmap_rnd_bits above 28).
#   scripts/dev/fixed_addresses.sh COMMAND...
source "$(dirname "$0")/../common.sh"
if setarch --addr-no-randomize true 2>/dev/null; then exec setarch --addr-no-randomize "$@"; fi
exec "$@"
