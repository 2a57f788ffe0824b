"""A finished run that gets a later end: `heed resume RUN --more N` sets it aside as RUN.old-1 and goes back in its place.

Each call that writes, up to the first new checkpoint, is a case: heed is killed there, or that call fails. Then RUN.old-1
is the run as it was, or not there; RUN goes on, to either end, in the bytes of a run that nothing happened to; the best model
is in one of them; what the user keeps in RUN stays; and nothing temporary is left. It happens in a plain folder, in one
behind a symbolic link, and in the lower layer of an overlay file system, where no folder can be renamed.
"""
import json
import os
import shutil
import subprocess

import check_run
import crashes
import power_cut
from crashes import Finding, snapshot

WSD = '"optimizer": {"schedule": "wsd", "warmup_steps": 2}, "train": {'
CONFIGS = {
    "fall": crashes.CONFIGS["char"].replace('"train": {', WSD).replace('"max_steps": 24', '"max_steps": 12').replace(
        '"eval_every": 6', '"eval_every": 3'),
    "fall-bleu": crashes.CONFIGS["pairs"].replace('"train": {', WSD).replace('"save_every": 1', '"save_every": 2'),
}
MORE = 4  # steps
PLACES = ("folder", "link", "overlay")
OWN = "notes.txt"  # the user's
BESIDE = (OWN, "report.html")  # stay where they are
# How many errors calls.c knows for a call.
ERRORS = {"link": 3, "create": 3, "truncate": 3, "open": 3, "mkdir": 3, "write": 5, "sync": 2, "symlink": 2, "rename": 2,
          "unlink": 2, "rmdir": 2, "cut": 1}


def mount_overlay(layers, place):
    """Mounts layers/lower, with what is written to it in layers/upper; returns whether that worked."""
    for name in ("upper", "work"):
        shutil.rmtree(layers / name, ignore_errors=True)
        (layers / name).mkdir(parents=True)
    options = ",".join(f"{name}dir={layers / name}" for name in ("lower", "upper", "work")) + ",redirect_dir=off"
    return subprocess.run(["mount", "-t", "overlay", "-o", options, "overlay", place], capture_output=True).returncode == 0


def can_mount_overlay(folder):
    for name in ("layers/lower", "place"):
        (folder / name).mkdir(parents=True)
    can = mount_overlay(folder / "layers", folder / "place")
    if can:
        subprocess.run(["umount", folder / "place"], check=True)
    shutil.rmtree(folder)
    return can


