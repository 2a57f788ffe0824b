#!/usr/bin/env python3
"""Shows that a code change leaves everything heed computes unchanged, or what it changes.

    scripts/dev/record_behaviour.py record HEED FOLDER     trains and uses small models, keeps all results in FOLDER
    scripts/dev/record_behaviour.py compare OLD NEW        two such folders, or programs, which are recorded first

  --only NAME[,NAME]    only these configs (CONFIGS below)
  --jobs N              this many configs at a time (default: 2)

Each config is trained for about 60 steps three times: on one thread, and on two and three threads with a stop half-way and
a different number of threads afterwards. All three must end in the same bytes. Then the commands that apply to the run are
run with fixed seeds. An item is the output of one command, or a file of tensors; `compare` prints a line for each item that
differs, and exits with 6 if any does. JSON, also that of metrics.jsonl and film.jsonl, is compared by value, without times,
speeds and paths; state.json and the run's config.json are not compared. Differences of tensors are relative to the tensor's
largest value. The last digits depend on the CPU and OpenBLAS, so record both programs on one machine.

Needs only Python's standard library.
"""
import argparse
import array
import concurrent.futures
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from heed_runs import ROOT, cpu, tensors  # noqa: E402

IGNORED = {"seconds", "tokens_per_second", "run", "checkpoint", "data"}  # keys of JSON: times, speeds, paths

