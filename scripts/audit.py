#!/usr/bin/env python3
"""Repeats parts of a training and compares the bytes: was the run RUN trained as it says?

    scripts/audit.py RUN [--intervals 5] [--seed S] [--stem DIR]... [--heed PROGRAM] [--json]

First heed verify must find RUN whole; if not, nothing is repeated. An interval is what lies between two checkpoints that the
run has kept (train.keep_every). The first one, which begins with the data and the config alone, and the one that ends in the
best checkpoint are always repeated, and K others are drawn. In a copy, in a temporary folder, heed trains each anew, and every
checkpoint, every line of chain.jsonl and every loss in metrics.jsonl must come out as RUN has them. Averages are averaged anew.
config.json must be that of the last checkpoint. Of a branch, the steps before it are those of the run that it comes from, where
origin.json says, beside RUN, or in DIR (of a branch of a branch: once for each, RUN's first); its intervals count as RUN's, and
those with a checkpoint that the branch took over, or with its first own save, are always repeated.

Whoever checks draws the seed after the run was handed in; without --seed it is drawn here. The certificate names what it is
about by SHA-256, and says what is not checked. TRUE (exit code 0): all that was repeated came out the same. NOT TRUE (1): some
did not, or RUN is damaged. NOT PROVED (1): it could not be repeated, or RUN shows what no repetition leads to.
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

OWN_FILES = {".lock", "chain.jsonl", "checkpoints", "config.json", "film.jsonl", "live.html", "metrics.jsonl", "origin.json",
             "report.html", "rewound", "train.log", "whence"}
NOT_CHECKED = "reports, rewound, whence, train.log, film.jsonl, origin.json, and of metrics.jsonl times, yardsticks and events"
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u180e\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
                      "\U0001d173-\U0001d17a\U000e0001]")
LARGEST_CHAIN = 1 << 28  # bytes
# Checkpoints have none of them.
PROCESS_KEYS = {"train.threads", "train.rank_timeout", "train.tensorboard", "train.live", "train.prompt", "train.keep_every"}
TIMES = {"tokens_per_second", "seconds", "verdict"}  # of an event: they differ between repetitions (the verdict: knows of bests)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def odds_missed(total, forged, drawn):
    """The probability that none of `forged` intervals is among `drawn` of `total`."""
    return math.comb(total - forged, drawn) / math.comb(total, drawn)


def draw(total, count, seed, salt):
    """Numbers of `count` intervals of `total`: those with the lowest hashes of seed, salt and number."""
    return sorted(sorted(range(total), key=lambda i: sha256(f"{seed} {salt} {i}".encode()))[:count])


def printable(text, most=500):
    """As heed prints names: controls, and what turns or hides a line, escaped (src/base/utf8.cpp)."""
    def escaped(match):
        code = ord(match[0]) - (0xDC00 if "\udc80" <= match[0] <= "\udcff" else 0)  # a byte that is not UTF-8
        known = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
        return known.get(match[0]) or (f"<0x{code:02X}>" if code < 0x80 or code != ord(match[0]) else f"<U+{code:04X}>")
    text = CONTROLS.sub(escaped, str(text)[:most + 1])
    return text if len(text) <= most else text[:most] + "..."


def quoted(text):
    return f'"{printable(text, 200)}"'


def some(texts, most=10):
    """The first of many."""
    return [*texts[:most], *([f"and {len(texts) - most} more"] if len(texts) > most else [])]


def raw_lines(path):
    """The lines of a file, without a torn last one."""
    if path.is_file():
        with path.open("rb") as file:
            yield from (line[:-1] for line in file if line.endswith(b"\n"))


def read_lines(path):
    return map(json.loads, raw_lines(path))


def folder_of(run, step):
    return run / "checkpoints" / f"step-{step:08}"


def line_of(folder):
    """What the chain says of a checkpoint, from the checkpoint itself."""
    state = (folder / "state.json").read_bytes()
    parsed = json.loads(state)
    return {"step": int(folder.name[5:]), "files": {**parsed["files"], "state.json": sha256(state)}, "data": parsed["data_hash"]}


def line_of_checkpoint(run, step):
    return line_of(folder_of(run, step))


def sealed(text, hashes):
    """The text of a state.json with the hashes of some files, by name."""
    for name, digits in hashes.items():
        text = re.sub(f'("{re.escape(name)}": ")[0-9a-f]{{64}}', lambda m: m[1] + digits, text)
    text = re.sub(r'"checksum": "[0-9a-f]{64}"', '"checksum": ""', text)
    return text.replace('"checksum": ""', f'"checksum": "{sha256(text.encode())}"')


def seal(folder, change=lambda text: text):
    """Makes state.json agree with the files, after a change to its text."""
    path = folder / "state.json"
    hashes = {file.name: sha256(file.read_bytes()) for file in folder.iterdir() if file != path}
    path.write_text(sealed(change(path.read_text()), hashes))


def is_taken_over(run, step, line):
    """Is the run's checkpoint that of this line of its stem, but for its config?"""
    own = line_of_checkpoint(run, step)
    config = {"config.json": line["files"]["config.json"]}
    state = sealed((folder_of(run, step) / "state.json").read_text(), config)
    return {**own["files"], **config, "state.json": sha256(state.encode())} == line["files"]


