"""A whole training whose result is known: copying must be learnt in a few hundred steps. (lesson_test.py has more.)"""
import unittest
from pathlib import Path

from runs import RunsTest

ROOT = Path(__file__).resolve().parents[2]


class Toys(RunsTest):
    def test_copying_is_learnt(self):
        self.train(ROOT / "configs/copy.json", "copy", "-q")
        pairs = ["--file", ROOT / "data/copy.test.source", "--target-file", ROOT / "data/copy.test.target"]
        found, = self.json("evaluate", "copy", *pairs, "--bleu", "--beam-size", 1)
        self.assertGreater(found["exact_match"], 0.99)


if __name__ == "__main__":
    unittest.main()