# A word with a colon is the section of the keys after it.
COMMON = "train: max_steps=60 log_every=10 eval_every=20 save_every=20 keep_last=0"
CONFIGS = {
    "gpt-char": """data: train=fables.txt valid_fraction=0.05 tokenizer: type=char min_frequency=3
        model: d_model=32 n_heads=4 n_kv_heads=2 d_ff=48 encoder_layers=0 decoder_layers=2 positions=rotary
        norm_type=rms qk_norm=true feed_forward=gated activation=silu bias=false dropout=0.1
        objective: type=causal_lm target_length=40 optimizer: learning_rate=0.01 warmup_steps=10
        train: batch_tokens=1000 micro_batch_tokens=130""",
    "gpt-bpe": """data: train=["fables.txt","more.txt"] limit=50000 valid_fraction=0.05 tokenizer: type=bpe
        vocab_size=400 sample_bytes=20000 model: d_model=32 n_heads=2 d_ff=64 encoder_layers=0 decoder_layers=2
        positions=learned activation=gelu_tanh init=gpt2 zero_init=true tie=output objective: type=causal_lm
        target_length=24 optimizer: type=muon schedule=wsd warmup_steps=5 decay_fraction=0.3 learning_rate=0.02
        train: batch_tokens=600 ema_decay=0.9 max_steps=80""",
    "gpt-byte": """seed=99 data: train=more.txt valid=valid.txt lowercase=true normalize=nfkc tokenizer: type=byte
        model: d_model=20 n_heads=2 d_ff=40 encoder_layers=0 decoder_layers=1 norm=post activation=relu tie=none
        dropout=0 attention_dropout=0.2 model.attention.decoder_self: scaled=false key=random value=identity
        objective: type=causal_lm target_length=64 label_smoothing=0.05 optimizer: type=sgd momentum=0.9
        learning_rate=0.2 schedule=constant warmup_steps=0 clip_norm=0 weight_decay=0.01
        train: batch_tokens=640 shards=3""",
    "gpt-attention": """data: train=more.txt valid_fraction=0.1 tokenizer: type=word punctuation=split vocab_size=300
        model: d_model=24 n_heads=3 encoder_layers=0 decoder_layers=2 positions=none feed_forward=none bias=false
        norm_eps=1e-4 model.attention.decoder_self: query=identity value=random
        objective: type=causal_lm target_length=20 optimizer: type=adam schedule=linear decay_steps=45 min_learning_rate=0.001 warmup_steps=8 learning_rate=0.01
        betas=[0.8,0.95] train: arithmetic=portable batch_tokens=500 shards=8 max_epochs=3 max_steps=0 eval_every="1 epoch"
        save_every="1 epoch" patience=2""",
    "bert-word": """data: train=fables.txt valid_fraction=0.05 lowercase=true tokenizer: type=word min_frequency=2
        punctuation=split model: d_model=32 n_heads=4 d_ff=64 encoder_layers=2 decoder_layers=0 positions=learned
        norm=post activation=gelu objective: type=masked_lm source_length=32 mask_fraction=0.2
        optimizer: warmup_steps=10 learning_rate=0.01 weight_decay=0.1 train: batch_tokens=1000""",
    "bert-unigram": """data: train=more.txt valid=valid.txt tokenizer: type=unigram vocab_size=400
        model: d_model=24 n_heads=4 n_kv_heads=1 d_ff=32 encoder_layers=2 decoder_layers=0 positions=rotary
        rope_base=100 norm_type=rms qk_norm=true activation=relu2 tie=none model.attention.encoder_self: uniform=true
        objective: type=masked_lm source_length=20 optimizer: type=muon schedule=inverse_sqrt warmup_steps=6
        momentum=0.9 learning_rate=0.02 train: batch_tokens=400 shards=5 ema_decay=0.8 micro_batch_tokens=50""",
    "t5-bpe": """data: train=fables.txt valid_fraction=0.05 tokenizer: type=bpe vocab_size=400
        model: d_model=32 n_heads=4 n_kv_heads=2 d_ff=48 encoder_layers=2 decoder_layers=1 positions=rotary
        qk_norm=true feed_forward=gated init=gpt2 activation_dropout=0.2 objective: type=span_corruption
        source_length=32 optimizer: type=muon warmup_steps=10 learning_rate=0.02 betas=[0.9,0.95]
        train: precision=bfloat16 batch_tokens=800""",
    "t5-word": """data: train=more.txt valid_fraction=0.1 tokenizer: type=word model: d_model=24 n_heads=2 d_ff=40
        encoder_layers=1 decoder_layers=1 norm=post norm_type=rms activation=relu2 tie=output dropout=0.2
        objective: type=span_corruption source_length=40 mask_fraction=0.3 mean_span=2.5
        optimizer: schedule=constant warmup_steps=10 learning_rate=0.005 train: batch_tokens=700
        micro_batch_tokens=120 ema_decay=0.9""",
    "prefix-char": """data: train=fables.txt valid_fraction=0.05 tokenizer: type=char model: d_model=32 n_heads=4
        d_ff=64 encoder_layers=1 decoder_layers=2 attention_dropout=0.25 objective: source_length=24
        target_length=40 optimizer: schedule=noam warmup_steps=20 learning_rate=0.5
        train: batch_tokens=1200 micro_batch_tokens=130 ema_decay=0.95 select_by=accuracy""",
    "prefix-unigram": """data: train=more.txt valid=["valid.txt"] tokenizer: type=unigram vocab_size=400
        model: d_model=24 n_heads=3 d_ff=50 encoder_layers=1 decoder_layers=1 positions=learned norm=post
        feed_forward=gated activation=relu bias=false tie=none init=gpt2 dropout=0
        model.attention.cross: uniform=true objective: source_length=17 target_length=33 label_smoothing=0.1
        optimizer: type=sgd learning_rate=0.1 schedule=cosine decay_steps=45 min_learning_rate=0.01 warmup_steps=5
        train: batch_tokens=700 shards=1""",
    "pairs-dates": """data: source=dates.source target=dates.target valid_source=dates.test.source
        valid_target=dates.test.target max_length=20 tokenizer: type=char shared=false model: d_model=32 n_heads=2
        d_ff=64 encoder_layers=2 decoder_layers=2 norm=post tie=output objective: type=seq2seq label_smoothing=0.1
        optimizer: type=adam eps=1e-6 schedule=noam warmup_steps=20 learning_rate=0.5
        train: batch_tokens=1200 micro_batch_tokens=90 select_by=bleu""",
    "pairs-reverse": """data: source=reverse.source target=reverse.target valid_source=reverse.test.source
        valid_target=reverse.test.target tokenizer: type=word model: d_model=32 n_heads=4 n_kv_heads=2 d_ff=64
        encoder_layers=1 decoder_layers=2 positions=rotary qk_norm=true feed_forward=gated activation=gelu_tanh
        dropout=0 model.attention.encoder_self: positions=false
        model.attention.cross: query=random scaled=false objective: type=seq2seq
        optimizer: type=muon schedule=linear learning_rate=0.01 warmup_steps=10
        train: batch_tokens=1000 select_by=exact""",
    "pairs-tsv": """data: pairs=dates.tsv valid_fraction=0.05 normalize=nfc tokenizer: type=bpe vocab_size=350
        model: d_model=28 n_heads=2 d_ff=60 encoder_layers=1 decoder_layers=1 positions=none norm_type=rms
        activation=silu tie=none model.attention.decoder_self: key=identity objective: type=seq2seq
        optimizer: schedule=inverse_sqrt warmup_steps=10 learning_rate=0.005
        train: select_by=chrf batch_tokens=800 shards=2 ema_decay=0.9""",
    "pairs-nfd": """data: pairs=dates.tsv valid_fraction=0.05 normalize=nfd tokenizer: type=char model: d_model=24 n_heads=2
        d_ff=48 encoder_layers=1 decoder_layers=1 objective: type=seq2seq
        optimizer: learning_rate=0.005 warmup_steps=10 train: select_by=token_errors batch_tokens=800""",
    "gpt-nfkd": """data: train=more.txt valid=valid.txt normalize=nfkd tokenizer: type=char model: d_model=24 n_heads=2 d_ff=48
        encoder_layers=0 decoder_layers=1 objective: type=causal_lm target_length=24
        optimizer: learning_rate=0.005 warmup_steps=10 train: batch_tokens=800""",
}

