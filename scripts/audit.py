#!/usr/bin/env python3
"""Repeats parts of a training and compares the bytes: was the run RUN trained as it says?

    scripts/audit.py RUN [--intervals 5] [--seed S] [--heed PROGRAM] [--json]

An interval is what lies between two checkpoints that the run has kept (train.keep_every). The first one, which begins with
the data and the config alone, and the one that ends in the best checkpoint are always repeated, and K others are drawn. In a
copy, in a temporary folder, heed trains each anew, and every checkpoint, every line of chain.jsonl and every loss in
metrics.jsonl must come out as RUN has them. Whoever checks draws the seed after the run was handed in; without --seed it is
drawn here. The certificate says what is not checked. Exit code 0: all that was repeated is true; 1: something is not, or it
could not be repeated.
"""
import argparse
import hashlib
import json
import math
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NOT_CHECKED = "reports, train.log, film.jsonl, origin.json, and of metrics.jsonl times, yardsticks and events"
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


def seal(folder, change=lambda text: text):
    """Makes state.json agree with the files, after a change to its text."""
    path = folder / "state.json"
    text = change(path.read_text())
    for file in folder.iterdir():
        if file.name != "state.json":
            text = re.sub(f'("{re.escape(file.name)}": ")[0-9a-f]{{64}}', lambda m: m[1] + sha256(file.read_bytes()), text)
    text = re.sub(r'"checksum": "[0-9a-f]{64}"', '"checksum": ""', text)
    path.write_text(text.replace('"checksum": ""', f'"checksum": "{sha256(text.encode())}"'))


def with_value(config, key, value):
    """The text of a config with another number."""
    return re.sub(f'("{key}": )[^,\\s]*'.encode(), lambda m: m[1] + value.encode(), config, count=1)


def history(lines):
    """The lines that led to the last one, by step: a run that went back repeats the line that it went back to."""
    kept = {}
    for line in lines:
        kept = {step: old for step, old in kept.items() if step < line["step"]}
        kept[line["step"]] = line
    return kept


def kept_in(run):
    """The steps of its checkpoints, ascending."""
    return sorted(int(p.name[len("step-"):]) for p in (run / "checkpoints").glob("step-*") if (p / "state.json").is_file())


def broken_lines(path):
    """What is wrong with the chain as such."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.is_file() else []
    return [f"line {n + 1} does not follow from the one before" for n, line in enumerate(lines)
            if n and json.loads(line)["before"] != sha256(lines[n - 1])]


class Run:
    def __init__(self, folder):
        self.folder = Path(folder)
        if not (self.folder / "checkpoints").is_dir():
            sys.exit(f"{folder} is not a run: it has no checkpoints/")
        self.origin = json.loads((self.folder / "origin.json").read_text())
        self.kept = kept_in(self.folder)
        if not self.kept:
            sys.exit(f"{folder} has no checkpoint")
        path = self.folder / "chain.jsonl"
        self.chain = path.is_file()
        self.broken = broken_lines(path)
        self.lines = history(read_lines(path))
        self.unchained = [step for step in self.kept if step not in self.lines]
        for step in self.kept:
            line = line_of_checkpoint(self.folder, step)
            said = self.lines.setdefault(step, line)  # an earlier heed wrote no line
            if any(said.get(key) != value for key, value in line.items()):
                self.broken.append(f"it has another checkpoint of step {step}")
        self.lines = dict(sorted(self.lines.items()))
        self.configs = {(folder_of(self.folder, step) / "config.json").read_bytes() for step in self.kept}
        self.begins = 0 if not self.origin.get("branched_from") else self.origin.get("branched_at", 0)
        self.given = 0 in self.kept and bool(self.origin.get("init_from")) or self.begins > 0

    def intervals(self):
        """(from, to): from -1 is the start, where nothing is there yet."""
        steps = [self.begins if self.given else -1, *(step for step in self.kept if step > self.begins)]
        return list(zip(steps, steps[1:]))

    def config_of(self, line):
        """As a kept checkpoint has it, but for the end of the run, which may be this line's step (later heed trained on)."""
        known = {text for kept in self.configs for text in (kept, with_value(kept, "max_steps", str(line["step"])))}
        return next((text for text in known if sha256(text) == line["files"]["config.json"]), None)

    def other_kernels(self, heed):
        """The kernels that computed it natively, where this machine takes others: then its bytes cannot come out."""
        version = subprocess.run([heed, "--version"], capture_output=True, text=True).stdout
        core, rounded = re.search(r"core type: (\S+)[\s\S]*bfloat16: ([^:\n]*)", version).groups()
        used = {event["core_type"] for event in read_lines(self.folder / "metrics.jsonl") if "core_type" in event}
        portable = any(b'"arithmetic": "portable"' in config for config in self.configs)
        return [] if portable else sorted(used - {core, f"{core}, {rounded}"})

    def lines_beyond(self):
        """Lines of metrics.jsonl that no checkpoint proves: the run trains, or was killed."""
        return sum(event.get("step", 0) > self.kept[-1] for event in read_lines(self.folder / "metrics.jsonl"))

    def best(self):
        try:
            return int(os.readlink(self.folder / "checkpoints" / "best")[len("step-"):])
        except (OSError, ValueError):
            return -1


