#!/usr/bin/env python3
"""Six training workloads for measuring speed: their shapes, with data and heed configs made from them.

    scripts/dev/make_workloads.py DIR      writes DIR/{A..E,M}.json and the texts they name

A, B and C translate random words. All their sequences have the same length (with `</s>`), so a trainer without padding
gains nothing. D and E continue random characters. M is B with realistic sentence lengths. Needs only Python's standard
library and writes the same bytes every time.
"""
import argparse
import dataclasses
import json
import math
import pathlib
import random
import string

SPECIAL = 3  # <unk>, <s>, </s>


@dataclasses.dataclass(frozen=True)
class Workload:
    vocab: int
    d_model: int
    n_heads: int
    d_ff: int
    encoder_layers: int
    decoder_layers: int
    source: int   # tokens of a source sequence; 0 without an encoder, or if lengths vary
    target: int
    batch: int    # sequences in a step, on average if lengths vary

    @property
    def translates(self):
        return self.encoder_layers > 0

    @property
    def spread(self):
        return self.target == 0


WORKLOADS = {
    "A": Workload(96, 128, 4, 512, 2, 2, 64, 64, 32),
    "B": Workload(8000, 256, 4, 1024, 3, 3, 24, 24, 96),
    "C": Workload(8000, 512, 8, 2048, 6, 6, 32, 32, 32),
    "D": Workload(65, 128, 4, 512, 0, 4, 0, 64, 12),
    "E": Workload(65, 384, 6, 1536, 0, 6, 0, 256, 16),
    "M": Workload(8000, 256, 4, 1024, 3, 3, 0, 0, 96),
}
MEAN_PAIR = 28  # tokens of an average pair of M: both sides, with </s>


def sentence_lengths(w, pairs, rng):
    """Words per (source, target) line. Varying lengths are log-normal with median 12, from 3 to 40."""
    def within(x):
        return min(40, max(3, round(x)))

    for _ in range(pairs):
        if w.spread:
            n = within(rng.lognormvariate(math.log(12.2), 0.35))
            yield n, within(n * rng.uniform(0.8, 1.2))
        else:
            yield w.source - 1, w.target - 1


def word_stream(words, rng):
    """All words in shuffled rounds: none appears twice before each has appeared."""
    while True:
        yield from rng.sample(words, len(words))


def write_pairs(w, name, folder, rng):
    words = [f"w{i}" for i in range(w.vocab - SPECIAL)]
    shortest = 10 if w.spread else w.source - 1
    pairs = max(8 * w.batch, 1 + len(words) * 11 // (10 * shortest))  # all words appear before the held-out tail
    if w.spread:
        pairs = 4000
    source, target = word_stream(words, rng), word_stream(words, rng)
    lines = [(" ".join(next(source) for _ in range(n)), " ".join(next(target) for _ in range(m)))
             for n, m in sentence_lengths(w, pairs, rng)]
    for side, ending in enumerate(["src", "tgt"]):
        (folder / f"{name}.{ending}").write_text("".join(pair[side] + "\n" for pair in lines))


def write_text(w, name, folder, rng):
    letters = (string.ascii_letters + string.digits)[:w.vocab - SPECIAL - 1]  # and the newline
    (folder / f"{name}.txt").write_text("".join("".join(rng.choices(letters, k=99)) + "\n" for _ in range(4000)))


def config(w, name):
    model = {key: getattr(w, key) for key in ["d_model", "n_heads", "d_ff", "encoder_layers", "decoder_layers"]}
    model |= {"dropout": 0.1, "tie": "all"}
    if w.translates:
        data = {"source": f"{name}.src", "target": f"{name}.tgt"}
        tokenizer = {"type": "word", "vocab_size": w.vocab}
        objective = {"type": "seq2seq", "label_smoothing": 0.1}
        model |= {"norm": "post", "positions": "sinusoidal", "activation": "relu"}
    else:
        data = {"train": f"{name}.txt"}
        tokenizer = {"type": "char"}
        objective = {"type": "causal_lm", "target_length": w.target}
        model |= {"norm": "pre", "positions": "learned", "activation": "gelu", "init": "gpt2"}
    tokens = MEAN_PAIR if w.spread else w.source + w.target
    return {
        "seed": 1, "data": data | {"valid_fraction": 0.02}, "tokenizer": tokenizer, "model": model,
        "objective": objective,
        "optimizer": {"type": "adam", "learning_rate": 3e-4, "betas": [0.9, 0.98], "eps": 1e-9,
                      "clip_norm": 1.0, "schedule": "constant"},
        "train": {"batch_tokens": w.batch * tokens, "max_steps": 1000, "eval_every": 0, "save_every": 0,
                  "shards": 2},
    }


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, w in WORKLOADS.items():
        rng = random.Random(name)
        (write_pairs if w.translates else write_text)(w, name, folder, rng)
        (folder / f"{name}.json").write_text(json.dumps(config(w, name), indent=2) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    write(parser.parse_args().folder)