# One command per line; {} are files and words that suit the config. Output of commands with --json is read as JSON.
ALWAYS = """
evaluate run --json
evaluate run --checkpoint last --threads 3 --json
inspect run --json
tokenize run --file {lines} --json
tokenize run --file {lines} --ids
tokenize run "{text}"
neighbors run {first} {last} --top-k 4 --json
neighbors run {first} - {last} + {first} --json
attend run "{text}" --json
"""
TEXT = """
evaluate run --file {file} --json
score run --file {lines} --json --threads 2
score run --file {lines} --tokens
score run "{text}"
"""
WRITES = """
sample run "{text}" --temperature 0 --max-tokens 60
sample run "{text}" -n 5 --seed 7 --max-tokens 50 --threads 3 --json
sample run --file {line} -n 30 --seed 3 --top-k 5 --max-tokens 12 --json
sample run "{text}" -n 3 --top-p 0.8 --temperature 1.3 --max-tokens 90 --json
sample run "{text}" -n 3 --min-p 0.05 --repetition-penalty 1.3 --stop {first} --max-tokens 40
attend run "{text}" --target "{reply}" --json --contributions
"""
FILLS = """
fill run "{text} [MASK] {first} [MASK]" --json
fill run "[MASK] {first}" --top-k 3
attend run "{text} [MASK]" --json
"""
PAIRS = """
evaluate run --bleu --beam-size 2 --json
evaluate run --file {lines} --target-file {replies} --bleu --tokenize none --length-penalty 0 --json
translate run --file {lines} --beam-size 1 --threads 3
translate run --file {lines} --beam-size 4 --threads 2 --json
translate run --file {lines} --beam-size 3 --n-best 2 --length-penalty 0.6 --max-length 9 --json
translate run "{text}"
score run --file {lines} --target-file {replies} --json --threads 2
score run --file {lines} --target-file {replies} --tokens
score run "{text}" --target "{reply}" --json
tokenize run --file {lines} --side source --json
neighbors run {first} --side source --json
"""
COMMANDS = {
    "causal_lm": ALWAYS + TEXT + WRITES + "evaluate run --stride 7 --json",
    "masked_lm": ALWAYS + TEXT + FILLS,
    "prefix_lm": ALWAYS + TEXT + WRITES + "score run --file {lines} --target-file {lines} --json",
    "seq2seq": ALWAYS + WRITES + PAIRS,
    "span_corruption": ALWAYS + TEXT + FILLS,
}


def write_inputs(folder):
    """The beginnings of files in data/, and a text with a little of everything."""
    folder.mkdir()
    fables = (ROOT / "data/fables.txt").read_text()
    odd = "Über\tdie Füchse, 日本語!\n\nThe  fox ran home.\n" + "a long line " * 30 + "\n€ 🦊 e\u0301 ﬁ\n"
    files = {"fables.txt": fables[:60_000], "more.txt": fables[60_000:80_000] + odd, "valid.txt": fables[80_000:84_000],
             "text.file": odd + fables[84_000:85_000], "text.line": "The fox was",
             "text.lines": odd + "One day a crow sat in a tree.\nShe had a piece of cheese.\n"}
    for name in ("dates", "reverse"):
        for side in ("source", "target"):
            train, test = ((ROOT / f"data/{name}.{part}.{side}").read_text().splitlines(True)
                           for part in ("train", "test"))
            files[f"{name}.{side}"] = "".join(train[:1200])
            files[f"{name}.test.{side}"] = "".join(test[:40])
            files[f"{name}.{'lines' if side == 'source' else 'replies'}"] = "".join(test[40:52])
        files[f"{name}.line"] = files[f"{name}.lines"].splitlines()[0]
    files["dates.tsv"] = "".join(f"{source}\t{target}\n" for source, target in
                                 zip(files["dates.source"].splitlines(), files["dates.target"].splitlines()))
    for name, content in files.items():
        (folder / name).write_text(content)