class Repetition:
    """An interval, trained anew in a copy. Training ends at the steps `ends` because time is up, as it did in the run, and is
    stopped at the steps `stops`."""

    def __init__(self, run, begin, end, heed, place, ends=(), stops=()):
        self.run, self.begin, self.end, self.heed, self.copy = run, begin, end, heed, Path(place) / "run"
        self.ends, self.stops = ends, set(stops)
        self.wrong = []
        self.repeated = False  # to its end
        self.pauses = set()  # steps at which time was up only here

    def prepare(self):
        (self.copy / "checkpoints").mkdir(parents=True)
        for name in ("origin.json", "text.txt"):
            if (self.run.folder / name).is_file():
                shutil.copy(self.run.folder / name, self.copy / name)
        if self.begin in self.run.kept:
            shutil.copytree(folder_of(self.run.folder, self.begin), folder_of(self.copy, self.begin))
        elif self.begin >= 0:
            self.wrong.append(f"the checkpoint of step {self.begin}, where the run begins, was not kept (train.keep_every)")

    def resume(self, config, *stop):
        """True if that went on."""
        at = kept_in(self.copy)
        (self.copy / "config.json").write_bytes(config)
        done = subprocess.run([self.heed, "resume", self.copy, "--quiet", *stop], capture_output=True, text=True)
        if done.returncode or kept_in(self.copy) == at:
            said = done.stderr.replace(str(self.copy), "COPY").strip().splitlines() or ["it ends earlier"]
            self.wrong.append(f"heed cannot repeat it (exit code {done.returncode}): {said[0]}")
        return not self.wrong

    def resume_to(self, step, config):
        while max(kept_in(self.copy), default=0) < step and self.resume(config, "--stop-at", str(step)):
            self.pauses.add(max(kept_in(self.copy)))
        self.pauses -= {step} - self.stops

    def end_by_time(self, step, config):
        """Like the end of the run by max_steps, at a step that nobody knew beforehand; then its config is put back."""
        self.resume_to(step - 1, config)
        ending = with_value(config, "max_steps", str(step))
        if b'"decay_steps": "end"' in config:
            ending = with_value(ending, "decay_steps", str(json.loads(config)["train"]["max_steps"]))
        self.resume_to(step, ending)
        if not self.wrong:
            (folder_of(self.copy, step) / "config.json").write_bytes(config)
            seal(folder_of(self.copy, step))

    def train(self):
        """Goes on from line to line as long as they have one config."""
        lines = [line for step, line in self.run.lines.items() if self.begin < step <= self.end and step > 0]
        for line, after in zip(lines, lines[1:] + [None]):
            same = after and after["files"]["config.json"] == line["files"]["config.json"]
            if self.wrong or same and line["step"] not in (*self.ends, *self.stops):
                continue
            config = self.run.config_of(line)
            if config is None:
                self.wrong.append(f"step {line['step']}: no kept checkpoint has its config, so it cannot be repeated")
            else:
                (self.end_by_time if line["step"] in self.ends else self.resume_to)(line["step"], config)

    def other_stops(self):
        """The steps with a line in the chain that were not saved: there heed was told to save, or the lines are invented."""
        came = history(read_lines(self.copy / "chain.jsonl"))
        return {step for step in self.run.lines if self.begin < step < self.end and step not in came}

    def compare_lines(self):
        again = history(read_lines(self.copy / "chain.jsonl"))
        again.update((step, line_of_checkpoint(self.copy, step)) for step in kept_in(self.copy))
        for step, line in self.run.lines.items():
            if not self.begin < step <= self.end:
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
        """The lines of each kind and step: one, if nobody added another."""
        lines = {}
        for e in read_lines(folder / "metrics.jsonl"):
            if e.get("kind") in ("train", "valid") and (self.begin or -1) < e["step"] <= self.end:
                lines.setdefault((e["kind"], e["step"]), []).append({k: v for k, v in e.items() if k not in TIMES})
        return lines

    def compare_events(self):
        said, came = self.events(self.run.folder), self.events(self.copy)
        for kind, step in sorted({*said, *came}, key=lambda key: (key[1], key[0])):
            if said.get((kind, step)) != came.get((kind, step)) and not (step in self.pauses and (kind, step) not in said):
                self.wrong.append(f"step {step}: the {kind} line of metrics.jsonl came out otherwise")

    def other_ends(self):
        """The saved steps with lines that came not: there time was up (max_minutes), or the lines are invented."""
        came = self.events(self.copy)
        return {step for kind, step in self.events(self.run.folder) if (kind, step) not in came and step in self.run.lines}

    def check(self):
        self.prepare()
        if not self.wrong:
            self.train()
        self.repeated = not self.wrong
        if self.repeated:
            self.compare_lines()
            self.compare_files()
            self.compare_events()


