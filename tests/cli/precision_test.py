"""train.precision "bfloat16": which commands round, what may change it, and the path without the module."""
import json
import shutil
import subprocess
import unittest
from pathlib import Path

from runs import HEED, SMALL, USAGE, RunsTest

ROUNDED = {"family": "causal_lm", **SMALL, "train__precision": "bfloat16"}
PLAIN = {"family": "causal_lm", **SMALL}


class Precision(RunsTest):
    RUNS = {"run": ROUNDED, "plain": PLAIN}

    def loss(self, run, *args):
        return self.json("evaluate", run, *args)[0]["loss"]

    def test_checkpoints_say_it_where_it_is_not_the_default(self):
        stored = [json.loads((self.step(12, run) / "config.json").read_text())["train"].get("precision") for run in self.RUNS]
        self.assertEqual(stored, ["bfloat16", None])
        self.tells((self.folder / "run/train.log").read_text(), "precision: bfloat16")

    def test_a_run_keeps_its_precision(self):
        change = ["--set", "train.precision=float32"]
        self.resume("run", "--more", 2, *change, status=USAGE, facts="train.precision")
        self.resume("run", "--branch", "other", "--more", 2, *change, status=USAGE, facts="train.precision")
        self.train(self.config("from", **PLAIN), "from", "--init-from", "run")
        portable = self.config("p", **ROUNDED, train__arithmetic="portable")
        self.train(portable, "p", status=USAGE, facts=["train.arithmetic", "train.precision"])

    def test_scores_are_rounded_as_the_run_was_unless_told_otherwise(self):
        rounded, exact = self.loss("run", "--precision", "bfloat16"), self.loss("run", "--precision", "float32")
        self.assertEqual(self.loss("run"), rounded)
        self.assertNotEqual(rounded, exact)
        self.assertAlmostEqual(rounded, exact, delta=0.01)
        self.assertEqual(self.loss("plain"), self.loss("plain", "--precision", "float32"))
        own = self.out("score", "run", "the old miller")
        self.assertEqual(own, self.out("score", "run", "the old miller", "--precision", "bfloat16"))
        self.assertNotEqual(own, self.out("score", "run", "the old miller", "--precision", "float32"))
        self.assertNotEqual(self.loss("run", "--with", "plain"),
                            self.loss("run", "--with", "plain", "--precision", "float32"))

    def test_without_the_module_the_same_is_slower(self):
        alone = shutil.copy(HEED, self.folder / "alone")
        done = subprocess.run([alone, "train", self.config("run", **ROUNDED), "--run", "slow"], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.tells((self.folder / "slow/train.log").read_text(), ["precision: bfloat16", "heed_onednn.so"])
        self.assertAlmostEqual(self.loss("slow"), self.loss("run"), delta=0.01)
        if "oneDNN" in self.out("--version"):
            self.resume("slow", "--more", 2, facts=["slower", "oneDNN"])

    def test_a_broken_module_counts_as_none(self):
        alone, module = shutil.copy(HEED, self.folder / "alone"), self.folder / "heed_onednn.so"
        other = next(Path("/usr/lib").glob("*/libz.so.1")).read_bytes()

        def said():
            done = subprocess.run([alone, "--version"], capture_output=True, text=True, timeout=20)
            self.assertEqual(done.returncode, 0, done.stderr)
            module.unlink()
            return done.stdout

        for broken in other, b"":
            module.write_bytes(broken)
            self.tells(said(), ["slower", "heed_onednn.so"])

    def test_what_onednn_is_told_not_to_use_is_not_used(self):
        self.assertNotIn("AVX512_BF16\n", self.out("--version", env={"ONEDNN_MAX_CPU_ISA": "AVX512_CORE"}))


if __name__ == "__main__":
    unittest.main()