def config_of(name):
    config = {}
    for text in (COMMON, CONFIGS[name]):
        place = config
        for section, key, value in re.findall(r"""([\w.]+):(?=\s)|(\w+)=("[^"]+"|\S+)""", text):
            if section:
                place = config
                for part in section.split("."):
                    place = place.setdefault(part, {})
            else:
                place[key] = json.loads(value) if re.match(r'[-\d"\[]|true$|false$', value) else value
    return config


def objective_of(config):
    return config["objective"].get("type", "prefix_lm")


def names_of(config):
    """The arguments for the commands of a config."""
    base = next((name for name in ("dates", "reverse") if name in json.dumps(config["data"])), "text")
    names = {end: f"../inputs/{base}.{end}" for end in ("file", "line", "lines", "replies")}
    if base == "text":
        causal = objective_of(config) == "causal_lm"  # its decoder reads the reply after the text
        return {**names, "text": "The fox was", "first": "fox", "last": "was", "reply": " a fox" if causal else "a fox"}
    text, reply = {"dates": ("Thu 28 Jan 2077", "2077-01-28"), "reverse": ("8 12 11 3", "3 11 12 8")}[base]
    first, last = ("2", "0") if base == "dates" else ("8", "12")
    return {**names, "text": text, "reply": reply, "first": first, "last": last}


