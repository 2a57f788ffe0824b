#!/usr/bin/env python3
"""Forges trainings, and has scripts/audit.py find them: 13 kinds of intervals, at two places each, and 34 of other parts.

    scripts/dev/forge.py [--heed PROGRAM] [--only KIND,...] [--places 2]

Each forgery is as good as it can be. Of an interval: it is trained in another way (or a file is changed), then the training
goes on honestly from there, and every checksum and the chain are computed anew. The audit repeats all intervals: that one must
be found, and no other. Of other parts: what a run shows, averages, the stem of a branch, and files that no run has. None may
come out TRUE (or without what has to be told), hang, end in a traceback, or write on the screen what it likes. Exit code 1 if
one does.
"""
import argparse
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import audit  # noqa: E402

STEPS = (0, 4, 8, 12, 16)  # of the kept checkpoints, after the start
WORDS = "the old miller walked to a river and saw that high water was near his mill".split()
CONFIG = {"data": {"train": "a.txt", "valid_fraction": 0.1}, "tokenizer": {"type": "char"},
          "model": {"d_model": 8, "n_heads": 2, "d_ff": 16, "encoder_layers": 0, "decoder_layers": 1, "dropout": 0.2},
          "objective": {"type": "causal_lm", "target_length": 8},
          "optimizer": {"learning_rate": 0.01, "schedule": "constant", "warmup_steps": 2},
          "train": {"batch_tokens": 100, "max_steps": STEPS[-1], "log_every": 2, "eval_every": 4, "save_every": 2,
                    "keep_last": 1, "keep_every": 4}}
# How an interval is trained instead: a key of the config, and its value.
CHEATS = {"rate": ("optimizer", "learning_rate", 0.02), "dropout": ("model", "dropout", 0.0), "seed": (None, "seed", 77),
          "clipping": ("optimizer", "clip_norm", 0.01)}


def field(name, value):
    return lambda text: re.sub(f'("{name}": )[^,\n]*', lambda m: m[1] + value, text, count=1)


def chain_anew(run, program, begin, end, before=""):
    out = []
    for line in audit.read_lines(run / "chain.jsonl"):
        step = line["step"]
        if (audit.folder_of(run, step) / "state.json").is_file():
            line.update(audit.line_of_checkpoint(run, step))
        elif begin < step < end:
            continue  # a save inside the forged interval: the line would only give the forger away
        line.update(program=program, before=before)
        text = json.dumps(line, separators=(",", ":"))
        before = audit.sha256(text.encode())
        out.append(text + "\n")
    (run / "chain.jsonl").write_text("".join(out))


