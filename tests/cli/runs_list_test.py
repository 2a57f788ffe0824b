"""heed runs: which runs there are, in which state, and what they differ in; near names where a run is missing."""
import json
import os
import shutil
import time
import unittest

from runs import SMALL, RunsTest

STORE = 4


class ListOfRuns(RunsTest):
    RUNS = {"first": SMALL, "second": {**SMALL, "model__d_model": 24, "seed": 7}}

    def setUp(self):
        super().setUp()
        (self.folder / "runs").mkdir()
        for run in self.RUNS:
            (self.folder / run).rename(self.folder / "runs" / run)

    def rows(self, *args):
        return {j["name"]: j for j in self.json("runs", *args)}

    def test_runs_are_listed_with_what_they_differ_in(self):
        rows = self.rows()
        self.assertEqual(set(rows), {"first", "second"})
        self.assertEqual({key: row["keys"] for key, row in rows.items()},
                         {"first": {"seed": 1, "model.d_model": 16}, "second": {"seed": 7, "model.d_model": 24}})
        e, = self.json("evaluate", "runs/first")
        for key, value in (("step", 12), ("state", "finished"), ("best_step", e["step"]), ("loss", e["loss"]),
                           ("bits_per_byte", e["bits_per_byte"])):
            self.assertEqual(rows["first"][key], value)
        size = sum(p.stat().st_size for p in (self.folder / "runs/first").rglob("*") if p.is_file() and not p.is_symlink()
                   and not p.parent.is_symlink())
        self.assertEqual(rows["first"]["bytes"], size)
        table = self.out("runs").splitlines()
        self.assertEqual(len(table), 3)
        self.assertIn("model.d_model=24 seed=7", "".join(table))
        tsv = [line.split("\t") for line in self.out("runs", "--tsv").splitlines()]
        self.assertEqual([len(row) for row in tsv], [8, 8, 8])
        (self.folder / "runs/first/report.html").write_text("a page")
        os.utime(self.folder / "runs/first/report.html", (2e9, 2e9))
        self.assertEqual(self.rows()["first"]["date"], rows["first"]["date"])

    def test_a_name_cannot_control_a_terminal_behind_a_pipe(self):
        (self.folder / "runs/first").rename(self.folder / "runs/fi\x1b[2Jrst")
        for args in ([], ["--tsv"]):
            shown = self.out("runs", *args)
            self.assertNotIn("\x1b", shown)
            self.assertIn("fi<0x1B>[2Jrst", shown)

    def test_states(self):
        self.train(self.config("s", **SMALL), "runs/stopped", "--stop-at", 5)
        shutil.copytree(self.folder / "runs/first", self.folder / "runs/damaged", symlinks=True)
        (self.folder / "runs/damaged/config.json").write_text("{")
        shutil.copytree(self.folder / "runs/first", self.folder / "runs/unread", symlinks=True)
        next((self.folder / "runs/unread/checkpoints").glob("step-*/state.json")).write_text("x")
        self.train(self.config("d", **SMALL, optimizer={"learning_rate": 1e6, "clip_norm": 0}), "runs/diverged", status=5)
        p = self.spawn("train", self.config("long", **{**SMALL, "train__max_steps": 10**6}), "--run", "runs/running")
        while p.poll() is None and not (self.folder / "runs/running/checkpoints").exists():
            time.sleep(0.01)
        while not [e for e in self.metrics("runs/running", "train") if e["step"] > 20]:
            time.sleep(0.01)
        rows = self.rows()
        states = {name: row["state"] for name, row in rows.items()}
        self.assertGreater(rows["running"]["step"], 20)
        p.terminate()
        p.communicate()
        self.assertEqual(states, {"first": "finished", "second": "finished", "stopped": "stopped", "damaged": "damaged", "unread": "damaged",
                                  "diverged": "diverged", "running": "running"})

    def test_a_run_that_is_not_there_comes_with_those_that_are(self):
        self.check("evaluate", "frist", status=STORE, facts=["frist", "first"])
        self.check("evaluate", "zzz", status=STORE, facts=["zzz", "first", "second"])
        (self.folder / "none").mkdir()
        self.check("runs", "none", status=STORE, facts="none")


if __name__ == "__main__":
    unittest.main()