class LaterEnd(crashes.Crashes):
    """One config in one of PLACES. The run is root/run."""

    def __init__(self, heed, calls, folder, name, draw, place):
        self.place = place
        self.layers = None  # of the overlay, once there is one
        super().__init__(heed, calls, folder, name, CONFIGS[name], draw)

    def prepare(self):
        texts = self.folder / "texts"
        first = self.train()
        if first.returncode != 0:
            raise Finding(f"{self.name} does not train: {first.stderr}")
        run = self.root / "run"
        (run / OWN).write_text("mine")
        self.first_end = self.end_of(run)
        if self.place == "link":
            (texts / "elsewhere").mkdir()
            run.rename(texts / "elsewhere" / "run")
            (texts / "run").symlink_to("elsewhere/run")
        else:
            run.rename(texts / "run")
        if self.place == "overlay":
            self.layers = self.folder / "layers"
            self.layers.mkdir()
            texts.rename(self.layers / "lower")
        self.clear()
        self.before, self.best = snapshot(run), self.best_in(run)
        self.begin = ["resume", run, "--more", MORE]
        self.calls_that_write = [self.first_calls(), self.first_calls(STORM_FAIL=0)]
        self.clear()

    def clear(self):
        if self.layers is None:
            return super().clear()
        self.close()
        shutil.rmtree(self.grave, ignore_errors=True)
        self.grave.mkdir()
        self.log.unlink(missing_ok=True)
        if not mount_overlay(self.layers, self.root):
            raise Finding("the overlay cannot be mounted again")

    def close(self):
        while os.path.ismount(self.root):
            subprocess.run(["umount", self.root], check=True)

    def start(self, **environment):
        return self.train(**environment)

    def first_calls(self, **environment):
        """The calls that write of the command, up to its first checkpoint."""
        self.clear()
        done = self.train("--stop-at", self.first_end, STORM_LOG=self.log, **environment)
        if done.returncode != 0:
            raise Finding(f"{self.name} gets no later end: {done.stderr}")
        calls = power_cut.read_log(self.log)
        aside = max(c.number for c in calls if c.path.startswith(str(self.root / ".tmp-run.old-1-")))
        saving = min(c.number for c in calls if c.number > aside and "/checkpoints/.tmp-step-" in c.path)
        return [c for c in calls if c.number < saving and c.name != "look"]

    def cases(self):
        # What comes before a call comes after the one before it, so to be killed there is only one case.
        kills, fails = self.calls_that_write
        killed = [("kill", kills[0].number, 0), *(("kill", c.number, 2) for c in kills),
                  *(("kill", c.number, 1) for c in kills if c.name == "write")]
        failed = [("fail", c.number, error) for c in fails for error in range(ERRORS[c.name])]
        return killed + failed

    def end_of(self, run):
        return json.loads((run / "config.json").read_text())["train"]["max_steps"]

    def best_in(self, *runs):
        """Of their best checkpoint, the lower the better."""
        states = [json.loads(p.read_text()) for run in runs for p in (run / "checkpoints").glob("step-*/state.json")]
        metric = "valid_loss" if self.name == "fall" else "valid_metric"
        values = [s[metric] for s in states if isinstance(s.get(metric), (int, float))]  # else it was not validated
        return min(values) if self.name == "fall" else -max(values)

    def olds(self):
        return sorted(self.root.glob("run.old-*"))

    def check(self, what):
        """Whatever happened, all is there."""
        run = self.root / "run"
        for old in self.olds():
            if old.name == "run.old-1" and snapshot(old) != {k: v for k, v in self.before.items() if k not in BESIDE}:
                raise Finding(f"{what}: {old.name} is not the run as it was")
            verified = self.run("verify", old)
            if verified.returncode != 0:
                raise Finding(f"{what}: verify of {old.name}: {verified.stdout}{verified.stderr}")
        if (run / OWN).read_text() != "mine":
            raise Finding(f"{what}: {OWN} is lost")
        if self.best_in(run, *self.olds()) > self.best:
            raise Finding(f"{what}: the best model is gone")
        if self.place != "overlay":  # where a checkpoint that is being removed lacks its state first
            try:
                check_run.check_run(str(run))
            except (AssertionError, OSError) as error:
                raise Finding(f"{what}: {error}") from error

    def leftovers(self):
        return [str(p) for p in self.root.rglob(".tmp-*")]

    def finish(self, lines_lost=False):
        """Goes on as the user would who is told "heed resume run", or types the same command again."""
        run = self.root / "run"
        if self.end_of(run) != self.first_end or self.draw.random() < 0.5:
            done = self.run("resume", run, "--threads", self.draw.randint(1, 3))
            if done.returncode != 0:
                raise Finding(f"cannot be resumed, exit {done.returncode}: {done.stderr}")
        if self.end_of(run) == self.first_end:
            done = self.start()
            if done.returncode != 0:
                raise Finding(f"gets no later end any more, exit {done.returncode}: {done.stderr}")
        if "already at step" not in done.stderr and "run.old-" not in done.stderr:
            raise Finding(f"the end does not name what the run was: {done.stderr}")
        self.check("at its later end")
        if self.leftovers():
            raise Finding(f"left behind: {self.leftovers()}")
        self.compare(lines_lost)

    def run_case(self, kind, call, how):
        """Returns how the command ended."""
        self.clear()
        if kind == "kill":
            done = self.start(STORM_LOG=self.log, STORM_KILL=call, STORM_HOW=how)
            cut = self.layers is None and self.draw.random() < 0.5
            if done.returncode != -9:
                raise Finding(f"exit {done.returncode} instead of being killed: {done.stderr}")
            if cut:
                power_cut.cut_power(self.root, self.log, self.grave, self.draw)
            self.check("after a power cut" if cut else "after a kill")
            self.finish()
        else:
            done = self.start(STORM_FAIL=call, STORM_ERROR=how)
            if done.returncode not in (0, 4) or (done.returncode and "heed: error: " not in done.stderr):
                raise Finding(f"exit {done.returncode} with a call that fails: {done.stderr}")
            if done.returncode and not self.olds() and snapshot(self.root / "run") != self.before:
                raise Finding(f"not set aside, but changed: {done.stderr}")
            self.check("after a call that failed")
            self.finish(crashes.LINE_LOST in done.stderr)
        return done.returncode
