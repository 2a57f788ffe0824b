#!/usr/bin/env python3
"""Does a model learn the rule, or the lines it has read?

A small language of commands, written by scripts/make_splits.py: "wave east twice then ring west" means EAST WAVE EAST WAVE
WEST RING. A model that has the rule can answer commands that were put together in another way than those it was trained on:
    simple      any of the commands: what the other two are measured against
    length-10   commands that mean more than 10 actions; it was trained on up to 10
    knock       "knock" inside of commands; it was trained on commands without it, and on "knock" by itself
(SCAN is the public task of this kind: Lake and Baroni 2018.) Trained with positions that are relative (rotary), added
(sinusoidal), or none in the decoder. An answer counts only if all of its actions are right. The last checkpoint is measured;
and of rotary also the one with the lowest loss on lines like those it was trained on, which is what early stopping would
have kept (Csordas, Irie and Schmidhuber 2021 warn of it).
"""
import subprocess
import sys

from common import LAST, ROOT, Lab, cell, mean, shows, table

SPLITS = {"simple": "simple", "length-10": "length-10", "knock": "jump"}
POSITIONS = {
    "rotary": {"positions": "rotary"},
    "sinusoidal": {"positions": "sinusoidal"},
    "none in the decoder": {"positions": "rotary", "attention": {"decoder_self": {"positions": False}}},
}
CONFIG = {
    "tokenizer": {"type": "word", "target": {"type": "word"}},
    "model": {"d_model": 64, "n_heads": 4, "d_ff": 128, "encoder_layers": 2, "decoder_layers": 2, "tie": "none",
              "init": "gpt2", "dropout": 0.1},
    "objective": {"type": "seq2seq"},
    "optimizer": {"type": "muon", "learning_rate": 6e-3, "min_learning_rate": 3e-4, "betas": [0.9, 0.95],
                  "schedule": "cosine", "warmup_steps": 50, "weight_decay": 0.05},
    "train": {"batch_tokens": 2048, "max_steps": 600, "eval_every": 50, "save_every": 50},
}


def main():
    lab = Lab(__doc__, seeds=3)
    tables = {}
    for split, rule in SPLITS.items():
        tables[split] = lab.folder / split
        subprocess.run([sys.executable, ROOT / "scripts/make_splits.py", "own", rule, "--out", tables[split]], check=True,
                       stdout=subprocess.DEVNULL)

    def exact(run, split, *checkpoint):
        return lab.json("evaluate", run, *checkpoint, "--file", f"{tables[split]}.test.tsv", "--bleu", "--beam-size", 1,
                        "--max-length", 20)["exact"]

    rows, means = [], {}
    for name, positions in POSITIONS.items():
        last, best = {split: [] for split in SPLITS}, {split: [] for split in SPLITS}
        for split in SPLITS:
            data = {"pairs": f"{tables[split]}.train.tsv", "valid_pairs": f"{tables[split]}.valid.tsv"}
            for seed in lab.seeds:
                run = lab.train(f"{split}-{name.replace(' ', '-')}", {**CONFIG, "data": data, "model": {**CONFIG["model"], **positions}}, seed)
                last[split].append(exact(run, split, *LAST))
                if name == "rotary":
                    best[split].append(exact(run, split))
        means[name] = {split: mean(values) for split, values in last.items()}
        rows.append([name, *(cell(last[split], 1) for split in SPLITS)])
        if name == "rotary":
            rows.append(["rotary, lowest held-out loss", *(cell(best[split], 1) for split in SPLITS)])
    table(["positions", *SPLITS], rows)
    lab.done()


if __name__ == "__main__":
    main()
