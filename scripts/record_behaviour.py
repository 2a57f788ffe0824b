#!/usr/bin/env python3
"""Records what heed does, and later says what it does differently: that a refactoring changed nothing can be shown.

    scripts/record_behaviour.py record [--heed build/heed] FILE.json    runs everything, writes FILE.json, FILE.json.d/
    scripts/record_behaviour.py check  [--heed build/heed] FILE.json    runs everything, lists what differs; then exit 1

  --only NAME[,NAME]    only these configs (see CONFIGS below; cli: what needs no run)
  --ignore KIND[,KIND]  check: leave out items of these kinds (model, training, log, translate, ...)
  --jobs N              so many configs at a time (default: 2)

Every config below is trained for about 60 steps in a temporary folder: straight through with two threads, and once
more, stopped at step 23 after one thread and resumed with three, which must end in the same bytes. Then every command
that takes such a run is run, with fixed seeds. An item is what one command printed, with its exit code, or a file.
Its SHA-256 decides; times, speeds and the temporary folder's name are taken out before. `check` prints a line for
every item that differs, "CONFIG KIND ITEM: what". If it is decimal numbers alone, that is the largest relative and the
largest absolute difference, and whether all numbers still agree to 4 digits (rounding can part close neighbours, too).
Of tensors it is the length of the difference as a share of theirs, and the largest difference as a share of its
tensor's largest value; biases of keys without rotary positions have no gradient and hold noise. Texts are kept up to
20 kB, tensors in FILE.json.d/. Record and check on one CPU type with one OpenBLAS: the last digits depend on them.
Python's standard library only.
"""
import argparse
import array
import concurrent.futures
import hashlib
import json
import math
import pathlib
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import check_run

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = 20_000  # characters of a text
# A word with a colon names the section of the keys that follow it.
COMMON = "train: max_steps=60 log_every=10 eval_every=20 save_every=20"
CONFIGS = {
    "prefix-char": """data: train=../texts/fables.txt tokenizer: type=char model: d_model=32 n_heads=4 d_ff=96
        encoder_layers=1 decoder_layers=2 attention_dropout=0.25 objective: source_length=24 target_length=40
        optimizer: warmup_steps=10 learning_rate=0.004
        train: batch_tokens=1500 micro_batch_tokens=130 ema_decay=0.95""",
    "prefix-bpe": """data: train=["../texts/words.txt","../texts/more.txt"] lowercase=true tokenizer: type=bpe
        vocab_size=480 sample_bytes=20000 model: d_model=40 n_heads=4 d_ff=72 encoder_layers=2 decoder_layers=1
        positions=learned norm=post activation=relu dropout=0 tie=output objective: source_length=30 target_length=21
        label_smoothing=0.1 optimizer: type=adam schedule=linear min_learning_rate=0.0001 warmup_steps=8
        train: batch_tokens=900 shards=3""",
    "prefix-unigram": """data: train=../texts/words.txt valid=["../texts/valid.txt","../texts/more.txt"]
        tokenizer: type=unigram vocab_size=500 model: d_model=24 n_heads=3 d_ff=50 encoder_layers=1 decoder_layers=1
        positions=rotary activation=silu tie=none init=gpt2 model.attention.encoder_self: positions=false
        model.attention.cross: uniform=true objective: source_length=17 target_length=33 optimizer: type=sgd
        learning_rate=0.1 weight_decay=0.01 schedule=constant warmup_steps=5 clip_norm=0
        train: batch_tokens=800 shards=5""",
    "prefix-epochs": """data: train=../texts/valid.txt tokenizer: type=byte model: d_model=16 n_heads=2 d_ff=64
        encoder_layers=1 decoder_layers=1 positions=none objective: source_length=40 target_length=20
        optimizer: schedule=noam learning_rate=0.1 warmup_steps=20 train: batch_tokens=300 shards=1 max_steps=0
        max_epochs=3 eval_every="1 epoch" save_every="1 epoch" keep_last=0 patience=2""",
    "causal-char": """data: train=../texts/fables.txt tokenizer: type=char min_frequency=3 model: d_model=48 n_heads=3
        d_ff=192 encoder_layers=0 decoder_layers=2 positions=rotary init=gpt2 dropout=0.2 attention_dropout=0
        objective: type=causal_lm target_length=48 optimizer: schedule=inverse_sqrt warmup_steps=15 learning_rate=0.003
        train: batch_tokens=1536 shards=8""",
    "causal-word": """seed=99 data: train=../texts/words.txt valid_fraction=0.2 tokenizer: type=word
        min_frequency=2 vocab_size=300 model: d_model=36 n_heads=2 d_ff=80 encoder_layers=0 decoder_layers=2
        positions=learned norm=post activation=relu tie=none max_length=50 model.attention.decoder_self: query=identity
        objective: type=causal_lm target_length=25 label_smoothing=0.05 optimizer: betas=[0.8,0.95] warmup_steps=10
        train: batch_tokens=700 micro_batch_tokens=60""",
    "causal-byte": """data: train=["../texts/more.txt","../texts/valid.txt"] valid=../texts/valid.txt lowercase=true
        tokenizer: type=byte model: d_model=20 n_heads=2 d_ff=40 encoder_layers=0 decoder_layers=1 activation=silu
        model.attention.decoder_self: scaled=false key=random value=identity objective: type=causal_lm target_length=64
        optimizer: warmup_steps=0 decay_steps=45 train: batch_tokens=640 ema_decay=0.9 shards=3""",
    "masked-word": """data: train=../texts/fables.txt lowercase=true tokenizer: type=word model: d_model=40 n_heads=4
        d_ff=120 encoder_layers=2 decoder_layers=0 positions=rotary objective: type=masked_lm source_length=32
        mask_fraction=0.2 optimizer: warmup_steps=10 learning_rate=0.005 weight_decay=0.1
        train: batch_tokens=1024 micro_batch_tokens=100""",
    "masked-unigram": """data: train=../texts/words.txt tokenizer: type=unigram vocab_size=520 model: d_model=32
        n_heads=2 d_ff=64 encoder_layers=2 decoder_layers=0 positions=learned norm=post activation=relu tie=none
        model.attention.encoder_self: uniform=true objective: type=masked_lm source_length=21
        optimizer: schedule=linear warmup_steps=6 train: batch_tokens=600 shards=5 ema_decay=0.8""",
    "seq2seq-copy": """data: source=../data/copy.train.source target=../data/copy.train.target
        valid_source=../texts/copy.source valid_target=../texts/copy.target tokenizer: type=word
        model: d_model=48 n_heads=4 d_ff=128 encoder_layers=1 decoder_layers=1 dropout=0 objective: type=seq2seq
        optimizer: learning_rate=0.01 warmup_steps=10 train: batch_tokens=1500 select_by=bleu""",
    "seq2seq-dates": """data: source=../data/dates.train.source target=../data/dates.train.target max_length=20
        valid_source=../texts/dates.source valid_target=../texts/dates.target tokenizer: type=char shared=false
        model: d_model=32 n_heads=2 d_ff=64 encoder_layers=2 decoder_layers=2 norm=post tie=output
        objective: type=seq2seq label_smoothing=0.1 optimizer: type=adam eps=1e-6 schedule=noam warmup_steps=20
        learning_rate=0.2 train: batch_tokens=1300 micro_batch_tokens=90""",
    "seq2seq-pairs": """data: pairs=../texts/pairs.tsv valid_pairs=../texts/valid.tsv lowercase=true max_length=40
        tokenizer: type=bpe vocab_size=450 model: d_model=32 n_heads=4 d_ff=64 encoder_layers=1 decoder_layers=1
        positions=learned model.attention.cross: key=random scaled=false objective: type=seq2seq optimizer:
        warmup_steps=10 schedule=inverse_sqrt learning_rate=0.005 train: batch_tokens=1000 shards=8""",
    "seq2seq-reverse": """data: source=../data/reverse.train.source target=../data/reverse.train.target
        valid_fraction=0.02 tokenizer: type=word shared=false model: d_model=24 n_heads=2 d_ff=96 encoder_layers=1
        decoder_layers=1 positions=rotary activation=silu tie=none attention_dropout=0 model.attention.cross:
        query=identity model.attention.encoder_self: value=identity model.attention.decoder_self: positions=false
        objective: type=seq2seq optimizer: learning_rate=0.01 warmup_steps=10 train: batch_tokens=1200 ema_decay=0.9""",
    "seq2seq-unigram": """data: pairs=../texts/pairs.tsv valid_fraction=0.1 tokenizer: type=unigram vocab_size=330
        shared=false model: d_model=28 n_heads=2 d_ff=60 encoder_layers=1 decoder_layers=2 positions=none norm=post
        init=gpt2 tie=none objective: type=seq2seq optimizer: schedule=constant warmup_steps=10
        train: batch_tokens=800 shards=1 micro_batch_tokens=200""",
    "span-word": """data: train=../texts/fables.txt tokenizer: type=word model: d_model=40 n_heads=4 d_ff=100
        encoder_layers=2 decoder_layers=1 positions=learned objective: type=span_corruption source_length=40
        mask_fraction=0.3 mean_span=2.5 optimizer: warmup_steps=10 learning_rate=0.005
        train: batch_tokens=1000 micro_batch_tokens=120""",
}
# Commands stand between bars or on lines of their own; {} are names of files and words that fit the config.
ALWAYS = """config config.json | gradcheck config.json --json | evaluate run --json --threads 2
    evaluate run --checkpoint last --threads 3 | inspect run | inspect run --json | report run
    tokenize run < {source} | tokenize run --ids < {source} | tokenize run --json < ../texts/odd.txt
    neighbors run {first} {last} --top-k 4 | neighbors run {first} - {last} + {first} --json
    neighbors run {word} --context "{text}" --json | neighbors run --export table.vec"""
