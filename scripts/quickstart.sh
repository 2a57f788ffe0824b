#!/usr/bin/env bash
# From nothing to a trained model: installs what is missing, builds heed, trains configs/quickstart.json with a stop in the
# middle, resumes, evaluates and samples. Then trains configs/reverse.json to show where a model looks. Nothing is deleted:
# an older runs/quickstart is renamed to runs/quickstart.old-K.
source "$(dirname "$0")/common.sh"
cd "$repository"

run=runs/quickstart
started=$SECONDS

say() { printf '\n%s\n' "$*"; }
heed() {  # shows the command, then runs it
  local word
  printf '\n$ heed'
  for word; do
    [[ $word != *' '* ]] || word="\"$word\""
    printf ' %s' "$word"
  done
  printf '\n'
  build/heed "$@"
}

scripts/install_dependencies.sh build

say "Building build/heed (Release): about two minutes the first time on two cores. Log: build/quickstart.log"
build_heed() {
  local fresh=()
  [[ -e build/CMakeCache.txt ]] || fresh=("${fresh_build[@]}" -DHEED_TESTS=OFF)
  cmake -S . -B build "${fresh[@]}" -DCMAKE_BUILD_TYPE=Release &&
    cmake --build build --target heed --parallel "$(parallel_jobs)"
}
show_count() {  # of ninja's lines, on a terminal: "[7/25]", in place
  local line
  while read -r line; do
    if [[ -t 1 && $line == \[*/*\]* ]]; then printf '\r%s]' "${line%%]*}"; fi
  done
  if [[ -t 1 ]]; then echo; fi
}
mkdir -p build
if ! build_heed 2>&1 | tee build/quickstart.log | show_count; then
  tail -n 40 build/quickstart.log >&2
  echo "The build failed; the full log is $PWD/build/quickstart.log" >&2
  exit 1
fi
built=$SECONDS

# The first half of the steps, as if somebody had pressed Ctrl-C.
steps=$(build/heed config quickstart | sed -n 's/.*"max_steps": *\([0-9][0-9]*\).*/\1/p')
if ((${steps:-0} < 2)); then
  echo "configs/quickstart.json must set train.max_steps" >&2
  exit 1
fi
say "Training a small transformer on data/fables.txt. It will stop half-way, after step $((steps / 2)) of $steps."
heed train quickstart --run "$run" --force --stop-at "$((steps / 2))"
say "Now it continues exactly where it stopped."
heed resume "$run"
trained=$SECONDS

say "How well does it predict the held-out text?"
heed evaluate "$run"

say "And what does it write?"
heed sample "$run" "One day a hungry fox" --max-tokens 79 --temperature 0.5 --seed 3

say "Where does a transformer look? To write a line backwards it must find each token in the source."
reversed=$SECONDS
heed train reverse --run runs/reverse --force --quiet
trained=$((trained + SECONDS - reversed))
heed attend runs/reverse "3 17 9 12 5" --kind cross --head 0

cat <<END

Open these in a browser, and type:
  $PWD/runs/reverse/live.html   the model that writes lines backwards
  $PWD/$run/live.html   the one that writes fables
Then press Play in report.html, beside each of them: what it wrote and where it looked as it learnt.

Everything is in $PWD/$run:
  config.json       the configuration with every default spelled out
  train.log         what you saw above; metrics.jsonl has the same figures for programs
  checkpoints/best  the best model: model.safetensors, its config and its tokenizer
  live.html, report.html    the two pages
Building took $((built - started)) s, training $((trained - built)) s.

Try next, from $PWD:
  build/heed sample $run "The fox" --temperature 0.7 --num-samples 3
  build/heed --help
END
