#!/usr/bin/env bash
# Kills training (kill -9) at random moments, often during a save, and resumes it with a random number of threads. When a
# run is finished, its last checkpoint, links, losses and film must be the same as those of an uninterrupted run.
#   scripts/dev/torture.sh [KILLS, default 12] [HEED, default build/heed]       the long form has 200 kills
# After each kill, check_run.py, which shares no code with heed, checks that every checkpoint is intact.
source "$(dirname "$0")/../common.sh"
cd "$repository"
kills=${1:-12}
heed=$(realpath "${2:-build/heed}")
check=$(realpath scripts/dev/check_run.py)
seed=${TORTURE_SEED:-$RANDOM}
RANDOM=$seed
echo "torture: $kills kills, TORTURE_SEED=$seed"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
head -c 60000 data/fables.txt >"$work/corpus.txt"
cat >"$work/config.json" <<'JSON'
{
  "seed": 7,
  "data": {"train": "corpus.txt"},
  "tokenizer": {"type": "char"},
  "model": {"d_model": 64, "n_heads": 2, "d_ff": 128, "encoder_layers": 1, "decoder_layers": 1,
            "dropout": 0.2},
  "objective": {"type": "prefix_lm", "source_length": 32, "target_length": 32},
  "train": {"batch_tokens": 2048, "max_steps": 120, "log_every": 1, "eval_every": 20,
            "save_every": 3, "keep_last": 2, "patience": 50, "ema_decay": 0.99}
}
JSON

fail() {
  echo "torture: $1 (TORTURE_SEED=$seed)" >&2
  tail -n 20 "$work/output" >&2 || true
  trap - EXIT
  echo "torture: all files are in $work" >&2
  exit 1
}

reference=$work/reference run=$work/run
begin=${EPOCHREALTIME/[.,]/}
"$heed" train "$work/config.json" --run "$reference" >"$work/output" 2>&1 ||
  fail "the uninterrupted run failed"
micros=$((${EPOCHREALTIME/[.,]/} - begin))
python3 "$check" "$reference" || fail "the uninterrupted run is damaged"

pause() { sleep "$(printf '%d.%06d' $(($1 / 1000000)) $(($1 % 1000000)))"; }  # microseconds

# Waits until process $1 is in its $2-th save or has ended, then up to 4 ms more.
wait_for_save() {
  local saves=$2 before=0 now
  while ((saves > 0)) && kill -0 "$1" 2>/dev/null; do
    now=0
    if compgen -G "$run/checkpoints/.tmp-step-*" >/dev/null; then now=1; fi
    if ((now > before)); then saves=$((saves - 1)); fi
    before=$now
  done
  if ((RANDOM % 2)); then pause $((RANDOM % 4000)); fi
}

done_kills=0 in_save=0 finished=0 starts=0
while ((done_kills < kills || finished == 0)); do
  threads=$((RANDOM % 3 + 1))
  if [[ -e $run/config.json ]]; then
    command=("$heed" resume "$run" --threads "$threads")
  else  # killed before the folder existed: nothing to resume
    rm -rf "$run"
    command=("$heed" train "$work/config.json" --run "$run" --threads "$threads")
  fi
  starts=$((starts + 1))
  "${command[@]}" >"$work/output" 2>&1 &
  process=$!
  if ((done_kills < kills)); then
    if ((RANDOM % 3)); then
      wait_for_save "$process" $((RANDOM % 5 + 1))
    else
      pause $(((RANDOM * 32768 + RANDOM) % (micros / 3)))
    fi
    kill -KILL "$process" 2>/dev/null || true
  fi
  status=0
  { wait "$process"; } 2>/dev/null || status=$?
  case $status in
    137)
      done_kills=$((done_kills + 1))
      if compgen -G "$run/checkpoints/.tmp-*" >/dev/null; then in_save=$((in_save + 1)); fi
      if [[ -d $run/checkpoints ]]; then
        python3 "$check" "$run" || fail "a kill left a damaged checkpoint"
      fi
      ;;
    0)
      python3 "$check" "$run" "$reference" || fail "the resumed run differs from the uninterrupted one"
      finished=$((finished + 1))
      rm -rf "$run"
      ;;
    *) fail "heed exited with $status" ;;
  esac
done
echo "torture: $done_kills kills ($in_save of them inside a save), $starts starts, $finished runs" \
  "finished, each equal to the uninterrupted one in every byte of its final checkpoint"
