"""One table of same bytes: however a config is trained, it ends in the same checkpoint, curves and film as in one go on
one thread.

Each config is trained once so. Each way that its row names is a list of commands, which trains it again: on threads, in parts,
on ranks, to a later end, as a branch, with other kernels. C is the config, R the run; its folder may move on the way."""
import concurrent.futures
import hashlib
import json
import os
import shutil
import subprocess
import unittest

from runs import HEED, MPIRUN, RANKS_ENV, SMALL, RunsTest

OTHER_KERNELS = {"OPENBLAS_CORETYPE": "Nehalem"}  # every processor runs them, and they round differently
ODD = {"train__eval_every": 4, "train__save_every": 6, "train__patience": 50, "train__max_steps": 17}
WSD = {"optimizer__schedule": "wsd", "optimizer__min_learning_rate": 1e-4}
STEM = {"train__eval_every": 4, "train__save_every": 6, "train__log_every": 3, "train__keep_last": 2}
PORTABLE = {"family": "causal_lm", **SMALL, "train__arithmetic": "portable"}

WAYS = {
    "threads": ["train C R --threads 3"],
    "parts": ["train C R --threads 2 --stop-at 7", "resume R --threads 3"],
    "pieces": ["train C R --stop-at 1", *(f"resume R --stop-at {n}" for n in (2, 3, 7, 8, 12, 16)), "resume R"],
    "more": ["train C R --set train.max_steps=10", "resume R --more 10"],
    "minutes": ["train C R --set train.max_minutes=0.00001", "resume R --set train.max_minutes=0"],
    "moved": ["train C R --stop-at 4", "move R", "resume R"],
    "begun again": ["train C R --stop-at 4", "lose R", "resume R"],  # as if it had been killed before it saved
    "of its config": ["train C R --stop-at 1", "train R/config.json R2"],
    "kernels": ["OTHER train C R --threads 3"],
    "other kernels later": ["train C R --stop-at 5", "OTHER resume R"],
    "ranks 2": ["2 ranks train C R --threads 2"],
    "ranks 3": ["3 ranks train C R --threads 1"],
    "ranks 4": ["4 ranks train C R --threads 1"],
    "ranks come and go": ["3 ranks train C R --stop-at 7", "2 ranks resume R --stop-at 12", "resume R --stop-at 15", "4 ranks resume R"],
    "branch": ["train C R --set train.max_steps=100 --stop-at 12", "resume R --max-steps 20 --branch R2 --threads 2"],
    "branch in parts": ["train C R --set train.max_steps=100 --stop-at 12", "resume R --max-steps 20 --branch R2 --stop-at 17", "resume R2"],
    "branch of an earlier step": ["train C R --set train.max_steps=100 --stop-at 12",
                                  "resume R --max-steps 20 --branch R2 --checkpoint step-8"],
    "branch by ranks": ["train C R --set train.max_steps=100 --stop-at 12", "2 ranks resume R --max-steps 20 --branch R2"],
    "later end": ["train C R --set train.max_steps=15", "resume R --more 5", "is R-2"],
    "two later ends": ["train C R --set train.max_steps=10", "resume R --more 2 --threads 2", "resume R-2 --max-steps 20", "is R-3"],
    "earlier end": ["train C R --set train.max_steps=40 --stop-at 7", "resume R --max-steps 20"],
}
# {config: (changes to config(), ways)}; "first" comes first, because others begin with its weights.
TABLE = {
    "first": ({}, "threads, parts, more, minutes, moved, begun again, of its config, ranks 2, ranks 3"),
    "odd intervals": (ODD, "pieces"),
    "causal_lm": ({"family": "causal_lm"}, "parts, ranks come and go"),
    "masked_lm": ({"family": "masked_lm", "objective__mask_fraction": 0.3}, "parts, ranks 2, ranks 3"),
    "pairs": ({"family": "seq2seq"}, "parts, ranks 2"),
    "span_corruption": ({"family": "span_corruption", "objective__mask_fraction": 0.4, "objective__mean_span": 1.5},
                        "threads, parts, ranks 3"),
    "averaged": ({"train__ema_decay": 0.9, "objective__label_smoothing": 0.1}, "parts"),
    "sgd": ({"optimizer__type": "sgd"}, "parts"),
    "momentum": ({"optimizer__type": "sgd", "optimizer__momentum": 0.9, "train__eval_every": 0, **WSD}, "parts, branch"),
    "muon": ({"optimizer__type": "muon", "train__ema_decay": 0.9, **WSD},
             "threads, parts, ranks 2, ranks come and go, branch, later end"),
    "pieces": ({"tokenizer": {"type": "bpe", "vocab_size": 300}}, "parts"),
    "two vocabularies": ({"family": "seq2seq", "tokenizer": {"type": "word", "shared": False}, "model__tie": "none"}, "parts"),
    "blocks": ({"model__norm_type": "rms", "model__feed_forward": "gated", "model__activation": "relu2", "model__n_kv_heads": 1,
                "model__qk_norm": True, "model__bias": False, "model__zero_init": True, "model__positions": "rotary",
                "model__rope_base": 500, "model__activation_dropout": 0.3}, "parts"),
    "epochs": ({"train__eval_every": "1 epoch", "train__save_every": "2 epochs", "train__log_every": "1 epoch",
                "train__batch_tokens": 300}, "parts, ranks 3"),
    "begun with weights": ({"seed": 5, "train__keep_last": 0}, "parts, ranks 2"),
    "wsd": ({**STEM, **WSD}, "branch, branch in parts, branch of an earlier step, branch by ranks, later end, two later ends, earlier end"),
    "inverse_sqrt": ({**STEM, "optimizer__schedule": "inverse_sqrt"}, "branch"),
    "a rate that stays": ({**STEM, "optimizer__schedule": "constant"}, "branch"),
    "chosen by BLEU": ({"family": "seq2seq", "train__select_by": "bleu", "train__ema_decay": 0.9, **WSD}, "ranks 3, branch"),
    "a long sentence held out": ({"family": "seq2seq", "data": {"pairs": "long.tsv", "valid_fraction": 0.02}}, "ranks 2"),
    "less to validate than ranks": ({"family": "seq2seq", "data": {"pairs": "few.tsv", "valid_fraction": 0.03},
                                     "train__select_by": "bleu"}, "ranks 4"),
    "messages of several pieces": ({"model__d_model": 64, "model__d_ff": 80000, "train__batch_tokens": 32, "train__ema_decay": 0.9,
                                    "train__max_steps": 2, "train__eval_every": 0, "train__save_every": 0}, "ranks 2"),
    "portable": (PORTABLE, "threads, kernels, other kernels later"),
    "bfloat16": ({"family": "causal_lm", **SMALL, "train__precision": "bfloat16"}, "threads, parts"),
}


