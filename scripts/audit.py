#!/usr/bin/env python3
"""Repeats parts of a training and compares the bytes: was the run RUN trained as it says?

    scripts/audit.py RUN [--intervals 5] [--seed S] [--heed PROGRAM] [--json]

An interval is what lies between two checkpoints that the run has kept (train.keep_every). The first one, which begins with
the data and the config alone, and the one that ends in the best checkpoint are always repeated, and K others are drawn. In a
copy, in a temporary folder, heed trains each anew, and every checkpoint, every line of chain.jsonl and every loss in
metrics.jsonl must come out as RUN has them. Whoever checks draws the seed after the run was handed in; without --seed it is
drawn here. Exit code 0: all that was repeated is true; 1: something is not.
"""
import argparse
import hashlib
import json
import math
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TIMES = {"tokens_per_second", "seconds", "verdict"}  # of an event: they differ between repetitions (the verdict: knows of bests)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def odds_missed(total, forged, drawn):
    """The probability that none of `forged` intervals is among `drawn` of `total`."""
    return math.comb(total - forged, drawn) / math.comb(total, drawn)


def draw(total, count, seed, salt):
    """Numbers of `count` intervals of `total`: those with the lowest hashes of seed, salt and number."""
    return sorted(sorted(range(total), key=lambda i: sha256(f"{seed} {salt} {i}".encode()))[:count])