def copy_checkpoint(folder, to):
    """The files that its state.json names, and not through links."""
    to.mkdir(parents=True)
    for name in [*json.loads((folder / "state.json").read_text())["files"], "state.json"]:
        shutil.copy(folder / name, to / name, follow_symlinks=False)


def other_files(ours, theirs):
    """The names of the files that two checkpoints do not have alike."""
    names = {p.name for folder in (ours, theirs) if folder.is_dir() for p in folder.iterdir() if p.name[0] != "."}
    return [name for name in sorted(names) if not all((f / name).is_file() for f in (ours, theirs))
            or (ours / name).read_bytes() != (theirs / name).read_bytes()]


def history(lines):
    """The lines that led to the last one, by step: a run that went back repeats the line that it went back to."""
    kept = {}
    for line in lines:
        while kept and next(reversed(kept)) >= line["step"]:
            kept.popitem()
        kept[line["step"]] = line
    return kept


def flat(config, prefix=""):
    """Its keys, as section.key, and values."""
    for key, value in config.items():
        yield from flat(value, f"{prefix}{key}.") if isinstance(value, dict) else [(prefix + key, json.dumps(value))]


def ask(heed, *arguments):
    """What heed answers."""
    command = [heed, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)


def verify(run, heed):
    """The names of what heed verify finds whole, and what is wrong with the rest: links, checksums, files."""
    done = ask(heed, "verify", run, "--json")
    try:
        found = json.loads(done.stdout)
    except ValueError:
        return set(), [f"heed verify: exit code {done.returncode}: {done.stderr.strip()}"]
    parts = found["checkpoints"] + found["files"]
    return {p["name"] for p in parts}, [f"{p['name']}: {p['wrong']}" for p in parts if not p["whole"]]


