"""Training that is killed at a call, loses power there, or has failing calls; and what must survive."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import power_cut

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts/dev"))
import check_run

# Changes to config() of tests/cli/runs.py.
CHAR = {"seed": 3, "train__max_steps": 24, "train__log_every": 1, "train__eval_every": 6, "train__save_every": 2, "train__keep_last": 2,
        "train__ema_decay": 0.9}
CONFIGS = {
    "char": CHAR, "continued": CHAR, "branched": {**CHAR, "optimizer": {"schedule": "wsd"}},
    "bpe": {"seed": 4, "family": "causal_lm", "tokenizer": {"type": "bpe", "vocab_size": 320}, "train__max_steps": 12, "train__log_every": 2,
            "train__eval_every": 3, "train__save_every": 3, "train__keep_last": 1, "train__patience": 9},
    "pairs": {"seed": 5, "family": "seq2seq", "train__max_steps": 12, "train__log_every": 1, "train__eval_every": 4, "train__save_every": 1,
              "train__keep_last": 3, "train__select_by": "bleu"},
    "spans": {"seed": 6, "family": "span_corruption", "tokenizer": {"type": "word"}, "objective__mask_fraction": 0.2, "objective__mean_span": 2,
              "train__max_steps": 12, "train__eval_every": 4, "train__save_every": 2, "train__keep_last": 2},
}
INIT_FROM = ["continued"]  # these start from the weights of a run of the same config
BRANCHED = ["branched"]  # these are branches of a run of the same config
LINE_LOST = "warning: a line is lost"


def snapshot(run):
    """All bytes of a run except its log and lock."""
    return {str(p.relative_to(run)): os.readlink(p) if p.is_symlink() else p.read_bytes() for p in run.rglob("*")
            if (p.is_symlink() or p.is_file()) and p.name not in ("train.log", ".lock")}


class Finding(Exception):
    pass


class Crashes:
    """One config, trained again and again in folder/root from the texts in folder/texts."""

    def __init__(self, heed, calls, folder, name, draw):
        self.heed, self.calls, self.draw = heed, calls, draw
        self.folder, self.name = Path(folder), name
        self.root, self.grave, self.log = (self.folder / n for n in ("root", "grave", "log"))
        self.reference = self.folder / "reference"
        self.options = []
        self.clear()
        self.begin = ["train", self.root / "c.json", "--run", self.root / "run"]
        self.prepare()
        done = self.start(STORM_LOG=self.log)
        if done.returncode != 0:
            raise Finding(f"{name} does not train: {done.stderr}")
        calls_made = power_cut.read_log(self.log)
        self.last_call = max(c.number for c in calls_made)
        self.rare_calls = [c.number for c in calls_made if c.name != "write"]
        shutil.copytree(self.root / "run", self.reference, symlinks=True)

    def prepare(self):
        """What must be there before the training that is stormed."""
        if self.name not in INIT_FROM + BRANCHED:
            return
        first = self.run("train", self.root / "c.json", "--run", self.folder / "texts" / "first", "--stop-at",
                         2 if self.name in INIT_FROM else 15)
        if first.returncode != 0:
            raise Finding(f"{self.name} does not train: {first.stderr}")
        if self.name in INIT_FROM:
            self.options = ["--init-from", self.root / "first"]
        else:
            self.begin = ["resume", self.root / "first", "--branch", self.root / "run"]
        self.clear()

    def run(self, *arguments, **environment):
        env = {**os.environ, "LD_PRELOAD": str(self.calls), "STORM_ROOT": str(self.root),
               "STORM_GRAVE": str(self.grave), **{k: str(v) for k, v in environment.items()}}
        return subprocess.run([self.heed, *map(str, arguments)], capture_output=True, text=True, errors="replace",
                              env=env, timeout=120, stdin=subprocess.DEVNULL)

    def clear(self):
        for folder in (self.root, self.grave):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder / "texts", self.root, symlinks=True)
        self.grave.mkdir()
        self.log.unlink(missing_ok=True)

    def start(self, **environment):
        """Trains, or resumes an existing run."""
        run = self.root / "run"
        if (run / "config.json").exists():
            return self.run("resume", run, "--threads", self.draw.randint(1, 3), **environment)
        return self.train(**environment)

    def train(self, *arguments, **environment):
        return self.run(*self.begin, "--threads", self.draw.randint(1, 3), *self.options, *arguments, **environment)

    def finish(self, lines_lost=False):
        """Resumes without faults; the run must end like the reference, without the lines that heed said are lost."""
        done = self.start()
        if done.returncode != 0:
            raise Finding(f"cannot be resumed, exit {done.returncode}: {done.stderr}")
        first = self.folder / "texts" / "first"
        if first.exists() and snapshot(first) != snapshot(self.root / "first"):
            raise Finding("the run that it began with has changed")
        try:
            check_run.compare(str(self.root / "run"), str(self.reference), lines_lost)
        except (AssertionError, OSError, ValueError) as error:
            raise Finding(f"the resumed run is another: {error}") from error

    def steps(self):
        return {p.name for p in (self.root / "run" / "checkpoints").glob("step-*")}

    def force(self, **environment):
        """Trains again over a finished run, which must survive under its own or another name."""
        self.clear()
        shutil.copytree(self.reference, self.root / "run", symlinks=True)
        done = self.train("--force", **environment)
        if done.returncode == -9 and self.draw.random() < 0.7:
            power_cut.cut_power(self.root, self.log, self.grave, self.draw)
        if snapshot(self.reference) not in [snapshot(run) for run in self.root.glob("run*")]:
            raise Finding(f"--force has lost the old run, exit {done.returncode}: {done.stderr}")
        if done.returncode not in (0, 2, 3, 4, -9) or (done.returncode > 0 and "heed: error: " not in done.stderr):
            raise Finding(f"exit {done.returncode} of --force: {done.stderr}")
        self.finish(LINE_LOST in done.stderr)
        return done.returncode

    def crash(self):
        """Kills one to three times, usually with a power cut, and resumes. Returns the number of kills."""
        if self.draw.random() < 0.3:
            call = self.draw.randint(1, self.draw.choice([30, self.last_call]))
            return self.force(STORM_LOG=self.log, STORM_KILL=call, STORM_HOW=self.draw.randint(0, 2)) == -9
        self.clear()
        kills, durable = 0, set()
        for _ in range(self.draw.randint(1, 3)):
            cut = self.draw.random() < 0.7
            self.log.unlink(missing_ok=True)
            shutil.rmtree(self.grave)
            self.grave.mkdir()
            call = self.draw.choice([self.draw.randint(1, self.last_call), self.draw.choice(self.rare_calls)])
            done = self.start(STORM_LOG=self.log, STORM_KILL=call, STORM_HOW=self.draw.randint(0, 2))
            if done.returncode == 0:
                break
            if done.returncode != -9:
                raise Finding(f"exit {done.returncode} instead of being killed: {done.stderr}")
            kills += 1
            durable = power_cut.durable_checkpoints(self.log) or durable
            if cut:
                power_cut.cut_power(self.root, self.log, self.grave, self.draw)
            run = self.root / "run"
            if durable and max(durable) > max(self.steps(), default=""):
                raise Finding(f"{max(durable)} was saved for good, and is gone; there are {sorted(self.steps())}")
            if (run / "checkpoints").is_dir():
                try:
                    check_run.check_run(str(run))
                except (AssertionError, OSError) as error:
                    raise Finding(f"after a {'power cut' if cut else 'kill'}: {error}") from error
        self.finish()
        return kills

    def fault(self):
        """Makes calls fail at random. Returns how the command ended."""
        probability = 10 ** self.draw.uniform(-4.3, -0.5)
        if self.draw.random() < 0.3:
            return [self.force(STORM_FAULT=probability, STORM_SEED=self.draw.randint(0, 65535))]
        self.clear()
        ends, lines_lost = [], False
        for _ in range(self.draw.randint(1, 3)):
            done = self.start(STORM_FAULT=probability, STORM_SEED=self.draw.randint(0, 65535))
            ends.append(done.returncode)
            lines_lost |= LINE_LOST in done.stderr
            if done.returncode not in (0, 2, 3, 4) or (done.returncode and "heed: error: " not in done.stderr):
                raise Finding(f"exit {done.returncode} with calls that fail: {done.stderr}")
            if "terminate called" in done.stderr:
                raise Finding(done.stderr)
        run = self.root / "run"
        if (run / "checkpoints").is_dir():
            try:
                check_run.check_run(str(run))
            except (AssertionError, OSError) as error:
                raise Finding(f"after faults: {error}") from error
        self.finish(lines_lost)
        return ends
