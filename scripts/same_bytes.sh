#!/usr/bin/env bash
# Shows that portable runs have the same bytes here as elsewhere: trains 12 small models for 60 steps with train.arithmetic
# "portable" and prints a SHA-256 of each one's weights, moments and state, one of all, and a row for docs/same-bytes.md.
#   scripts/same_bytes.sh [NAME...]      only these of the 12
# Exit code 6: one is not what docs/same-bytes.md has. Takes half a minute. The environment may set
#   HEED_BINARY    the program (default: build/heed)
#   THREADS        default: 2
#   LAUNCHER       a command before heed's: "mpirun -np 2", "qemu-x86_64 -cpu Haswell"
#   STEPS          default: 60; with others the hashes are other ones, which nothing is compared with
source "$(dirname "$0")/common.sh"
cd "$repository"

heed=$(realpath "${HEED_BINARY:-build/heed}")
threads=${THREADS:-2} steps=${STEPS:-60} page=$repository/docs/same-bytes.md
read -ra launcher <<<"${LAUNCHER:-}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
cp data/fables.txt data/dates.train.* data/dates.valid.* data/reverse.train.* data/reverse.valid.* "$work"
cd "$work"

common='"train": {"arithmetic": "portable", "batch_tokens": 1500, "log_every": 0, "eval_every": 30, "save_every": 0}'
model='"d_model": 64, "n_heads": 2, "d_ff": 128'
cat >pairs.json <<END
{"data": {"source": "reverse.train.source", "target": "reverse.train.target", "max_length": 40,
          "valid_source": "reverse.valid.source", "valid_target": "reverse.valid.target"},
 "tokenizer": {"type": "word"}, "objective": {"type": "seq2seq"},
 "model": {$model, "encoder_layers": 1, "decoder_layers": 1, "tie": "none", "dropout": 0},
 "optimizer": {"learning_rate": 0.01, "warmup_steps": 10}, $common}
END
cat >text.json <<END
{"data": {"train": "fables.txt", "valid_fraction": 0.02}, "tokenizer": {"type": "char"},
 "objective": {"type": "causal_lm", "target_length": 48}, "model": {$model, "encoder_layers": 0, "decoder_layers": 2},
 "optimizer": {"learning_rate": 0.01, "warmup_steps": 10}, $common}
END
dates='data.source=dates.train.source data.target=dates.train.target data.valid_source=dates.valid.source data.valid_target=dates.valid.target'
encoder='model.encoder_layers=2 model.decoder_layers=0 objective.target_length=null objective.source_length=48'
both='model.encoder_layers=1 model.decoder_layers=1 objective.source_length=48'

# From this text all versions of SentencePiece that we tried learn the same pieces in the same order.
"$heed" train text.json --run learnt --quiet --set train.max_steps=1 --set tokenizer.type=bpe \
  --set tokenizer.vocab_size=500
cp learnt/checkpoints/last/tokenizer.model bpe.model
pieces='tokenizer.type=bpe tokenizer.file=bpe.model'

# name, config, changes
configs="
reverse   pairs optimizer.schedule=cosine
joined    pairs model.encoder_layers=0 model.decoder_layers=2 model.positions=rotary model.tie=all
adam      pairs $dates tokenizer.type=char tokenizer.shared=false model.tie=output optimizer.type=adam optimizer.schedule=inverse_sqrt objective.label_smoothing=0.1 model.dropout=0.1
chrf      pairs $dates $pieces train.select_by=chrf model.positions=none model.norm_type=rms model.activation=silu optimizer.type=muon
gpt       text  model.positions=rotary model.norm_type=rms model.qk_norm=true model.n_kv_heads=1 model.feed_forward=gated model.activation=silu model.bias=false
gpt-muon  text  $pieces optimizer.type=muon optimizer.schedule=wsd model.activation=gelu_tanh model.init=gpt2 model.positions=learned model.zero_init=true train.ema_decay=0.9
gpt-sgd   text  tokenizer.type=byte optimizer.type=sgd optimizer.momentum=0 optimizer.learning_rate=0.2 optimizer.clip_norm=0 model.norm=post model.activation=relu model.attention_dropout=0.2
bert      text  $encoder objective.type=masked_lm tokenizer.type=word tokenizer.punctuation=split tokenizer.vocab_size=1500 model.positions=learned model.norm=post model.activation=gelu
bert-muon text  $encoder objective.type=masked_lm model.positions=rotary model.norm_type=rms model.activation=relu2 optimizer.type=muon optimizer.schedule=inverse_sqrt train.shards=5 train.ema_decay=0.8
t5        text  $both objective.type=span_corruption objective.target_length=null $pieces model.feed_forward=gated model.activation_dropout=0.2 optimizer.schedule=linear
prefix    text  $both objective.type=prefix_lm optimizer.schedule=noam optimizer.learning_rate=0.5 train.ema_decay=0.95 train.select_by=accuracy
momentum  text  $both objective.type=prefix_lm optimizer.type=sgd optimizer.momentum=0.9 optimizer.learning_rate=0.1 model.attention.cross.uniform=true train.micro_batch_tokens=130
"

failed=0 all=
while read -r name config changes; do
  if [[ -z $name ]] || { (($# > 0)) && [[ " $* " != *" $name "* ]]; }; then continue; fi
  read -ra sets <<<"$changes train.max_steps=$steps"
  "${launcher[@]}" "$heed" train "$config.json" --run "$name" --threads "$threads" --quiet "${sets[@]/#/--set=}" </dev/null
  hash=$(cd "$name/checkpoints/last" && cat model.safetensors training.safetensors state.json | sha256sum | cut -c1-64)
  all+=$hash$'\n'
  known=$(sed -n "s/^| \`$name\` |.*| \`\([0-9a-f]*\)\` |$/\1/p" "$page") verdict=
  if ((steps == 60)); then
    verdict=equal
    if [[ $hash != "$known"* || -z $known ]]; then verdict="NOT EQUAL: ${known:-unknown}" failed=6; fi
  fi
  printf '%-10s %s %s\n' "$name" "${hash:0:16}" "$verdict"
done <<<"$configs"
all=$(printf '%s' "$all" | sha256sum | cut -c1-64)

version=$("${launcher[@]}" "$heed" --version)
field() { sed -n "s/^$1: //p" <<<"$version" | head -n 1; }
blas=$(field blas) blas=${blas#OpenBLAS }
processor=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)
printf '%s\n' "$all" "| ${processor:-$(uname -m)}${LAUNCHER:+, $LAUNCHER}${OPENBLAS_CORETYPE:+, OPENBLAS_CORETYPE=$OPENBLAS_CORETYPE} | $(
  sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release), OpenBLAS ${blas%% *}, $(getconf GNU_LIBC_VERSION) | $(
  field compiler), $(field build) | $threads | \`${all:0:16}\` |"
exit $failed