TEXT = """evaluate run --data ../texts/valid.txt --data ../texts/odd.txt --json | score run --target ../texts/odd.txt
    score run --target - --tokens --threads 2 < {source} | score run --target {many} --json"""
WRITES = """sample run --prompt "{text}" --temperature 0 --max-tokens 60
    sample run -n 5 --seed 7 --json --threads 3 < {line}
    sample run --prompt "{text}" -n 140 --seed 3 --top-k 5 --max-tokens 12
    sample run --prompt-file {line} -n 3 --top-p 0.8 --temperature 1.3 --json
    sample run --prompt "" -n 3 --min-p 0.05 --repetition-penalty 1.3 --stop {first} --stop e --max-tokens 90
    attend run --source "{text}" --json --contributions | attend run --source "{text}" --layer 0 --head 1
    attend run --source "{text}" --target "{reply}" --html page.html"""
COMMANDS = {
    "prefix_lm": WRITES + " | score run --source {source} --target {source} --json | " + TEXT,
    "causal_lm": WRITES + " | evaluate run --stride 7 --json | " + TEXT,
    "masked_lm": """fill run "{text} [MASK] {word} [MASK]" --json | fill run "[MASK] {word}" --top-k 3
        tokenize run < ../texts/mask.txt | attend run --source "{text} [MASK]" --json | """ + TEXT,
    "span_corruption": """fill run "{text} [MASK] {word} [MASK]" --json | fill run "[MASK] {word}" --top-k 3
        attend run --source "{text} [MASK]" --json | sample run | """ + TEXT,
    "seq2seq": WRITES + """ | evaluate run --bleu --json --beam-size 2 | tokenize run --source --ids < {source}
        evaluate run --source {source} --target {target} --bleu --tokenize none --lowercase --length-penalty 0
        translate run --input {many} --beam-size 1 --threads 3 | translate run --beam-size 4 --threads 2 < {source}
        translate run --input {source} --beam-size 4 --n-best 3 --length-penalty 0.6 --max-length 9
        translate run --input {source} --beam-size 3 --n-best 2 --json | neighbors run {word} --side source
        score run --source {source} --target {target} --tokens | score run --source {source} --target {target} --json
        score run --source {many} --target {many}""",
}
GOLD = {
    "prefix-char": " | attend run --source ../data/fables.txt --gold ../data/fables.gold.jsonl --limit 40",
    "causal-char": " | attend run --source ../data/fables.txt --gold ../data/fables.gold.jsonl --limit 40 --json",
    "seq2seq-dates": " | attend run --source ../data/dates.test.source --target ../data/dates.test.target "
                     "--gold ../data/dates.test.gold.jsonl --limit 30 --json",
}
CLI = """config --schema | config --docs | config bad.json | config missing.json | config good.json --json | --help
    config good.json --set seed=-1 | config good.json --set model.norm=middle | fill | nothing | evaluate missing
    train good.json --set model.n_heads=5 --run r | train good.json --set data.train=missing.txt --run r
    """ + " --help | ".join("train resume evaluate sample translate score fill inspect tokenize gradcheck average "
                            "bench attend neighbors report config".split()) + " --help"

