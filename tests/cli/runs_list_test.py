"""heed runs: which runs there are, in which state, and what they differ in; near names where a run is missing."""
import csv
import io
import json
import os
import shutil
import unittest

from runs import SMALL, STORE, RunsTest, text
from terminal import Terminal


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
        table = self.out("runs").splitlines()
        self.assertEqual(len(table), 3)
        self.assertIn("model.d_model=24 seed=7", "".join(table))
        tsv = list(csv.DictReader(io.StringIO(self.out("runs", "--tsv")), delimiter="\t"))
        self.assertEqual({r["name"]: (float(r["loss"]), r["model.d_model"], int(r["parameters"])) for r in tsv},
                         {r["name"]: (r["loss"], str(r["keys"]["model.d_model"]), r["parameters"]) for r in rows.values()})
        (self.folder / "runs/first/report.html").write_text("a page")
        os.utime(self.folder / "runs/first/report.html", (2e9, 2e9))
        self.assertEqual(self.rows()["first"]["date"], rows["first"]["date"])

    def test_a_line_a_run_shows_what_the_user_chose(self):
        (self.folder / "a text with a rather long name.txt").write_text(text(200))
        config = self.config("own", **SMALL)
        self.train(config, "runs/set", "--set", "train.max_steps=4", "--set=optimizer.warmup_steps=2", "--set", "data.train=a text with a rather long name.txt")
        os.rename(self.folder / "runs/set", self.folder / "runs/a-run-with-quite-a-long-name-of-some-fifty-letters")
        self.train(self.config("mt", family="seq2seq", **SMALL, train__select_by="bleu"), "runs/mt", "--set", "seed=3")
        self.check("resume", "runs/first", "--branch", "runs/branch", "--max-steps", 20)
        self.check("average", "runs/first", "--last", 2)
        (self.folder / "runs/other/checkpoints").mkdir(parents=True)  # another program's
        (self.folder / "runs/other/checkpoints/epoch=1.ckpt").touch()
        (self.folder / "runs/files").mkdir()
        rows = self.rows()
        self.assertEqual(len(rows), 5)
        own = {name: set(row["own_keys"]) for name, row in rows.items()}
        self.assertEqual(own["mt"], {"seed"})
        self.assertEqual(own["second"], {"seed", "model.d_model"})  # not what follows from the end of the run
        self.assertEqual(own["branch"], own["second"])
        self.assertLessEqual({"train.max_steps", "optimizer.warmup_steps"}, own["a-run-with-quite-a-long-name-of-some-fifty-letters"])
        given = ["data.train", "optimizer.warmup_steps", "train.max_steps"]  # these come first
        long = rows["a-run-with-quite-a-long-name-of-some-fifty-letters"]
        self.assertEqual(list(long["own_keys"])[:3], given)
        self.assertEqual(json.loads((self.folder / "runs" / long["name"] / "origin.json").read_text())["given"], given)
        self.assertEqual(list(rows["mt"]["metric"]), ["bleu"])
        self.assertEqual((rows["mt"]["data"], rows["first"]["data"]), ("a pairs", "a.txt"))
        inspected, = self.json("inspect", "runs/first")
        self.assertEqual(rows["first"]["parameters"], inspected["parameters"])
        for columns in (60, 80, 120):
            t = Terminal("runs", cwd=self.folder, columns=columns, env={"NO_COLOR": "1"})
            self.addCleanup(t.close)
            lines = t.end()[1].splitlines()
            self.assertEqual(len(lines), 1 + len(rows), lines)
            self.assertEqual([line for line in lines if len(line) > columns], [])
            self.assertIn("seed=7" if columns > 60 else "model.d_", "".join(lines))
        self.assertIn("bleu", "".join(lines))
        t = Terminal("runs", "--sort", "bleu", cwd=self.folder, columns=60)
        self.addCleanup(t.close)
        self.assertIn("bleu", t.end()[1])
        losses = [row["loss"] for row in self.json("runs", "--sort", "loss")]
        self.assertEqual(losses, sorted(losses))
        self.assertEqual([row["name"] for row in self.json("runs", "--sort", "model.d_model")][-1], "second")
        for key in ("bleu", "metric"):
            self.assertEqual(self.json("runs", "--sort", key)[0]["name"], "mt")
        errors = self.config("errors", family="seq2seq", **SMALL, train__select_by="token_errors", optimizer={"learning_rate": 0.02})
        for run, steps in (("much", 2), ("little", 40)):
            self.train(errors, f"errors/{run}", "--set", f"train.max_steps={steps}")
        for key in ("token_errors", "metric"):  # the best, which is the least
            sorted_runs = self.json("runs", "errors", "--sort", key)
            by = [row["metric"]["token_errors"] for row in sorted_runs]
            self.assertTrue(0 <= by[0] < by[1], by)
        for key in ("zzz", "keys", "own_keys"):
            self.check("runs", "--sort", key, status=2, facts=key)
        self.assertEqual(len(self.json("runs", "runs", "runs/first", "runs/first/")), len(rows))  # each once
        self.check("runs", "--tsv", "--json", facts=["without --json"])
        self.assertEqual([row["name"] for row in self.json("runs", "runs/second", "first", "--sort", "name")], ["first", "second"])
        self.assertIn("train.max_steps=4", self.out("runs", "--keys"))

    def test_states(self):
        self.train(self.config("s", **SMALL), "runs/stopped", "--stop-at", 5)
        shutil.copytree(self.folder / "runs/first", self.folder / "runs/damaged", symlinks=True)
        (self.folder / "runs/damaged/config.json").write_text("{")
        shutil.copytree(self.folder / "runs/first", self.folder / "runs/unread", symlinks=True)
        next((self.folder / "runs/unread/checkpoints").glob("step-*/state.json")).write_text("x")
        self.train(self.config("d", **SMALL, optimizer={"learning_rate": 1e6, "clip_norm": 0}), "runs/diverged", status=5)
        p = self.spawn("train", self.config("long", **{**SMALL, "train__max_steps": 10**6}), "--run", "runs/running")
        metrics = self.folder / "runs/running/metrics.jsonl"
        self.wait_for(lambda: metrics.exists() and '"kind":"train","step":25,' in metrics.read_text(), p)
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