def repeat(run, begin, end, heed, ends=(), stops=()):
    """(what is wrong, could it be repeated?)"""
    with tempfile.TemporaryDirectory(prefix="heed_audit_") as place:
        try:
            repetition = Repetition(run, begin, end, heed, place, ends, stops)
            repetition.check()
            again = () if ends or stops else (repetition.other_ends(), repetition.other_stops())
        except (OSError, ValueError, KeyError) as error:  # what a forger left
            return [f"it cannot be read: {error!r}".replace(place, "COPY")], False
    if repetition.wrong and any(again):
        return repeat(run, begin, end, heed, *again)
    return repetition.wrong, repetition.repeated


def verify(run, heed):
    """What heed verify finds wrong: links, checksums, files."""
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
    salt = sha256(chain_file.read_bytes() if run.chain else b"".join(sorted(run.configs)))
    drawn = draw(total, count, seed, salt)
    always = sorted({0, *(i for i, (_, end) in enumerate(intervals) if end == run.best())} if intervals else set())
    checked = [{"from": max(begin, 0), "to": end, "drawn": i in drawn, "always": i in always,
                **dict(zip(("wrong", "repeated"), repeat(run, begin, end, heed)))}
               for i, (begin, end) in enumerate(intervals) if i in drawn or i in always]
    steps = [end - max(begin, 0) for begin, end in intervals]
    program = sha256(Path(heed).read_bytes())
    found = [f"chain.jsonl: {text}" for text in run.broken] + verify(run, heed)
    forged = sorted({n for n in (1, 2, 5, 10, math.ceil(total / 10), math.ceil(total / 2)) if 0 < n <= total})
    return {"run": str(run.folder), "true": bool(intervals) and not found and not any(c["wrong"] for c in checked),
            "chain": run.chain, "chain_hash": salt, "without_line": run.unchained,
            "last_step": run.kept[-1], "lines_beyond": run.lines_beyond(), "intervals": total, "checked": checked,
            "share": sum(c["to"] - c["from"] for c in checked if c["repeated"]) / max(1, sum(steps)),
            "draw": {"seed": seed, "drawn": [list(map(lambda s: max(s, 0), intervals[i])) for i in drawn]},
            "odds_missed": {str(n): odds_missed(total, n, count) for n in forged},
            "begins": {"step": run.begins if run.given else 0, "init_from": run.origin.get("init_from", ""),
                       "branched_from": run.origin.get("branched_from", "")},
            "other_kernels": run.other_kernels(heed),
            "program": program,
            "other_programs": sorted({line.get("program", "") for line in run.lines.values()} - {program, ""}),
            "damaged": found}