NUMBER = re.compile(r"(-?\b[0-9]+(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)\b)")
PASSING = [(re.compile(pattern), new) for pattern, new in (  # what depends on the clock, and what goes instead
    (r" \| \S+ tok/s( \| eta \S+)?", ""), (r"about \S+ on (\d+ thread)", r"on \1"), (r" after \d\w*(?=[;\n])", ""),
    (r"(?m)^\d{4}-\d\d-\d\dT[\d:]{8}[-+]\d{4}.*\n", ""), (r',\n  "(processor|version|started)": "[^"]*"', ""),
    (r'"(tokens_per_second|seconds)": ?(\[[^]]*\]|[^,}\n]+)', r'"\1":0'),
    # Digests of files that are items themselves; and what central differences happen to leave over.
    (r'("(?:checksum|[\w.]+\.(?:json|model|safetensors))": )"[0-9a-f]{64}"', r'\1"SHA-256"'),
    (r'"(worst_error|worst_entry|analytic|numeric)":[^,}]+', r'"\1":0'))]


def write_inputs(folder):
    """Made-up words in several scripts, with tabs, empty and odd lines; and the beginnings of files of data/."""
    draw = random.Random(11)
    letters = ["ba", "do", "ki", "lu", "me", "sch", "ä", "öß", "né", "st", "日", "語", "本", "ж", "и", "Q", "z"]
    words = ["".join(draw.choices(letters, range(17, 0, -1), k=draw.randint(1, 4))) for _ in range(300)]

    def line(low, high):
        return " ".join(draw.choices(words, [1 / (rank + 2) for rank in range(300)], k=draw.randint(low, high)))

    def text(lines):
        return "\n".join(draw.choice(["", "\t", "— "]) + line(0, 14) + draw.choice(".,!? ") for _ in range(lines))

    def tsv(lines):
        sources = [line(1, 9) if draw.random() < 0.95 else line(40, 60) for _ in range(lines)]
        return "".join(f"{source}\t{' '.join(source.split()[::-1]).upper()}!\n" for source in sources)

    files = {"words.txt": text(900), "more.txt": text(150) + "\n", "valid.txt": text(80), "pairs.tsv": tsv(900),
             "valid.tsv": tsv(25), "fables.txt": (ROOT / "data/fables.txt").read_text()[:60_000],
             "odd.txt": "Über\tdie Füchse, 日本語!\n\nThe  fox ran home.\n" + "long line " * 30 + "\n€ 🦊 \u0301\n",
             "mask.txt": "The [MASK] was[MASK].\n[MASK]\n", "words.source": " ".join(words[:4]) + "\n" + text(5),
             "fables.source": "The fox was hungry.\n\nOne day a crow sat in a tree. It had a piece of cheese.\n"}
    for name in ("copy", "dates", "reverse"):
        for side in ("source", "target"):
            files[f"{name}.{side}"] = "".join((ROOT / f"data/{name}.test.{side}").open().readlines()[:12])
    rows = [row.split("\t") for row in files["valid.tsv"].splitlines() if len(row.split()) < 20][:6]
    files |= {f"pairs.{side}": "".join(row[i] + "\n" for row in rows) for i, side in enumerate(("source", "target"))}
    for name in ("copy", "dates", "reverse", "pairs", "fables", "words"):
        files[name + ".line"] = files[name + ".source"].splitlines()[0]
        files[name + ".many"] = (files[name + ".source"] + "\n") * (600 // files[name + ".source"].count("\n"))
    folder.mkdir()
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


def sha(content):
    return hashlib.sha256(content if isinstance(content, bytes) else content.encode()).hexdigest()


class Recorder:
    """Runs heed in a folder of its own, and keeps in items what came of it."""

    def __init__(self, program, root, name):
        self.program, self.root, self.name, self.folder, self.items = program, root, name, root / name, {}
        self.folder.mkdir()

    def add(self, kind, item, content):
        digests = {"sha": sha(content)}
        if isinstance(content, str):
            content = content.replace(str(self.root), "TEMPORARY")
            for pattern, new in PASSING:
                content = pattern.sub(new, content)
            rounded = NUMBER.sub(lambda number: f"{float(number[0]):.4g}", content)
            digests = {"sha": sha(content), "rounded": sha(rounded), "text": content[:KEPT], "cut": len(content) > KEPT}
        self.items[f"{self.name} {kind} {item}"] = digests

    def add_file(self, kind, path, item=None):
        is_text = path.suffix in (".json", ".jsonl", ".log", ".vec", ".html")
        self.add(kind, item or path.name, path.read_text() if is_text else path.read_bytes())

    def heed(self, line, kind=None):
        """Runs a command and records its exit code, what it printed and any page or table; returns the output."""
        command, _, source = line.partition(" < ")
        done = subprocess.run([self.program, *shlex.split(command)], cwd=self.folder, capture_output=True, timeout=300,
                              input=(self.folder / source).read_bytes() if source else b"")
        out, errors = (stream.decode(errors="backslashreplace") for stream in (done.stdout, done.stderr))
        kind = kind or command.split()[0]
        self.add(kind, line, f"exit {done.returncode}\n{out}--- standard error\n{errors}")
        for path in (*self.folder.glob("*.html"), *self.folder.glob("*.vec")):
            self.add_file(kind, path)
            path.unlink()
        return out

    def train(self):
        (self.folder / "config.json").write_text(json.dumps(config_of(self.name)))
        run, resumed, last = self.folder / "run", self.folder / "resumed", "checkpoints/last"
        self.heed("train config.json --run run --threads 2 --json", "log")
        self.add("files", "run", "\n".join(sorted(
            f"{path.relative_to(run)}" + (f" -> {path.readlink()}" if path.is_symlink() else "")
            for path in run.rglob("*"))))
        for path in sorted((run / last).iterdir()):
            kind = path.name.split(".")[0]
            self.add_file(kind if kind in ("model", "training", "tokenizer") else "checkpoint", path)
        for name in ("metrics.jsonl", "film.jsonl", "train.log", "config.json", "origin.json", "ids.bin"):
            if (run / name).exists():
                self.add_file({"metrics.jsonl": "metrics", "train.log": "log"}.get(name, "files"), run / name)
        self.heed("train config.json --run resumed --threads 1 --stop-at 23", "log")
        self.heed("resume resumed --threads 3", "log")
        try:
            check_run.compare(resumed, run)
            self.add("resume", "same bytes", "yes")
        except (AssertionError, OSError) as error:
            self.add("resume", "same bytes", f"no: {error}")
        self.heed("resume resumed --more 6 --threads 2", "log")
        self.add_file("resume", resumed / last / "model.safetensors", "model after 6 more steps")
        self.heed("train config.json --run again --init-from run --stop-at 3 --quiet", "log")
        self.add_file("init-from", self.folder / "again" / last / "model.safetensors", "model after 3 steps")

    def use(self):
        objective = config_of(self.name)["objective"].get("type", "prefix_lm")
        base = next((b for b in ("fables", "copy", "dates", "reverse", "pairs") if b in CONFIGS[self.name]), "words")
        names = {end: f"../texts/{base}.{end}" for end in ("source", "target", "line", "many")}
        words = (self.folder / names["line"]).read_text().split()[:4]
        reply = " ".join(words[1:3])  # a decoder alone reads it after the text
        if objective == "seq2seq":
            reply = (self.folder / names["target"]).read_text().splitlines()[0]
        fill = {**names, "text": " ".join(words), "word": words[0], "first": reply.split()[0],
                "last": reply.split()[-1], "reply": reply if objective == "seq2seq" else " " + reply}
        for line in commands(ALWAYS + " | " + COMMANDS[objective] + GOLD.get(self.name, "")):
            self.heed(line.format(**fill))
        average = json.loads(self.heed("average run --last 2 --json"))["checkpoint"].rsplit("/", 1)[1]
        self.heed("evaluate run --json --checkpoint " + average, "average")

    def cli(self):
        (self.folder / "bad.json").write_text('{"data": {"train": "x"}, "model": {"d_modle": 3}}')
        (self.folder / "good.json").write_text(json.dumps(config_of("prefix-char")))
        for line in commands(CLI):
            self.heed(line, "help" if "--help" in line else "cli")

    def run(self):
        try:
            if self.name == "cli":
                self.cli()
            else:
                self.train()
                self.use()
        except (OSError, ValueError, LookupError, subprocess.TimeoutExpired) as error:  # nothing to go on with
            self.add("failed", "here", str(error))
        return self.items


def commands(text):
    return re.split(r"\s*\|\s*|\n\s*", text)


def tensors(path):
    data = path.read_bytes()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    return {(name, *t["shape"]): array.array("f", data[begin:][slice(*t["data_offsets"])])
            for name, t in header.items()}


def tensor_difference(old, new):
    old, new = tensors(old), tensors(new)
    if old.keys() != new.keys():
        return "other tensors: " + ", ".join(sorted({name for name, *_ in old.keys() ^ new.keys()})[:4])
    worst, name = max((max(abs(x - y) for x, y in zip(old[t], new[t])) / (max(map(abs, old[t])) or 1), t[0])
                      for t in old)
    length = math.sqrt(sum(x * x for t in old for x in old[t]))
    distance = math.sqrt(sum((x - y) ** 2 for t in old for x, y in zip(old[t], new[t])))
    return f"moved by {distance / length:.2g} of its length; largest relative difference {worst:.2g} in {name}"


def text_difference(old, new):
    one, two = NUMBER.split(old["text"]), NUMBER.split(new["text"])  # texts at even places, numbers at odd ones
    if old["cut"] or new["cut"]:  # perhaps in their last number
        common = max(1, min(len(one), len(two)) - 2)
        one, two = one[:common], two[:common]
    if one[::2] == two[::2]:
        pairs = [(float(x), float(y)) for x, y in zip(one[1::2], two[1::2]) if x != y]
        if not pairs:
            return "differs beyond the first 20 kB"
        worst, x, y = max((abs(x - y) / (max(abs(x), abs(y)) or 1), x, y) for x, y in pairs)
        return (f"largest relative difference {worst:.2g} ({x:.8g}, now {y:.8g}), largest difference " +
                f"{max(abs(x - y) for x, y in pairs):.2g}, {len(pairs)} of {len(one) // 2} numbers" +
                (" in the first 20 kB" if old["cut"] else "") +
                (", all agree to 4 digits" if old["rounded"] == new["rounded"] else ""))
    sides = ((side["text"] + "\n(end)").splitlines() for side in (old, new))
    number, x, y = next((i, x, y) for i, (x, y) in enumerate(zip(*sides), 1) if x != y)
    begin = max(0, next((i for i, (a, b) in enumerate(zip(x, y)) if a != b), min(len(x), len(y))) - 30)
    return f"line {number}: {x[begin:begin + 100]!r}, now {y[begin:begin + 100]!r}"


def difference(item, old, new, kept, root):
    """What is to be said about an item, or None."""
    if old is None or new is None:
        return "not in the recording" if old is None else "missing now"
    if old["sha"] == new["sha"]:
        return None
    config, _, name = item.split(" ", 2)
    if name.endswith(".safetensors"):
        return tensor_difference(kept / config / name, root / config / "run/checkpoints/last" / name)
    return text_difference(old, new) if "text" in old else "other bytes"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("record", "check"))
    parser.add_argument("file", type=pathlib.Path, metavar="FILE.json")
    parser.add_argument("--heed", type=pathlib.Path, default=ROOT / "build/heed")
    parser.add_argument("--only", default=",".join([*CONFIGS, "cli"]))
    parser.add_argument("--ignore", default="")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    names, ignored = options.only.split(","), options.ignore.split(",")
    if unknown := set(names) - {*CONFIGS, "cli"}:
        parser.error("no such config: " + ", ".join(sorted(unknown)))
    begin, kept = time.monotonic(), pathlib.Path(f"{options.file}.d")
    with tempfile.TemporaryDirectory(prefix="heed-behaviour-") as temporary:
        root = pathlib.Path(temporary).resolve()
        write_inputs(root / "texts")
        (root / "data").symlink_to(ROOT / "data")
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            recorders = [Recorder(options.heed.resolve(), root, name) for name in names]
            items = {key: item for made in pool.map(Recorder.run, recorders) for key, item in made.items()}
        seconds = time.monotonic() - begin
        if options.action == "record":
            options.file.write_text(json.dumps({"items": items}, indent=1, ensure_ascii=False))
            for path in root.glob("*/run/checkpoints/last/*.safetensors"):
                place = kept / path.relative_to(root).parts[0] / path.name
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place)
            print(f"{len(items)} items of {len(names)} configs recorded in {seconds:.0f} s")
            wrong = [f"{key}: {item['text']}" for key, item in items.items() if key.split()[1] == "failed" or
                     key.endswith("same bytes") and item["text"] != "yes"]
            sys.exit("\n".join(wrong) or 0)
        recorded = json.loads(options.file.read_text())["items"]
        compared = [key for key in {**recorded, **items} if key.split()[0] in names and key.split()[1] not in ignored]
        found = [(key, difference(key, recorded.get(key), items.get(key), kept, root)) for key in compared]
    different = [f"{key}: {what}" for key, what in found if what]
    print(*different, f"{len(found) - len(different)} of {len(found)} items equal ({seconds:.0f} s)", sep="\n")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
