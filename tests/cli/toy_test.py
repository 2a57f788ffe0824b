"""Whole trainings whose result is known: copying and reversing must be learnt in a few hundred steps."""
import unittest
from pathlib import Path

from runs import RunsTest

ROOT = Path(__file__).resolve().parents[2]


class Toys(RunsTest):
    def test_copying_and_reversing_are_learnt(self):
        for task in ("copy", "reverse"):
            self.train(ROOT / f"configs/{task}.json", task, "-q")
            pairs = ["--file", ROOT / f"data/{task}.test.source", "--target-file", ROOT / f"data/{task}.test.target"]
            found, = self.json("evaluate", task, *pairs, "--bleu", "--beam-size", 1)
            self.assertGreater(found["exact_match"], 0.99)


if __name__ == "__main__":
    unittest.main()
