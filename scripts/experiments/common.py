"""Shared by the experiments: training variants with heed, reading its output, printing tables.

Every experiment is a program that needs no arguments:

    scripts/experiments/NAME.py [--heed PROGRAM] [--seeds N] [--keep FOLDER]

It trains each variant with every seed, prints tables in Markdown and, computed from the numbers, sentences that say what
they show. A cell for several seeds is "mean (lowest to highest)". Runs go to a temporary folder. With --keep they go to
FOLDER, and a finished run there is reused if its config and the program's version are unchanged. Two also draw a picture,
with --picture FILE.
"""
import argparse
import array
import hashlib
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from gold_scores import best_head, with_interval  # noqa: E402, F401 (for the experiments, as cell and mean)
from heed_runs import DEFAULT_HEED, ROOT, Heed, cell, mean, tensors  # noqa: E402, F401

DATA = ROOT / "data"
SIDES = ("source", "target")
# Measures on held-out text take the last checkpoint: the best one was chosen by its loss on that same text.
LAST = ("--checkpoint", "last")
INITIAL = ("--checkpoint", "initial")


class Lab:
    def __init__(self, about, seeds, picture=None):
        parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--heed", default=DEFAULT_HEED, help="the program (default: build/heed)")
        parser.add_argument("--seeds", type=int, default=seeds, help=f"trainings of each variant (default: {seeds})")
        parser.add_argument("--keep", type=pathlib.Path, help="keep the runs in this folder and reuse finished ones")
        if picture:
            parser.add_argument("--picture", type=pathlib.Path, metavar="FILE", help=f"also draw the picture, {picture}")
        options = parser.parse_args()
        self.picture = options.picture if picture else None
        self.heed = Heed(options.heed)
        self.json = self.heed.json
        self.seeds = range(1, options.seeds + 1)
        self.temporary = None if options.keep else tempfile.TemporaryDirectory(prefix="heed-experiment-")
        self.folder = (options.keep or pathlib.Path(self.temporary.name)).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.started = time.monotonic()
        self.version = self.heed("--version")

    def train(self, name, config, seed):
        """The run folder for a config and a seed; trains it unless a finished one was kept."""
        run = self.folder / f"{name}-{seed}"
        done = self.folder / f"{name}-{seed}.done"
        text = json.dumps({"seed": seed, **config})
        if done.exists() and done.read_text() == self.version + text:
            return run
        done.unlink(missing_ok=True)
        path = self.folder / f"{name}-{seed}.json"
        path.write_text(text)
        print(f"training {name}, seed {seed}", file=sys.stderr)
        self.heed("train", path, "--run", run, "--force", "--quiet")
        done.write_text(self.version + text)
        return run

    def gold(self, run, *arguments):
        """What scripts/gold.py --json prints of the first kind of attention."""
        done = subprocess.run([ROOT / "scripts/gold.py", run, *map(str, arguments), "--json", "--heed", self.heed.program],
                              stdout=subprocess.PIPE)
        if done.returncode != 0:
            sys.exit(done.returncode)  # gold.py has said why
        return json.loads(done.stdout)["kinds"][0]

    def done(self):
        print(f"\n{time.monotonic() - self.started:.0f} seconds", file=sys.stderr)


def merged(config, changes):
    """The config with some nested keys changed, for example {"model": {"attention": ...}}."""
    out = dict(config)
    for key, value in changes.items():
        out[key] = merged(out.get(key, {}), value) if isinstance(value, dict) else value
    return out


def task_config(task, steps):
    """A small encoder-decoder on data/TASK.*, one layer on each side."""
    data = {f"{valid}{side}": str(DATA / f"{task}.{valid.rstrip('_') or 'train'}.{side}")
            for valid in ("", "valid_") for side in SIDES}
    return {
        "data": data, "tokenizer": {"type": "char" if task == "dates" else "word"},
        "model": {"d_model": 64, "n_heads": 2, "d_ff": 128, "encoder_layers": 1, "decoder_layers": 1,
                  "norm": "pre", "tie": "none", "dropout": 0},
        "objective": {"type": "seq2seq"},
        "optimizer": {"learning_rate": 1e-2, "schedule": "cosine", "warmup_steps": 30},
        "train": {"batch_tokens": 1500, "max_steps": steps, "log_every": 50, "eval_every": 100,
                  "save_every": 100, "keep_last": 1},
    }


def fables_config(objective, steps, **model):
    """A small word-level model of the fables: a decoder alone or an encoder alone."""
    layers, length = {"causal_lm": ({"encoder_layers": 0, "decoder_layers": 2}, "target_length"),
                      "masked_lm": ({"encoder_layers": 2, "decoder_layers": 0}, "source_length")}[objective]
    return {
        "data": {"train": str(DATA / "fables.txt"), "valid_fraction": 0.1},
        "tokenizer": {"type": "word"},
        "model": {"d_model": 64, "n_heads": 4, "d_ff": 256, **layers, "positions": "rotary", "dropout": 0.1, **model},
        "objective": {"type": objective, length: 96},
        "optimizer": {"learning_rate": 3e-3, "schedule": "cosine", "warmup_steps": 50},
        "train": {"batch_tokens": 768, "max_steps": steps, "log_every": 100, "eval_every": 250,
                  "save_every": 250, "keep_last": 1},
    }


def test_files(task):
    return ["--file", DATA / f"{task}.test.source", "--target-file", DATA / f"{task}.test.target"]


def weights(run, which="best"):
    """The tensors of a checkpoint, by name, as flat arrays."""
    raw = (run / "checkpoints" / which / "model.safetensors").read_bytes()
    return {name: array.array("f", raw[begin:end]) for name, _, _, begin, end in tensors(raw)}


def without_heads(run, heads, copy):
    """A copy of a run's last checkpoint in which some heads of the decoder's self-attention, (layer, head), add 0 to the
    rows: their columns of W_O are 0. Two checksums in state.json change with them (docs/formats.md)."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(run / "checkpoints" / "last", copy)
    file, state = copy / "model.safetensors", copy / "state.json"
    raw = bytearray(file.read_bytes())
    before = hashlib.sha256(raw).hexdigest()
    n_heads = json.loads((copy / "config.json").read_text())["model"]["n_heads"]
    places = {name: (shape, begin) for name, _, shape, begin, _ in tensors(raw)}
    for layer, head in heads:
        (rows, columns), begin = places[f"decoder.layers.{layer}.self_attn.out_proj.weight"]
        width = 4 * columns // n_heads
        for row in range(rows):
            at = begin + 4 * row * columns + head * width
            raw[at:at + width] = bytes(width)
    file.write_bytes(raw)
    text = state.read_text().replace(before, hashlib.sha256(raw).hexdigest())
    old = json.loads(text)["checksum"]
    state.write_text(text.replace(old, hashlib.sha256(text.replace(old, "").encode()).hexdigest()))
    return copy


def head_of(scores, layer, head):
    """One head of what Lab.gold gives."""
    return next(h for h in scores["heads"] if (h["layer"], h["head"]) == (layer, head))


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def shows(*sentences):
    """Prints sentences about the table above."""
    print("\n" + textwrap.fill(" ".join(sentences), 118))


def table(head, rows):
    rows = [head, *rows]
    widths = [max(len(str(r[i])) for r in rows) for i in range(len(head))]
    for n, row in enumerate(rows):
        print("| " + " | ".join(str(x).ljust(w) for x, w in zip(row, widths)) + " |")
        if n == 0:
            print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