class Run:
    """A run that heed verify has looked at. Of a branch whose stem is there, the steps before it are those of the stem."""

    def __init__(self, folder, heed, stems=(), seen=()):
        self.folder, self.heed = Path(folder).absolute(), heed
        self.names, self.damaged = verify(self.folder, heed)
        self.not_proved, self.branches, self.needed, self.root = [], [], set(), self
        self.own = [] if self.damaged else sorted(int(name[5:]) for name in self.names if name.startswith("step-"))
        self.places = {step: folder_of(self.folder, step) for step in self.own}
        if not self.own:
            return
        self.origin = json.loads((self.folder / "origin.json").read_text())
        chain = self.folder / "chain.jsonl"
        if chain.is_file() and chain.stat().st_size > LARGEST_CHAIN:
            raise ValueError("chain.jsonl is too large")
        raw = list(raw_lines(chain))
        self.chain = bool(raw)
        self.links = [(json.loads(line), sha256(line)) for line in raw]
        self.damaged += [f"chain.jsonl: line {n + 2} does not follow from the one before"
                         for n, ((_, before), (line, _)) in enumerate(zip(self.links, self.links[1:])) if line["before"] != before]
        self.lines = history(line for line, _ in self.links)
        self.unchained = [step for step in self.own if step not in self.lines]
        for step in self.own:
            line = line_of_checkpoint(self.folder, step)
            said = self.lines.setdefault(step, line)  # an earlier heed wrote no line
            if any(said.get(key) != value for key, value in line.items()):
                self.damaged.append(f"chain.jsonl: it has another checkpoint of step {step}")
        self.lines = dict(sorted(self.lines.items()))
        self.configs = {(place / "config.json").read_bytes() for place in self.places.values()}
        self.begins = 0
        self.given = 0 in self.own and bool(self.origin.get("init_from"))
        if self.origin.get("branched_from"):
            self.follow(self.origin["branched_from"], self.origin["branched_at"], stems, (*seen, self.folder.resolve()))
        elif self.chain and self.links[0][0]["before"]:
            self.damaged.append("chain.jsonl: it does not begin with its first line")
        self.kept = sorted(self.places)

    def follow(self, stem, at, stems, seen):
        """Puts the steps of the stem before those of the branch; or says why not, and begins with the branch."""
        beside = self.folder.parent / Path(stem).name
        places = map(Path, stems[:1] or ([stem, beside] if os.path.isabs(stem) else [beside, stem]))
        place = next((p for p in places if os.path.isdir(p / "checkpoints") and p.resolve() not in seen), None)
        stem_run = place and Run(place, self.heed, stems[1:], seen)
        before = self.chain and self.links[0][0]["before"]
        if not stem_run:
            why = f"the run {quoted(stems[0] if stems else stem)} is not there (--stem DIR)"
        elif stem_run.damaged or not stem_run.places:
            why = "; ".join([f"the run {quoted(place)} is damaged", *some(stem_run.damaged, 3)])
        elif self.chain and before not in ([digits for line, digits in stem_run.links if line["step"] == at] or [""]):
            why = f"chain.jsonl does not go on from step {at} of the run {quoted(place)}"
        else:
            why = ""
        self.branches = [{"run": str(place or stem), "step": at, "followed": not why}]
        if why:
            self.not_proved.append(f"the steps up to {at}: {why}")
            self.begins, self.given = at, True
            return
        took = [step for step in self.own if step <= at]
        self.not_proved += stem_run.not_proved + [
            f"step {step} is not that of the run {quoted(place)}" for step in took
            if step not in stem_run.lines or not is_taken_over(self.folder, step, stem_run.lines[step])]
        self.needed = {at, *took, *[step for step in self.lines if step > at][:1], *stem_run.needed}
        self.branches += stem_run.branches
        self.root, self.begins, self.given = stem_run.root, stem_run.begins, stem_run.given
        self.configs |= stem_run.configs
        self.unchained = sorted({*self.unchained, *(step for step in stem_run.unchained if step <= at)})
        for name in ("lines", "places"):
            ours, theirs = getattr(self, name), getattr(stem_run, name)
            setattr(self, name, {**{s: x for s, x in theirs.items() if s <= at}, **{s: x for s, x in ours.items() if s > at}})

    def intervals(self):
        """(from, to): from -1 is the start, where nothing is there yet."""
        steps = [self.begins if self.given else -1, *(step for step in self.kept if step > self.begins)]
        return list(zip(steps, steps[1:]))

    def lines_beyond(self):
        """Lines of metrics.jsonl that no checkpoint proves: the run trains, or was killed."""
        return sum(event.get("step", 0) > self.kept[-1] for event in read_lines(self.folder / "metrics.jsonl"))

    def other_config(self):
        """The keys in which config.json is not that of the last checkpoint."""
        said, last = ({key: value for key, value in flat(json.loads(ask(self.heed, "config", path).stdout))}
                      for path in (self.folder / "config.json", folder_of(self.folder, self.own[-1]) / "config.json"))
        return [f"{key} {said.get(key)}, there {last.get(key)}" for key in sorted({*said, *last} - PROCESS_KEYS)
                if said.get(key) != last.get(key)]

    def check_averages(self):
        for name in sorted(name for name in self.names if name.startswith("average-")):
            first, last = map(int, name.split("-")[1:])
            left = [step for step in self.own if first <= step <= last]
            if {first, last} - {*left}:
                self.not_proved.append(f"{name}: checkpoints that it averages are gone")
            elif not self.is_average(name, left):
                gone = any(first < step < last and step not in left for step in self.lines)
                (self.not_proved if gone else self.damaged).append(
                    f"{name}: it is not the average of {'those that are left of ' * gone}its checkpoints")

    def is_average(self, name, steps):
        with tempfile.TemporaryDirectory(prefix="heed_audit_") as place:
            for step in steps:
                copy_checkpoint(folder_of(self.folder, step), folder_of(Path(place), step))
            ask(self.heed, "average", place, "--last", len(steps))
            return not other_files(self.folder / "checkpoints" / name, Path(place) / "checkpoints" / name)

    def check_shown(self, proved):
        """What users of the run see first: config.json, and where its links lead. `proved`: steps that were repeated."""
        if other := self.other_config():
            self.not_proved.append(f"config.json is not that of step {self.own[-1]}: {'; '.join(some(other))}")
        at = self.branches[0]["step"] if self.branches else -1
        after = [line for step, line in self.lines.items() if step > at and step in proved][:1]
        for step, line in self.lines.items():  # a branch writes its own config into what it takes over
            if step in self.own and step <= at and sha256((folder_of(self.folder, step) / "config.json").read_bytes()) not in {
                    trained["files"]["config.json"] for trained in (line, *after)}:
                self.not_proved.append(f"step {step}: nothing that was repeated was trained with its config.json")
        for link in ("best", "last"):
            leads_to = os.readlink(self.folder / "checkpoints" / link)
            if leads_to not in self.names or leads_to[:5] != "step-" or link == "best" and int(leads_to[5:]) not in proved:
                self.not_proved.append(f"{link} leads to {quoted(leads_to)}, which does not end an interval that was repeated")

    def others(self):
        """Names in the run that are none of its own, and in checkpoints/ those that no repetition leads to."""
        reached = {self.begins, *self.needed} if self.given else self.needed
        steps = {folder_of(self.folder, step).name for step in reached | {end for _, end in self.intervals()}}
        known = {name for name in self.names if name[:5] != "step-"} | steps
        return [folder + name for folder, own in (("", OWN_FILES | {"text.txt"} & self.names), ("checkpoints/", known))
                for name in sorted(os.listdir(self.folder / folder)) if name not in own and name[:5] != ".tmp-"]