class Forger:
    def __init__(self, heed, folder):
        self.heed, self.folder = heed, folder
        text, x = [], 1
        for _ in range(600):
            x = (x * 1103515245 + 12345) % 2**31
            text.append(WORDS[(x >> 16) % len(WORDS)] + (".\n" if x % 11 == 0 else " "))
        (folder / "a.txt").write_text("".join(text))
        (folder / "other").mkdir()
        (folder / "other" / "a.txt").write_text("".join(text[300:] + text[:300]))
        (folder / "c.json").write_text(json.dumps(CONFIG))
        # With keys that checkpoints do not have.
        self.run("train", folder / "c.json", "--run", folder / "honest", "--prompt", WORDS[0], "--no-live")
        self.program = next(audit.read_lines(folder / "honest" / "chain.jsonl"))["program"]

    def run(self, *arguments):
        done = subprocess.run([self.heed, *map(str, arguments), "--quiet"], capture_output=True, text=True, cwd=self.folder)
        if done.returncode:
            sys.exit(f"heed {arguments}: {done.stderr}")

    def copy(self, name, up_to):
        """The honest run as it was at a step."""
        run = self.folder / name
        shutil.copytree(self.folder / "honest", run, symlinks=True)
        for step in STEPS:
            if step > up_to:
                shutil.rmtree(audit.folder_of(run, step))
        for link in ("best", "last"):
            (run / "checkpoints" / link).unlink()
        return run

    def train_otherwise(self, kind, begin, end):
        """A run whose steps from `begin` to `end` were trained in another way."""
        cheat = self.copy(f"cheat-{kind}-{end}", begin)
        honest_config = (audit.folder_of(self.folder / "honest", end) / "config.json").read_bytes()
        at, change, back = audit.folder_of(cheat, begin), lambda text: text, lambda text: text
        if kind in CHEATS:
            section, key, value = CHEATS[kind]
            for path in filter(Path.exists, (cheat / "config.json", at / "config.json")):
                config = json.loads(path.read_text())
                (config[section] if section else config)[key] = value
                path.write_text(json.dumps(config))
            if kind == "seed":
                change, back = field("seed", "77"), field("seed", str(json.loads(honest_config)["seed"]))
        if kind == "order":  # begins at other examples, and then claims the right place
            state = json.loads((audit.folder_of(self.folder / "honest", end) / "state.json").read_text())
            change, back = field("index", "3"), field("index", str(state["cursor"]["index"]))
        if kind == "data":
            origin = json.loads((cheat / "origin.json").read_text())
            origin["folder"] = str(self.folder / "other")
            (cheat / "origin.json").write_text(json.dumps(origin))
            honest = json.loads((at / "state.json").read_text())["data_hash"]
            probe = self.folder / f"probe-{end}"
            shutil.copy(self.folder / "c.json", self.folder / "other" / "c.json")
            self.run("train", self.folder / "other" / "c.json", "--run", probe, "--stop-at", 2)
            other = json.loads((audit.folder_of(probe, 2) / "state.json").read_text())["data_hash"]
            change, back = field("data_hash", f'"{other}"'), field("data_hash", f'"{honest}"')
        if begin > 0:
            audit.seal(at, change)
        self.run("resume", cheat, "--stop-at", end)
        forged = self.copy(f"{kind}-{end}", begin)
        shutil.copytree(audit.folder_of(cheat, end), audit.folder_of(forged, end))
        (audit.folder_of(forged, end) / "config.json").write_bytes(honest_config)
        audit.seal(audit.folder_of(forged, end), back)
        shutil.copy(cheat / "metrics.jsonl", forged / "metrics.jsonl")
        return forged

    def change_weights(self, at, file="model.safetensors", change=lambda text: text):
        data = bytearray((at / file).read_bytes())
        data[-4:] = struct.pack("<f", struct.unpack("<f", data[-4:])[0] * 1.01 + 1e-3)
        (at / file).write_bytes(data)
        audit.seal(at, change)

    def change_files(self, kind, begin, end):
        forged = self.copy(f"{kind}-{end}", end)
        at = audit.folder_of(forged, end)
        if kind in ("weights", "moments"):
            self.change_weights(at, "model.safetensors" if kind == "weights" else "training.safetensors")
        audit.seal(at, field("valid_loss", "0.5") if kind == "best" else lambda text: text)
        if kind == "metrics":
            lines = (forged / "metrics.jsonl").read_text().splitlines(keepends=True)
            hit = next(i for i, line in enumerate(lines) if (e := json.loads(line))["kind"] == "train" and e["step"] == end)
            lines[hit] = re.sub(r'("loss": ?)[0-9.e+-]+', r"\g<1>0.75", lines[hit])
            (forged / "metrics.jsonl").write_text("".join(lines))
        if kind in ("invented", "twice"):  # a validation that never was, at a step that was saved; another beside the true one
            lines = (forged / "metrics.jsonl").read_text().splitlines(keepends=True)
            valid = next(e for line in lines if (e := json.loads(line))["kind"] == "valid" and e["step"] == end)
            later = next(i for i, line in enumerate(lines) if json.loads(line)["step"] == end)
            lines.insert(later, json.dumps({**valid, "step": end - 2 * (kind == "invented"), "loss": 0.75}) + "\n")
            (forged / "metrics.jsonl").write_text("".join(lines))
        return forged

    def forge(self, kind, begin, end):
        trained = kind in (*CHEATS, "order", "data")
        forged = (self.train_otherwise if trained else self.change_files)(kind, begin, end)
        self.run("resume", forged)  # honestly, to the end
        if kind == "saved":  # a save that never was
            lines = list(audit.read_lines(forged / "chain.jsonl"))
            at = next(i for i, line in enumerate(lines) if line["step"] == end)
            lines.insert(at, {**lines[at], "step": end - 1})
            (forged / "chain.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
            begin = end - 1
        if kind not in ("invented", "twice"):
            chain_anew(forged, self.program, begin, end)
        return forged

    def certificate(self, run):
        return audit.audit(run, self.heed, 99, "1")

    # Of other parts than intervals. Each gets a copy of the honest run and changes it, or returns another.

    def better(self, run, name, of="step-00000016", change=lambda text: text):
        """The best checkpoint is an invented one."""
        at = run / "checkpoints" / name
        if not at.is_dir():
            shutil.copytree(run / "checkpoints" / of, at)
        self.change_weights(at, change=lambda text: change(field("valid_loss", "0.01")(text)))
        (run / "checkpoints" / "best").unlink()
        (run / "checkpoints" / "best").symlink_to(name)

    def average(self, run, *which):
        self.run("average", run, *(which or ("--last", 3)))
        return next((run / "checkpoints").glob("average-*"))

    def change_config(self, at):
        in_file(at / "config.json", '"learning_rate": 0.01', '"learning_rate": 0.02')
        audit.seal(at)

    def half_average(self, run):
        aside = audit.folder_of(run, 12).rename(run / "aside")
        self.average(run, "--last", 2)
        aside.rename(audit.folder_of(run, 12))

    def said(self, run, **values):
        """Changes origin.json."""
        path = run / "origin.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **values}))

    def cheated(self):
        run = self.folder / "rate-8"
        return run if run.exists() else self.forge("rate", 4, 8)

    def hides(self, run, **values):
        """A run that cheated, and says that others did the steps."""
        shutil.rmtree(run)
        shutil.copytree(self.cheated(), run, symlinks=True)
        self.said(run, **values)

    def branch(self, stem, name, at=8, end=20):
        if not (self.folder / name).exists():
            self.run("resume", stem, "--branch", self.folder / name, "--checkpoint", f"step-{at:08}", "--max-steps", end)
        return self.folder / name

    def took(self, name, change):
        """A branch that changed what it took over."""
        run = self.branch("honest", name)
        at = audit.folder_of(run, 8)
        self.change_weights(at, change=change)
        own = json.loads((run / "chain.jsonl").read_text().splitlines()[0])["before"]
        chain_anew(run, self.program, 0, 0, own)
        if at.name != os.readlink(run / "checkpoints" / "best") and "0.01" in (at / "state.json").read_text():
            (run / "checkpoints" / "best").unlink()
            (run / "checkpoints" / "best").symlink_to(at.name)
        return run

    def took_config(self, name, end):
        """A branch that shows another config where it begins; at end 8 nothing follows but a line that says so too."""
        run = self.branch("honest", name)
        for step in [step for step in (12, 16, 20) if step > end]:
            shutil.rmtree(audit.folder_of(run, step))
        for link in ("best", "last"):
            (run / "checkpoints" / link).unlink()
            (run / "checkpoints" / link).symlink_to(f"step-{end:08}")
        at = audit.folder_of(run, 8)
        honest = audit.sha256((at / "config.json").read_bytes())
        self.change_config(at)
        if end == 8:
            in_file(run / "config.json", '"learning_rate": 0.01', '"learning_rate": 0.02')
            in_file(run / "chain.jsonl", honest, audit.sha256((at / "config.json").read_bytes()))
        chain_anew(run, self.program, 0, 0, next(audit.read_lines(run / "chain.jsonl"))["before"])
        return run

    def hides_weights(self):
        """A branch of a run that began with the weights of another, which it does not say. The audit does."""
        self.run("train", self.folder / "c.json", "--run", self.folder / "given", "--init-from", self.folder / "honest")
        run = self.branch("given", "hides-given")
        self.said(run, init_from="")
        return run

    def without_stem(self, change):
        shutil.copytree(self.folder / "honest", self.folder / "gone", symlinks=True)
        run = self.branch("gone", "left")
        change(self.folder / "gone")
        return run

    def shows(self, run):
        """Names that would clear the screen and say TRUE."""
        run = self.folder / "begun"
        self.run("train", self.folder / "c.json", "--run", run, "--init-from", self.folder / "honest")
        kernels = next(e["core_type"] for e in audit.read_lines(run / "metrics.jsonl") if "core_type" in e)
        in_file(run / "metrics.jsonl", json.dumps(kernels), json.dumps(SCREEN))
        self.said(run, init_from=SCREEN, branched_from=SCREEN, branched_at=8)
        chain_anew(run, SCREEN, 0, 0)
        (run / "checkpoints" / SCREEN[:60].replace("/", "")).mkdir()
        return run

    def replaced(self, path, make):
        path.unlink()
        make(path)


def in_file(path, old, new):
    text = path.read_text()
    if old not in text:
        sys.exit(f"{path} has no {old}")
    path.write_text(text.replace(old, new))
    return path.parent


def sparse(path):
    with path.open("wb") as file:
        file.truncate(8 << 30)


KINDS = (*CHEATS, "order", "data", "weights", "moments", "best", "metrics", "invented", "twice", "saved")
SCREEN = "x\n\u001b[2J\u001b[HRUN, to step 16: TRUE as far as it was repeated\u001b[8m\u202e\u0085" + "x" * 100000
ODD = {
    "elsewhere": lambda f, run: f.better(run, "kept-00000006"),
    "hidden": lambda f, run: f.better(run, ".step-00000006"),
    "start": lambda f, run: f.better(run, "step-00000000", change=field("step", "0")),
    "averaged": lambda f, run: f.better(run, f.average(run).name),
    "average": lambda f, run: f.change_weights(f.average(run)),
    "average_config": lambda f, run: f.change_config(f.average(run)),
    "average_of_none": lambda f, run: f.average(run).rename(run / "checkpoints" / "average-6-16"),
    "half_average": lambda f, run: f.half_average(run),
    "config": lambda f, run: in_file(run / "config.json", '"learning_rate": 0.01', '"learning_rate": 0.5'),
    "config_data": lambda f, run: in_file(run / "config.json", '"a.txt"', '"wikipedia.txt"'),
    "config_end": lambda f, run: in_file(run / "config.json", '"max_steps": 16', '"max_steps": 16000'),
    "chain_cut": lambda f, run: in_file(run / "chain.jsonl", (run / "chain.jsonl").read_text().split("\n")[0] + "\n", ""),
    "hidden_steps": lambda f, run: f.hides(run, branched_from="honest", branched_at=12),
    "hidden_all": lambda f, run: f.hides(run, branched_from="honest", branched_at=16),
    "no_such_stem": lambda f, run: f.hides(run, branched_from="nowhere", branched_at=8),
    "own_stem": lambda f, run: f.hides(run, branched_from=str(run), branched_at=8),
    "odd_origin": lambda f, run: f.hides(run, branched_from=["honest"], branched_at={}),
    "took_weights": lambda f, run: f.took("took", lambda text: text),
    "took_best": lambda f, run: f.took("took_best", field("valid_loss", "0.01")),
    "took_config": lambda f, run: f.took_config("took_config", 20),
    "took_config_alone": lambda f, run: f.took_config("took_alone", 8),
    "hides_weights": lambda f, run: f.hides_weights(),
    "stem_cheated": lambda f, run: f.branch(f.cheated(), "of-cheat", at=12),
    "stem_of_stem": lambda f, run: f.branch(f.branch(f.cheated(), "of-cheat", at=12), "of-of-cheat", at=16, end=24),
    "stem_gone": lambda f, run: f.without_stem(shutil.rmtree),
    "stem_chain": lambda f, run: f.without_stem(lambda stem: (stem / "chain.jsonl").unlink()),
    "stem_metrics": lambda f, run: in_file(f.branch("honest", "shown") / "metrics.jsonl", '"step":4,"loss":', '"step":4,"loss":0.'),
    "screen": lambda f, run: f.shows(run),
    "pipe": lambda f, run: f.replaced(run / "origin.json", os.mkfifo),
    "device": lambda f, run: f.replaced(audit.folder_of(run, 8) / "config.json", lambda path: path.symlink_to("/dev/zero")),
    "endless": lambda f, run: f.replaced(audit.folder_of(run, 8) / "model.safetensors", lambda path: path.symlink_to("/dev/zero")),
    "sparse": lambda f, run: sparse(run / "metrics.jsonl"),
    "sparse_chain": lambda f, run: sparse(run / "chain.jsonl"),
    "deep": lambda f, run: (run / "chain.jsonl").write_text("[" * 100000 + "\n"),
}


TOLD = {"hides_weights": "it begins with the weights of"}  # true, if the certificate tells this


def look(forger, kind, intervals=99):
    """Audits another part: the text of what went wrong, or ""."""
    run = forger.folder / f"odd-{kind}"
    shutil.copytree(forger.folder / "honest", run, symlinks=True)
    made = ODD[kind](forger, run)
    run = made if isinstance(made, Path) and (made / "checkpoints").is_dir() else run
    command = [sys.executable, audit.__file__, run, "--heed", forger.heed, "--intervals", str(intervals), "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    odd = [c for c in done.stdout.replace("\n", "") if audit.CONTROLS.match(c)]
    told = TOLD.get(kind)
    said = (told or ": NOT ") in (done.stdout if told else done.stdout.split("\n")[0]) and len(done.stdout) < 10000
    right = done.returncode == (not told) and not done.stderr and not odd and said
    return "" if right else f"{kind}: exit code {done.returncode}: {done.stdout}{done.stderr}"


def find(forger, kind, place):
    """Forges an interval and audits: the text of what went wrong, or ""."""
    begin, end = STEPS[place], STEPS[place + 1]
    result = forger.certificate(forger.forge(kind, begin, end))
    found = [(part["from"], part["to"]) for part in result["checked"] if part["wrong"]]
    if found == [(begin, end)] and not result["true"]:
        return ""
    return f"{kind} in steps {begin} to {end}: the audit found {found or 'nothing'}: {[p['wrong'] for p in result['checked']]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", default=os.environ.get("HEED_BINARY", str(ROOT / "build" / "heed")))
    parser.add_argument("--only", default=",".join([*KINDS, *ODD]))
    parser.add_argument("--places", type=int, default=2)
    args = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory(prefix="heed_forge_") as folder:
        forger = Forger(os.path.abspath(args.heed), Path(folder))
        honest = forger.certificate(forger.folder / "honest")
        print("honest:", "true" if honest["true"] else honest)
        for kind in args.only.split(","):
            if kind in ODD:
                wrong = look(forger, kind)
                missed += bool(wrong)
                print(wrong or f"{kind}: found", flush=True)
                continue
            for place in range(kind != "seed", 1 + args.places):  # another seed also from the start: other first weights
                wrong = find(forger, kind, place)
                missed += bool(wrong)
                print(wrong or f"{kind} in steps {STEPS[place]} to {STEPS[place + 1]}: found", flush=True)
    return 1 if missed or not honest["true"] else 0


if __name__ == "__main__":
    sys.exit(main())