def read_lines(path):
    """The objects in a file of lines, without a torn last one."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def folder_of(run, step):
    return run / "checkpoints" / f"step-{step:08}"


def line_of_checkpoint(run, step):
    """What the chain says of a checkpoint, from the checkpoint itself."""
    state = (folder_of(run, step) / "state.json").read_bytes()
    parsed = json.loads(state)
    return {"step": step, "files": {**parsed["files"], "state.json": sha256(state)}, "data": parsed["data_hash"]}


def history(lines):
    """The lines that led to the last one, by step: a run that went back repeats the line that it went back to."""
    kept = {}
    for line in lines:
        kept = {step: old for step, old in kept.items() if step < line["step"]}
        kept[line["step"]] = line
    return kept


class Run:
    def __init__(self, folder):
        self.folder = Path(folder)
        if not (self.folder / "checkpoints").is_dir():
            sys.exit(f"{folder} is not a run: it has no checkpoints/")
        self.origin = json.loads((self.folder / "origin.json").read_text())
        names = sorted(p.name for p in (self.folder / "checkpoints").glob("step-*") if (p / "state.json").is_file())
        self.kept = [int(name[len("step-"):]) for name in names]
        self.kept.sort()
        if not self.kept:
            sys.exit(f"{folder} has no checkpoint")
        self.chain = (self.folder / "chain.jsonl").is_file()
        self.lines = history(read_lines(self.folder / "chain.jsonl"))
        self.unchained = [step for step in self.kept if step not in self.lines]
        for step in self.unchained:  # of an earlier heed
            self.lines[step] = line_of_checkpoint(self.folder, step)
        self.lines = dict(sorted(self.lines.items()))
        self.configs = {}
        for step in self.kept:
            text = (folder_of(self.folder, step) / "config.json").read_bytes()
            self.configs[sha256(text)] = text
        self.begins = 0 if not self.origin.get("branched_from") else self.origin.get("branched_at", 0)
        self.given = 0 in self.kept and bool(self.origin.get("init_from")) or self.begins > 0

    def intervals(self):
        """(from, to): from -1 is the start, where nothing is there yet."""
        steps = [step for step in self.kept if step > self.begins or step == self.begins and self.given]
        if not self.given:
            steps = [-1] + [step for step in steps if step > 0]
        return list(zip(steps, steps[1:]))

    def best(self):
        try:
            return int(os.readlink(self.folder / "checkpoints" / "best")[len("step-"):])
        except (OSError, ValueError):
            return -1


class Repetition:
    """An interval, trained anew in a copy."""

    def __init__(self, run, begin, end, heed, place):
        self.run, self.begin, self.end, self.heed, self.copy = run, begin, end, heed, Path(place) / "run"
        self.wrong = []

    def prepare(self):
        (self.copy / "checkpoints").mkdir(parents=True)
        for name in ("origin.json", "text.txt"):
            if (self.run.folder / name).is_file():
                shutil.copy(self.run.folder / name, self.copy / name)
        if self.begin >= 0:
            shutil.copytree(folder_of(self.run.folder, self.begin), folder_of(self.copy, self.begin))

    def train(self):
        """Goes on from line to line as long as they have one config."""
        lines = [line for step, line in self.run.lines.items() if self.begin < step <= self.end and step > 0]
        for line, after in zip(lines, lines[1:] + [None]):
            config = line["files"]["config.json"]
            if after and after["files"]["config.json"] == config:
                continue
            if config not in self.run.configs:
                return self.wrong.append(f"step {line['step']}: no kept checkpoint has its config, so it cannot be repeated")
            (self.copy / "config.json").write_bytes(self.run.configs[config])
            done = subprocess.run([self.heed, "resume", self.copy, "--stop-at", str(line["step"]), "--quiet"],
                                  capture_output=True, text=True)
            if done.returncode:
                said = done.stderr.replace(str(self.copy), "COPY").strip().splitlines() or ["nothing"]
                return self.wrong.append(f"heed cannot repeat it (exit code {done.returncode}): {said[0]}")
        return None

    def compare_lines(self):
        again = history(read_lines(self.copy / "chain.jsonl"))
        if self.end not in again and folder_of(self.copy, self.end).is_dir():  # by a heed that writes no chain
            again[self.end] = line_of_checkpoint(self.copy, self.end)
        for step, line in self.run.lines.items():
            if not self.begin < step <= self.end or step not in again and step != self.end:
                continue
            there = again.get(step, {"files": {}, "data": ""})
            names = sorted({*line["files"], *there["files"]})
            other = [name for name in names if line["files"].get(name) != there["files"].get(name)]
            if line["data"] != there["data"]:
                other.append("data")
            if other:
                self.wrong.append(f"step {step}: {', '.join(other)} came out otherwise")

    def compare_files(self):
        """The checkpoint at the end, byte for byte."""
        ours, theirs = folder_of(self.run.folder, self.end), folder_of(self.copy, self.end)
        names = {p.name for folder in (ours, theirs) if folder.is_dir() for p in folder.iterdir() if p.name[0] != "."}
        for name in sorted(names):
            if not all((f / name).is_file() for f in (ours, theirs)) or (ours / name).read_bytes() != (theirs / name).read_bytes():
                self.wrong.append(f"step {self.end}: {name} has other bytes")

    def events(self, folder):
        return {(e["kind"], e["step"]): {k: v for k, v in e.items() if k not in TIMES}
                for e in read_lines(folder / "metrics.jsonl")
                if e.get("kind") in ("train", "valid") and self.begin < e["step"] <= self.end}

    def compare_events(self):
        said, came = self.events(self.run.folder), self.events(self.copy)
        for key in sorted({*said, *came}, key=lambda key: (key[1], key[0])):
            stopped = key not in came and key[1] in self.run.lines  # the end of a process may have left a line
            if said.get(key) != came.get(key) and not stopped:
                self.wrong.append(f"step {key[1]}: the {key[0]} line of metrics.jsonl came out otherwise")

    def check(self):
        self.prepare()
        self.train()
        if not self.wrong:
            self.compare_lines()
            self.compare_files()
            self.compare_events()
        return self.wrong


def repeat(run, begin, end, heed):
    with tempfile.TemporaryDirectory(prefix="heed_audit_") as place:
        try:
            return Repetition(run, begin, end, heed, place).check()
        except (OSError, ValueError, KeyError) as error:  # what a forger left
            return [f"it cannot be read: {error!r}".replace(place, "COPY")]


def verify(run, heed):
    """What heed verify finds wrong: links, checksums, the chain."""
    done = subprocess.run([heed, "verify", run.folder, "--json"], capture_output=True, text=True)
    try:
        found = json.loads(done.stdout)
        return [f"{p['name']}: {p['wrong']}" for p in found["checkpoints"] + found["files"] if not p["whole"]]
    except ValueError:
        return [f"heed verify: exit code {done.returncode}: {done.stderr.strip()}"]


def audit(run, heed, count, seed):
    """The certificate."""
    intervals = run.intervals()
    total, count = len(intervals), min(count, len(intervals))
    chain_file = run.folder / "chain.jsonl"
    salt = sha256(chain_file.read_bytes() if run.chain else b"".join(sorted(run.configs.values())))
    drawn = draw(total, count, seed, salt)
    always = sorted({0, *(i for i, (_, end) in enumerate(intervals) if end == run.best())} if intervals else set())
    checked = [{"from": max(begin, 0), "to": end, "drawn": i in drawn, "wrong": repeat(run, begin, end, heed)}
               for i, (begin, end) in enumerate(intervals) if i in drawn or i in always]
    steps = [end - max(begin, 0) for begin, end in intervals]
    program = sha256(Path(heed).read_bytes())
    found = verify(run, heed)
    forged = sorted({n for n in (1, 2, 5, 10, math.ceil(total / 10), math.ceil(total / 2)) if 0 < n <= total})
    return {"run": str(run.folder), "true": bool(intervals) and not found and not any(c["wrong"] for c in checked),
            "chain": run.chain, "chain_hash": salt, "without_line": run.unchained,
            "last_step": run.kept[-1], "intervals": total, "checked": checked,
            "share": sum(c["to"] - c["from"] for c in checked) / max(1, sum(steps)),
            "draw": {"seed": seed, "drawn": [list(map(lambda s: max(s, 0), intervals[i])) for i in drawn]},
            "odds_missed": {str(n): odds_missed(total, n, count) for n in forged},
            "begins": {"step": run.begins if run.given else 0, "init_from": run.origin.get("init_from", ""),
                       "branched_from": run.origin.get("branched_from", "")},
            "program": program,
            "other_programs": sorted({line.get("program", "") for line in run.lines.values()} - {program, ""}),
            "verify": found}


def in_words(c):
    yield f"{c['run']}, to step {c['last_step']}: {'TRUE as far as it was repeated' if c['true'] else 'NOT TRUE, or not provable'}"
    if not c["chain"]:
        yield "no chain.jsonl: the run is of an earlier heed; only its checkpoints were compared"
    elif c["without_line"]:
        yield f"without a line in chain.jsonl: steps {', '.join(map(str, c['without_line']))}"
    begin = c["begins"]
    if begin["branched_from"]:
        yield f"it branches from {begin['branched_from']} at step {begin['step']}: what came before is that run's, not checked here"
    elif begin["init_from"]:
        yield f"it begins with the weights of {begin['init_from']}, as step 0 keeps them: where they come from is not checked here"
    yield f"repeated: {len(c['checked'])} of {c['intervals']} intervals, {100 * c['share']:.3g} % of the steps"
    for part in c["checked"]:
        why = "drawn" if part["drawn"] else "always checked"
        yield f"  steps {part['from']} to {part['to']} ({why}): {'the same bytes' if not part['wrong'] else 'OTHERWISE'}"
        yield from (f"    {text}" for text in part["wrong"])
    yield from (f"  heed verify: {text}" for text in c["verify"])
    yield f"drawn with seed {c['draw']['seed']} over chain {c['chain_hash'][:16]}"
    for n, odds in c["odds_missed"].items():
        yield f"  the odds that the draw would have missed {n} forged interval{'s' * (n != '1')}: {100 * odds:.3g} %"
    yield f"repeated with the program {c['program'][:16]}"
    yield from (f"  the run was trained with another: {other[:16]} (no fault in itself)" for other in c["other_programs"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--intervals", type=int, default=5, metavar="K")
    parser.add_argument("--seed", default="", metavar="S")
    parser.add_argument("--heed", default=os.environ.get("HEED_BINARY", "heed"), metavar="PROGRAM")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    here = Path(__file__).resolve().parent.parent / "build" / "heed"
    heed = shutil.which(args.heed) or str(here)
    if args.intervals < 0 or not Path(heed).is_file():
        parser.error("--intervals is below 0" if args.intervals < 0 else f"there is no program {args.heed}: --heed")
    certificate = audit(Run(args.run), os.path.abspath(heed), args.intervals, args.seed or secrets.token_hex(8))
    print(json.dumps(certificate) if args.json else "\n".join(in_words(certificate)))
    return 0 if certificate["true"] else 1


if __name__ == "__main__":
    sys.exit(main())