def other_saves(lines, came):
    """What chain.jsonl says otherwise than it came out."""
    for line in lines:
        said, again = ({**of["files"], "data": of["data"]} for of in (line, came[line["step"]]))
        if other := [name for name in sorted({*said, *again}) if said.get(name) != again.get(name)]:
            yield f"step {line['step']}: {', '.join(other)} came out otherwise"


def other_losses(said, came, begin, end):
    """The same of metrics.jsonl."""
    def of(lines):
        found = {}
        for e in map(json.loads, lines):
            if e.get("kind") in ("train", "valid") and begin < e["step"] <= end:
                found.setdefault((e["step"], e["kind"]), []).append({k: v for k, v in e.items() if k not in TIMES})
        return found
    said, came = of(said), of(came)
    return [f"step {key[0]}: the {key[1]} line of metrics.jsonl came out otherwise" for key in sorted({*said, *came})
            if said.get(key) != came.get(key)]


def repeat(run, begin, end, heed):
    """(what is wrong, could it be repeated?) heed rewind trains the interval anew, in a copy."""
    if begin >= 0 and begin not in run.kept:
        return [f"the checkpoint of step {begin}, where the run begins, was not kept (train.keep_every)"], False
    with tempfile.TemporaryDirectory(prefix="heed_audit_") as place:
        try:
            copy = Path(place) / "run"
            for step in {begin, end} - {-1}:
                copy_checkpoint(run.places[step], folder_of(copy, step))
            for source, names in ((run.root, {"origin.json", "text.txt"} & run.root.names), (run, {"metrics.jsonl"})):
                for name in names:
                    shutil.copy(source.folder / name, copy / name, follow_symlinks=False)
            shutil.copy(folder_of(copy, end) / "config.json", copy / "config.json")
            lines = [line for step, line in run.lines.items() if begin < step <= end]
            (copy / "chain.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
            done = ask(heed, "rewind", copy, *(line["step"] for line in lines), "--json", "--quiet")
            said = done.stderr.replace(place, "COPY").strip()
            if done.returncode:
                return [f"heed rewind: exit code {done.returncode}: {said}"], done.returncode == 6
            came = json.loads(done.stdout)
            return [*other_saves(lines, {row["step"]: line_of(Path(row["checkpoint"])) for row in came["checkpoints"]}),
                    *other_losses(raw_lines(copy / "metrics.jsonl"), came["lines"], begin, end)], True
        except Exception as error:  # what a forger left
            return [f"it cannot be read: {error!r}".replace(place, "COPY")], False


def audit(folder, heed, count, seed, stems=()):
    """The certificate."""
    try:
        return certificate(folder, heed, count, seed, stems)
    except Exception as error:  # what a forger left
        return {"run": str(folder), "true": False, "damaged": [f"it cannot be read: {error!r}"], "not_proved": [], "checked": []}


def certificate(folder, heed, count, seed, stems):
    run = Run(folder, heed, stems)
    if not run.places:  # damaged, or it has no checkpoint
        return {"run": str(folder), "true": False, "damaged": run.damaged, "checked": [],
                "not_proved": [] if run.damaged else ["it has no checkpoint"]}
    intervals = run.intervals()
    total, count = len(intervals), min(count, len(intervals))
    chain_file = run.folder / "chain.jsonl"
    salt = sha256(chain_file.read_bytes() if run.chain else b"".join(sorted(run.configs)))
    drawn = draw(total, count, seed, salt)
    best = os.readlink(run.folder / "checkpoints" / "best")
    always = sorted({0, *(i for i, (begin, end) in enumerate(intervals) if folder_of(run.folder, end).name == best
                          or any(begin < step <= end for step in run.needed))} if intervals else set())
    checked = [{"from": max(begin, 0), "to": end, "drawn": i in drawn, "always": i in always,
                **dict(zip(("wrong", "repeated"), repeat(run, begin, end, heed)))}
               for i, (begin, end) in enumerate(intervals) if i in drawn or i in always]
    run.check_averages()
    run.check_shown({c["to"] for c in checked if c["repeated"]}
                    | {step for step in run.needed for c in checked if c["repeated"] and c["from"] < step <= c["to"]})
    steps = [end - max(begin, 0) for begin, end in intervals]
    program = sha256(Path(heed).read_bytes())
    configs = [(step, line["files"]["config.json"]) for step, line in run.lines.items() if step <= run.kept[-1]]
    last = run.lines[run.kept[-1]]
    forged = sorted({n for n in (1, 2, 5, 10, math.ceil(total / 10), math.ceil(total / 2)) if 0 < n <= total})
    return {"run": str(folder),
            "true": bool(intervals) and not run.damaged and not run.not_proved and not any(c["wrong"] for c in checked),
            "chain": run.chain, "chain_hash": salt, "without_line": run.unchained,
            "data": last["data"], "tokenizers": {name: digits for name, digits in last["files"].items() if "tokenizer" in name},
            "configs": [c for n, c in enumerate(configs) if not n or configs[n - 1][1] != c[1]],
            "last_step": run.kept[-1], "lines_beyond": run.lines_beyond(), "intervals": total, "checked": checked,
            "share": sum(c["to"] - c["from"] for c in checked if c["repeated"]) / max(1, sum(steps)),
            "draw": {"seed": seed, "drawn": [list(map(lambda s: max(s, 0), intervals[i])) for i in drawn]},
            "odds_missed": {str(n): odds_missed(total, n, count) for n in forged},
            "begins": {"step": run.begins if run.given else 0, "init_from": run.root.origin.get("init_from", ""),
                       "branches": run.branches},
            "program": program,
            "other_programs": sorted({str(line.get("program", "")) for line in run.lines.values()} - {program, ""}),
            "others": run.others(), "damaged": run.damaged, "not_proved": run.not_proved}


def verdict(c):
    if c["true"]:
        return "TRUE as far as it was repeated"
    return "NOT TRUE" if c["damaged"] or any(p["wrong"] and p["repeated"] for p in c["checked"]) else "NOT PROVED"


def in_words(c):
    yield f"{c['run']}, to step {c['last_step'] if 'last_step' in c else '?'}: {verdict(c)}"
    yield from (f"  damaged: {text}" for text in some(c["damaged"]))
    yield from (f"  not proved: {text}" for text in some(c["not_proved"]))
    if "chain" not in c:
        yield "nothing was repeated"
        return
    yield f"data {c['data']}"
    yield from (f"{name} {digits}" for name, digits in c["tokenizers"].items())
    yield from (f"config.json {digits}, from step {step} on" for step, digits in some(c["configs"]))
    if not c["chain"]:
        yield "no chain.jsonl: an earlier heed wrote none, or it was deleted; only the checkpoints were compared"
    elif c["without_line"]:
        yield f"without a line in chain.jsonl: steps {', '.join(map(str, c['without_line']))}"
    if c["lines_beyond"]:
        yield f"{c['lines_beyond']} lines of metrics.jsonl are of later steps: nothing proves them"
    begin = c["begins"]
    for branch in begin["branches"]:
        whose = "its steps up to there are" if branch["followed"] else "what came before is that run's, not"
        yield f"it branches from {quoted(branch['run'])} at step {branch['step']}: {whose} checked here"
    if begin["init_from"]:
        weights = f"the weights of {quoted(begin['init_from'])}, as step 0 keeps them"
        yield f"it begins with {weights}: where they come from is not checked here"
    yield f"repeated: {sum(p['repeated'] for p in c['checked'])} of {c['intervals']} intervals, {100 * c['share']:.3g} % of the steps"
    for part in c["checked"]:
        why = "always checked" if part["always"] else "drawn"
        found = "not repeated" if not part["repeated"] else "OTHER BYTES" if part["wrong"] else "the same bytes"
        yield f"  steps {part['from']} to {part['to']} ({why}): {found}"
        yield from (f"    {text}" for text in some(part["wrong"]))
    yield f"drawn with seed {c['draw']['seed']} over chain {c['chain_hash'][:16]}"
    for n, odds in c["odds_missed"].items() if len(c["checked"]) < c["intervals"] else ():
        yield f"  the odds that the draw would have missed {n} forged interval{'s' * (n != '1')}: {100 * odds:.3g} %"
    yield f"not checked: {NOT_CHECKED}"
    if c["others"]:
        yield f"not checked, in the run: {', '.join(map(quoted, some(c['others'])))}"
    yield f"repeated with the program {c['program'][:16]}"
    yield from (f"  the run was trained with another: {other[:16]} (no fault in itself)" for other in some(c["other_programs"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--intervals", type=int, default=5, metavar="K")
    parser.add_argument("--seed", default="", metavar="S")
    parser.add_argument("--stem", action="append", default=[], metavar="DIR", help="the run that RUN branches from, if it was moved")
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
    if not os.path.isdir(Path(folder, "checkpoints")):
        sys.exit(printable(f"{folder} is not a run: it has no checkpoints/"))
    found = audit(folder, os.path.abspath(heed), args.intervals, args.seed or secrets.token_hex(8), args.stem)
    print(json.dumps(found) if args.json else "\n".join(map(printable, in_words(found))))
    return 0 if found["true"] else 1


if __name__ == "__main__":
    sys.exit(main())
