#!/usr/bin/env bash
# Trains, stops, resumes, evaluates, samples, scores and translates with four threads under ThreadSanitizer (in
# build-tsan/). On a data race it prints a report and exits with 66.
#   scripts/dev/tsan.sh            takes some minutes, so run it by hand
source "$(dirname "$0")/../common.sh"
cd "$repository"
scripts/install_dependencies.sh build

fresh=()
[[ -e build-tsan/CMakeCache.txt ]] || fresh=(-G Ninja)
cmake -S . -B build-tsan "${fresh[@]}" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DHEED_SANITIZE=thread -DHEED_TESTS=OFF
cmake --build build-tsan --parallel "$(parallel_jobs)" --target heed

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TSAN_OPTIONS="halt_on_error=1 exitcode=66"
heed() { scripts/dev/fixed_addresses.sh build-tsan/heed "$@" --threads 4; }
count=0
run() {
  echo "tsan: heed $1 $2"
  heed "$@" >"$work/output" 2>&1 </dev/null ||
    { local status=$?; cat "$work/output" >&2; exit "$status"; }
  count=$((count + 1))
}

short=(--set train.max_steps=12 --set train.eval_every=4 --set train.save_every=4
  --set train.log_every=2 --set model.dropout=0.1)
head -c 40000 data/fables.txt >"$work/corpus.txt"
text=(--set data.train="$work/corpus.txt")
run train configs/quickstart.json --run "$work/lm" "${short[@]}" "${text[@]}" \
  --set train.shards=4 --set train.ema_decay=0.9 --stop-at 6
run resume "$work/lm"
run evaluate "$work/lm"
run sample "$work/lm" "The fox" --num-samples 6 --max-tokens 20
run train configs/reverse.json --run "$work/pairs" "${short[@]}" --set train.select_by=bleu
run translate "$work/pairs" --file data/reverse.valid.source --beam-size 3
run score "$work/pairs" --file data/reverse.valid.source --target-file data/reverse.valid.target
run train configs/bert.json --run "$work/masked" "${short[@]}" "${text[@]}"
run evaluate "$work/masked"
run train configs/t5.json --run "$work/spans" "${short[@]}" "${text[@]}"
run evaluate "$work/spans"
run bench configs/copy.json --steps 6
echo "tsan: no data race in $count commands with four threads"
