#!/usr/bin/env python3
"""scripts/dev/measured_tables.py on the repository's own page, and on copies of it in a small repository."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

BY_HAND = {"config": "toy.json", "set": [], "by_hand": True, "reaches": "held out: not much", "time": "1 min",
           "cpu": "a CPU", "threads": 1, "date": "2026-11-01", "commit": "1234567", "remark": " with a patch"}


class MeasuredTables(unittest.TestCase):
    def setUp(self):
        self.repository = pathlib.Path(tempfile.mkdtemp(prefix="heed_test_"))
        self.addCleanup(shutil.rmtree, self.repository)
        for name in ("scripts/heed_runs.py", "scripts/dev/measured_tables.py", "configs/MEASURED.md",
                     "configs/measured.jsonl", "configs/speedruns.jsonl"):
            (self.repository / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.repository / name)
        self.page = self.repository / "configs" / "MEASURED.md"
        self.measured = self.repository / "configs" / "measured.jsonl"
        self.speedruns = self.repository / "configs" / "speedruns.jsonl"

    def tables(self, *arguments, status=0, root=None):
        script = (root or self.repository) / "scripts/dev/measured_tables.py"
        done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def add(self, file, result):
        with file.open("a") as results:
            results.write(json.dumps(result) + "\n")

    def test_the_tables_of_this_repository_are_what_its_data_say(self):
        self.assertEqual(self.tables("--check", root=ROOT), "")

    def test_the_newest_result_is_shown_and_those_by_hand_are_marked(self):
        for date, words in (("2026-11-03", "newest"), ("2026-11-02", "older")):
            self.add(self.measured, {**BY_HAND, "date": date, "reaches": words})
        self.add(self.measured, {**BY_HAND, "set": ["seed=2"], "reaches": "another seed"})
        self.tables()
        rows = [line for line in self.page.read_text().splitlines() if "`toy.json`" in line]
        machine, origin = "1 min | a CPU, 1 thread", "1234567 with a patch, by hand"
        self.assertEqual(rows, [f"| `toy.json` | newest | {machine} | 2026-11-03, {origin} |",
                                f"| `toy.json` with `seed=2` | another seed | {machine} | 2026-11-01, {origin} |"])

    def test_an_option_stands_under_the_baseline_of_its_commit_or_among_the_results(self):
        lines = map(json.loads, self.speedruns.read_text().splitlines())
        relu = next(line for line in lines if line["set"][2:] == ["model.activation=relu"])
        for number, other in enumerate(({}, {"commit": "another"}, {"values": [None, 2.0], "reached": False}), start=1):
            self.add(self.speedruns, {**relu, "set": [*relu["set"][:2], f"model.tried={number}"], "values": [1.9, 2.1],
                                      "mean": 2.0, "seeds": [1, 2], **other})
        self.tables()
        results, options = self.page.read_text().split("<!-- end of results -->")
        self.assertIn("| `model.tried=1` | 2.0000 (1.9000 to 2.1000) | +0.1306 |", options)
        self.assertIn("`model.tried=2`, 2 seeds | loss 2.0000 (1.9000 to 2.1000); ", results)
        self.assertIn("`model.tried=3`, 2 seeds | loss 2.0000, 1 diverged; loss <= 1.88: no", results)


if __name__ == "__main__":
    unittest.main()