class Recorder:
    """Runs heed in a folder of its own and collects the results as items. Tensors are copied to `kept`."""

    def __init__(self, program, root, kept, name):
        self.program, self.name, self.folder, self.kept = program, name, root / name, kept / name
        self.config, self.items, self.wrong = config_of(name), {}, []
        self.folder.mkdir()
        self.kept.mkdir(parents=True)

    def heed(self, line, keep=True):
        done = subprocess.run([self.program, *shlex.split(line)], cwd=self.folder, capture_output=True, timeout=300,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise RuntimeError(f"heed {line}\nexit {done.returncode}: " + done.stderr.decode()[-1000:])
        if keep:
            self.items[line] = {"kind": "json" if "--json" in line else "text", "out": done.stdout.decode()}

    def keep_tensors(self, item, path):
        file = f"{item.replace(' ', '-')}.{path.name}"
        shutil.copyfile(path, self.kept / file)
        self.items[f"{item}: {path.name}"] = {"kind": "tensors", "file": f"{self.name}/{file}"}

    def keep_run(self, item, run):
        for path in sorted((self.folder / run / "checkpoints/last").glob("*.safetensors")):
            self.keep_tensors(item, path)
        # Of metrics.jsonl what the training computed, and not that it stopped, or where.
        for name in ("metrics.jsonl", "film.jsonl"):
            lines = (self.folder / run / name).read_text().splitlines()
            kept = [line for line in lines if json.loads(line)["kind"] != "event"]
            self.items[f"{item}: {name}"] = {"kind": "json", "out": "\n".join(kept)}

    def train(self):
        (self.folder.parent / "inputs" / f"{self.name}.json").write_text(json.dumps(self.config))
        config = f"../inputs/{self.name}.json"
        last = "checkpoints/last/model.safetensors"
        self.heed(f"train {config} --run run --threads 1", keep=False)
        self.keep_run("1 thread", "run")
        for first, then, stop in ((2, 3, 23), (3, 2, 41)):
            run = f"run{first}"
            self.heed(f"train {config} --run {run} --threads {first} --stop-at {stop}", keep=False)
            self.heed(f"resume {run} --threads {then}", keep=False)
            self.keep_run(f"{first} then {then} threads", run)
        if self.config["train"]["max_steps"]:
            # A rate that has fallen to 0 would be refused, and wsd's fall would follow the new end.
            schedule = self.config["optimizer"].get("schedule", "cosine")
            stays = " --set optimizer.min_learning_rate=1e-4" if schedule in ("linear", "cosine", "wsd") else ""
            if schedule == "wsd":
                stays += f" --set optimizer.decay_steps={self.config['train']['max_steps']}"
            self.heed(f"resume run2 --more 6 --threads 1{stays}", keep=False)
            self.keep_tensors("6 more steps", self.folder / "run2" / last)
        self.heed(f"train {config} --run again --init-from run --stop-at 3", keep=False)
        self.keep_tensors("init-from, 3 steps", self.folder / "again" / last)
        if self.config["optimizer"].get("schedule") == "wsd":
            self.heed("resume run --branch branch --checkpoint step-40 --max-steps 60", keep=False)
            self.keep_tensors("branch", self.folder / "branch" / last)

    def use(self):
        for line in filter(None, COMMANDS[objective_of(self.config)].splitlines()):
            try:
                self.heed(line.format(**names_of(self.config)))
            except RuntimeError as error:
                self.wrong.append(f"{self.name}: {error}")
        self.heed("average run --last 2 --json", keep=False)
        average, = (self.folder / "run/checkpoints").glob("average-*")
        self.keep_tensors("average", average / "model.safetensors")
        self.heed(f"evaluate run --checkpoint {average.name} --json")

    def run(self):
        """Fills the items; `wrong` says what failed."""
        try:
            self.train()
            self.use()
        except (RuntimeError, OSError, ValueError, subprocess.TimeoutExpired) as error:
            self.wrong.append(f"{self.name}: {error}")


def record(program, folder, names, jobs):
    """Writes FOLDER/record.json and tensors; returns what went wrong."""
    begin, program = time.monotonic(), pathlib.Path(program).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory(prefix="heed-behaviour-") as temporary:
        root = pathlib.Path(temporary).resolve()
        write_inputs(root / "inputs")
        for name in names:
            shutil.rmtree(folder / name, ignore_errors=True)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            recorders = [Recorder(program, root, folder, name) for name in names]
            list(pool.map(Recorder.run, recorders))
    items = {one.name: one.items for one in recorders}
    (folder / "record.json").write_text(json.dumps({"heed": version, "cpu": cpu(), "items": items}, indent=1,
                                                   ensure_ascii=False))
    wrong = [line for one in recorders for line in one.wrong]
    for name, of_config in items.items():
        for item, value in of_config.items():
            run, _, file = item.partition(": ")
            other = of_config.get(f"1 thread: {file}")
            if re.match(r"\d then", run) and (found := difference(other, value, folder, folder)):
                wrong.append(f"{name}: {run} do not end in the same bytes as 1 thread: {file}: {found}")
    count = sum(map(len, items.values()))
    print(f"{program}: {count} items of {len(names)} configs recorded in {time.monotonic() - begin:.0f} s",
          file=sys.stderr)
    return wrong


def leaves_of_json(value, place=""):
    """{place: number, text, true, false or null} of a JSON value."""
    if isinstance(value, dict):
        found = [leaves_of_json(v, f"{place}.{key}") for key, v in value.items() if key not in IGNORED]
    elif isinstance(value, list):
        found = [leaves_of_json(v, f"{place}[{i}]") for i, v in enumerate(value)]
        found.append({f"{place}.length": len(value)})
    else:
        return {place: value}
    return {key: leaf for part in found for key, leaf in part.items()}


def leaves_of_text(text):
    """Its words by line and place, with numbers parsed."""
    leaves = {}
    for i, line in enumerate(text.split("\n"), 1):
        leaves[f"line {i}"] = re.sub(r"\S+", "", line)  # its spaces
        for j, word in enumerate(line.split(), 1):
            leaves[f"line {i} word {j}"] = float(word) if re.fullmatch(r"-?\d+\.\d+(e[-+]?\d+)?", word) else word
    return leaves


def value_difference(old, new):
    """How two {place: value} differ, in words, or None."""
    missing, more = old.keys() - new.keys(), new.keys() - old.keys()
    changed = [place for place in old if place in new and
               (old[place] != new[place] or type(old[place]) is not type(new[place]))]
    if not missing and not more and not changed:
        return None
    words = [f"{len(values)} {what} ({next(iter(sorted(values)))})" for values, what in
             ((missing, "values gone"), (more, "values added")) if values]
    if changed:
        words.append(f"{len(changed)} of {len(old)} values differ")
        numbers = [place for place in changed
                   if all(isinstance(side[place], (int, float)) for side in (old, new))]
        if numbers:
            sizes = {place: abs(old[place] - new[place]) / max(abs(old[place]), abs(new[place]), 1e-300)
                     for place in numbers}
            worst = max(sizes, key=sizes.get)
            words.append(f"largest relative difference {sizes[worst]:.2g} at {worst}: {old[worst]}, now {new[worst]}")
        if len(numbers) < len(changed):
            place = next(place for place in changed if place not in numbers)
            words.append(f"first text at {place}: {str(old[place])[:60]!r}, now {str(new[place])[:60]!r}")
    return "; ".join(words)


def tensors_of(path):
    """{name: (type, shape, bytes)} of a safetensors file."""
    data = path.read_bytes()
    return {name: (kind, shape, data[begin:end]) for name, kind, shape, begin, end in tensors(data)}


def tensor_difference(old, new):
    """How two results of tensors_of() differ, in words, or None."""
    if old.keys() != new.keys():
        return "other tensors: " + ", ".join(sorted(old.keys() ^ new.keys())[:4])
    names = [name for name in old if old[name] != new[name]]
    if not names:
        return None
    other_kind = [name for name in names if old[name][:2] != new[name][:2] or old[name][0] != "F32"]
    if other_kind:
        return f"shape or type differs, or no floats, in {len(other_kind)} tensors, such as {other_kind[0]}"
    count, sizes = 0, {}
    for name in names:
        a, b = (array.array("f", side[name][2]) for side in (old, new))
        count += sum(x != y for x, y in zip(a, b))
        sizes[name] = max(abs(x - y) for x, y in zip(a, b)) / (max(map(abs, a)) or 1)
    # Without rotary positions a key bias has no gradient: its values are amplified rounding errors.
    worst = max(names, key=lambda name: (not name.endswith("k_proj.bias"), sizes[name]))
    total = sum(len(data) // 4 for _, _, data in old.values())
    return (f"{len(names)} of {len(old)} tensors and {count} of {total} values differ; largest relative difference "
            f"{sizes[worst]:.2g} in {worst}")


def difference(old, new, old_folder, new_folder):
    """How an item differs, in words, or None."""
    if old is None or new is None:
        return "only in the new record" if old is None else "missing in the new record"
    if old["kind"] == "tensors":
        return tensor_difference(tensors_of(old_folder / old["file"]), tensors_of(new_folder / new["file"]))
    if old["kind"] == "json":
        return value_difference(*(leaves_of_json([json.loads(line) for line in side["out"].splitlines()])
                                  for side in (old, new)))
    return value_difference(leaves_of_text(old["out"]), leaves_of_text(new["out"]))


def compare(old_folder, new_folder, only):
    """Prints what differs; returns whether anything does."""
    old, new = (json.loads((folder / "record.json").read_text()) for folder in (old_folder, new_folder))
    if old["cpu"] != new["cpu"]:
        print(f"recorded on different CPUs: {old['cpu']}; {new['cpu']}", file=sys.stderr)
    equal = count = 0
    for name in only or {**old["items"], **new["items"]}:
        ours, theirs = old["items"].get(name, {}), new["items"].get(name, {})
        for item in {**ours, **theirs}:
            found = difference(ours.get(item), theirs.get(item), old_folder, new_folder)
            count += 1
            equal += found is None
            if found:
                print(f"{name}: {item}: {found}")
    print(f"{equal} of {count} items equal")
    return equal < count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("old", metavar="HEED|OLD", type=pathlib.Path)
    parser.add_argument("new", metavar="FOLDER|NEW", type=pathlib.Path)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if unknown := set(options.only) - CONFIGS.keys():
        parser.error("no such config: " + ", ".join(sorted(unknown)))
    names = options.only or list(CONFIGS)
    if options.action == "record":
        wrong = record(options.old, options.new, names, options.jobs)
        print(*wrong, sep="\n", end="\n" if wrong else "")
        return 6 if wrong else 0
    with tempfile.TemporaryDirectory(prefix="heed-behaviour-") as temporary:
        folders, wrong = [], []
        for side, path in (("old", options.old), ("new", options.new)):
            if path.is_file():
                folders.append(pathlib.Path(temporary, side))
                wrong += record(path, folders[-1], names, options.jobs)
            else:
                folders.append(path)
        print(*wrong, sep="\n", end="\n" if wrong else "")
        return 6 if compare(*folders, options.only) or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