def verdict(c):
    if c["true"]:
        return "TRUE as far as it was repeated"
    return "NOT TRUE" if c["damaged"] or any(p["wrong"] and p["repeated"] for p in c["checked"]) else "NOT PROVED: it could not be repeated"


def in_words(c):
    yield f"{c['run']}, to step {c['last_step']}: {verdict(c)}"
    if not c["chain"]:
        yield "no chain.jsonl: an earlier heed wrote none, or it was deleted; only the checkpoints were compared"
    elif c["without_line"]:
        yield f"without a line in chain.jsonl: steps {', '.join(map(str, c['without_line']))}"
    if c["lines_beyond"]:
        yield f"{c['lines_beyond']} lines of metrics.jsonl are of later steps: nothing proves them"
    begin = c["begins"]
    if begin["branched_from"]:
        yield f"it branches from {begin['branched_from']} at step {begin['step']}: what came before is that run's, not checked here"
    elif begin["init_from"]:
        yield f"it begins with the weights of {begin['init_from']}, as step 0 keeps them: where they come from is not checked here"
    yield f"repeated: {sum(p['repeated'] for p in c['checked'])} of {c['intervals']} intervals, {100 * c['share']:.3g} % of the steps"
    for part in c["checked"]:
        why = "always checked" if part["always"] else "drawn"
        found = "not repeated" if not part["repeated"] else "OTHER BYTES" if part["wrong"] else "the same bytes"
        yield f"  steps {part['from']} to {part['to']} ({why}): {found}"
        yield from (f"    {text}" for text in part["wrong"])
    yield from (f"  damaged: {text}" for text in c["damaged"])
    yield f"drawn with seed {c['draw']['seed']} over chain {c['chain_hash'][:16]}"
    for n, odds in c["odds_missed"].items() if len(c["checked"]) < c["intervals"] else ():
        yield f"  the odds that the draw would have missed {n} forged interval{'s' * (n != '1')}: {100 * odds:.3g} %"
    for kernels in c["other_kernels"]:
        yield f"trained with the kernels for {kernels}, not those of this machine: an honest run has other bytes here too (train.arithmetic)"
    yield f"not checked: {NOT_CHECKED}"
    yield f"repeated with the program {c['program'][:16]}"
    yield from (f"  the run was trained with another: {other[:16]} (no fault in itself)" for other in c["other_programs"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--intervals", type=int, default=5, metavar="K")
    parser.add_argument("--seed", default="", metavar="S")
    parser.add_argument("--heed", metavar="PROGRAM", help="default: $HEED_BINARY, heed in PATH, or build/heed")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    named = args.heed or os.environ.get("HEED_BINARY")
    built = Path(__file__).resolve().parent.parent / "build" / "heed"
    heed = shutil.which(named or "heed") or (not named and shutil.which(built))
    if args.intervals < 0 or not heed:
        parser.error("--intervals is below 0" if args.intervals < 0 else f"there is no program {named or 'heed'}: --heed")
    if subprocess.run([heed, "--version"], capture_output=True).stdout[:5] != b"heed ":
        parser.error(f"{heed} is not heed: --heed")
    in_runs = Path("runs", args.run)
    folder = in_runs if in_runs.is_dir() and not Path(args.run).exists() else args.run  # as heed finds runs
    try:
        certificate = audit(Run(folder), os.path.abspath(heed), args.intervals, args.seed or secrets.token_hex(8))
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{args.run} cannot be read: {error!r}")
    print(json.dumps(certificate) if args.json else "\n".join(in_words(certificate)))
    return 0 if certificate["true"] else 1


if __name__ == "__main__":
    sys.exit(main())
