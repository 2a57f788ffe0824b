"""A finished run that gets a later end: `heed resume RUN --more N` writes the branch RUN-2 and leaves RUN as it is.

Each call that writes, up to the branch's first checkpoints, is a case: heed is killed there, or that call fails. Then RUN is
what it was, to the byte; the branch, or another one that the same command makes, ends in the bytes of a branch that nothing
happened to; and nothing temporary is left. It happens in a plain folder, in one behind a symbolic link, and in the lower layer
of an overlay file system, where no folder can be renamed.
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
# How many errors calls.c knows for a call.
ERRORS = {"create": 3, "truncate": 3, "open": 3, "mkdir": 3, "write": 5, "sync": 2, "symlink": 2, "rename": 2, "unlink": 2,
          "rmdir": 2, "cut": 1}


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

    written = "run-2"

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
        self.before = snapshot(run)
        self.begin = ["resume", run, "--more", MORE, "--json"]
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
        """The calls that write of the command, until the branch has its first checkpoints and one of its own."""
        self.clear()
        done = self.train(STORM_LOG=self.log, **environment)
        if done.returncode != 0:
            raise Finding(f"{self.name} gets no later end: {done.stderr}")
        calls = power_cut.read_log(self.log)
        saves = [c.number for c in calls if c.name == "symlink" and "run-2" in c.path and "/checkpoints/" in c.path]
        return [c for c in calls if c.number < saves[min(len(saves), 6) - 1] and c.name != "look"]

    def cases(self):
        # What comes before a call comes after the one before it, so to be killed there is only one case.
        kills, fails = self.calls_that_write
        killed = [("kill", kills[0].number, 0), *(("kill", c.number, 2) for c in kills),
                  *(("kill", c.number, 1) for c in kills if c.name == "write")]
        failed = [("fail", c.number, error) for c in fails for error in range(ERRORS[c.name])]
        return killed + failed

    def check(self, what):
        """Whatever happened, the run is what it was, and whatever there is of branches is whole."""
        if snapshot(self.root / "run") != self.before:
            raise Finding(f"{what}: the run has changed")
        for branch in self.root.glob("run-*"):
            if (branch / "chain.jsonl").exists():
                try:
                    check_run.check_run(str(branch))
                except (AssertionError, OSError) as error:
                    raise Finding(f"{what}: {error}") from error

    def finish(self, lines_lost=False):
        """Goes on as the user would who types the same command again and does what it says."""
        done = self.start()
        if done.returncode == 2 and "which is not finished" in done.stderr:
            branch = done.stderr.split('"')[3]
            done = self.run("resume", branch, "--threads", self.draw.randint(1, 3), "--json")
        elif done.returncode == 2 and ", which ends at step" in done.stderr:
            branch = done.stderr.split('"')[3]
            done.returncode = 0
        elif done.returncode == 0:
            branch = json.loads(done.stdout)["run"]
        if done.returncode != 0:
            raise Finding(f"gets no later end any more, exit {done.returncode}: {done.stderr}")
        self.check("at its later end")
        left = [str(p) for p in self.root.rglob(".tmp-*")]
        if left:
            raise Finding(f"left behind: {left}")
        self.written = os.path.basename(branch)
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
            self.check("after a call that failed")
            self.finish(crashes.LINE_LOST in done.stderr)
        return done.returncode