class SameBytes(RunsTest):
    def texts(self):
        super().texts()
        (self.folder / "long.tsv").write_text("a b\tb a\n" * 40 + "a " * 40 + "\tb\n")
        (self.folder / "few.tsv").write_text("a b\tb a\n" * 40)

    def do(self, how, config, way, run):
        """Runs one command of a way. The folder that the run has then."""
        names = {"C": f"{config}.json", "R": run, "R/config.json": f"{run}/config.json", **{f"R{n}": way + n for n in ("2", "-2", "-3")}}
        kind, *rest = [names.get(word, word) for word in how.split()]
        if kind == "is":
            return rest[0]
        if kind == "move":
            return shutil.move(self.folder / run, self.folder / (run + "-moved")).name
        if kind == "lose":
            self.lose_checkpoints(run)
            return run
        launcher, env = [], os.environ
        if kind.isdigit():
            launcher, env, rest = [MPIRUN, "-np", kind], RANKS_ENV, rest[1:]
        elif kind == "OTHER":
            env = {**os.environ, **OTHER_KERNELS}
        else:
            rest = [kind, *rest]
        if rest[0] == "train":
            run, rest[2:2] = rest[2], ["--run"]
            if config.startswith("begun_with"):
                rest += ["--init-from", "first"]
        if "--branch" in rest:
            run = rest[rest.index("--branch") + 1]
        done = subprocess.run([*launcher, HEED, *rest], capture_output=True, text=True, cwd=self.folder, env=env, timeout=300)
        if done.returncode:
            raise AssertionError(f"{how}: {done.stderr}")
        return run

    def bytes_of(self, run):
        """{what a run ends with: its SHA-256}."""
        last = self.checkpoints(run) / "last"
        found = {path.name: path.read_bytes() for path in last.iterdir()}
        curves = [{k: v for k, v in e.items() if k not in ("seconds", "tokens_per_second")}
                  for e in self.metrics(run) if e["kind"] != "event"]
        found |= {"last": os.readlink(last).encode(), "best": os.readlink(last.parent / "best").encode(),
                  "curves": json.dumps(curves).encode(), "film": (self.folder / run / "film.jsonl").read_bytes()}
        return {name: hashlib.sha256(content).hexdigest() for name, content in found.items()}

    def row(self, name):
        """What is wrong in a row, in lines."""
        changes, ways = TABLE[name]
        ways = [way for way in ways.split(", ") if self.with_ranks or "ranks" not in way]
        config = name.replace(" ", "_")
        self.config(config, **changes)
        straight = self.bytes_of(self.do("train C R --threads 1", config, config, config)) if ways else {}
        wrong = []
        for number, way in enumerate(ways):
            folder = run = f"{config}_way{number}"
            try:
                for how in WAYS[way]:
                    run = self.do(how, config, folder, run)
                found = self.bytes_of(run)
                free = {"curves"} if way == "minutes" else set()  # where its time is up, a run is validated
                wrong += [f"{name}, {way}: {key}" for key in (straight.keys() | found.keys()) - free
                          if straight.get(key) != found.get(key)]
            except AssertionError as e:
                wrong.append(f"{name}, {way}: {e}")
        return wrong

    def test_every_way_ends_in_the_same_bytes(self):
        version = self.out("--version")
        self.with_ranks = MPIRUN and "MPI: none" not in version
        rows = [name for name in TABLE if name != "portable" or "portable arithmetic: available" in version]
        wrong = self.row(rows[0])
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            wrong += sum(pool.map(self.row, rows[1:]), [])
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
