#!/usr/bin/env bash
# Fuzzes everything that reads bytes from outside: safetensors, state.json, configs, tokenizers, corpora.
#   scripts/dev/fuzz.sh [SECONDS per target, default 20] [TARGET...]     e.g. scripts/dev/fuzz.sh 300 config
# Builds in build-fuzz/ with clang's libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, and keeps the
# corpora there for the next run. If it finds something, it prints where the input is and exits with 1.
source "$(dirname "$0")/../common.sh"
cd "$repository"
seconds=${1:-20}
shift $(($# > 0 ? 1 : 0))
targets=("$@")
if ((${#targets[@]} == 0)); then
  for source in tests/fuzz/fuzz_*.cpp; do
    name=${source##*/fuzz_}
    targets+=("${name%.cpp}")
  done
fi

scripts/install_dependencies.sh build fuzz

fresh=()
[[ -e build-fuzz/CMakeCache.txt ]] || fresh=(-G Ninja -DCMAKE_CXX_COMPILER=clang++)
cmake -S tests/fuzz -B build-fuzz "${fresh[@]}" -DCMAKE_BUILD_TYPE=None
cmake --build build-fuzz --parallel "$(parallel_jobs)"
scripts/dev/fixed_addresses.sh build-fuzz/make_seeds build-fuzz/seeds

fuzz() {  # fuzz TARGET; a finding ends xargs
  local target=$1 log=build-fuzz/$1.log
  mkdir -p "build-fuzz/corpus/$target" build-fuzz/findings
  if ! scripts/dev/fixed_addresses.sh "build-fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=2048 -malloc_limit_mb=512 -print_final_stats=1 -artifact_prefix="build-fuzz/findings/$target-" \
    "build-fuzz/corpus/$target" "build-fuzz/seeds/fuzz_$target" >"$log" 2>&1; then
    tail -n 60 "$log"
    echo "fuzz_$target: failed; the input is in build-fuzz/findings/, the log is $log" >&2
    exit 255
  fi
  echo "fuzz_$target: $(grep -E 'number_of_executed_units|peak_rss' "$log" | sed 's/^stat:: *//' | tr -s '\n ' ' ')"
}
export -f fuzz
export seconds UBSAN_OPTIONS=print_stacktrace=1
printf '%s\n' "${targets[@]}" | xargs -P "$(parallel_jobs)" -I {} bash -euo pipefail -c 'fuzz {}'
echo "No findings in ${#targets[@]} targets, $seconds s each"
