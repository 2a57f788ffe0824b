"""Names of heads: in the film as they come, in attend and on the report's page."""
import json
import re
import unittest
from pathlib import Path

from runs import RunsTest

ROOT = Path(__file__).resolve().parents[2]


class HeadNamesTest(RunsTest):
    def test_repeated_random_tokens_teach_induction_heads(self):
        self.train(ROOT / "configs" / "induction.json")
        a, = self.json("attend", "run", "5 17 9", "--names")
        self.assertEqual({h["layer"] for h in a["head_names"] if h["name"] == "induction"}, {1})
        self.assertEqual({h["layer"] for h in a["head_names"] if h["name"] == "previous token"}, {0})

    def test_a_head_that_reverses_lines_is_named_once_it_aligns_them(self):
        self.train(ROOT / "configs" / "reverse.json", "run", "--set", "train.max_steps=200", "--set", "train.eval_every=40")
        frames = [json.loads(line) for line in (self.folder / "run" / "film.jsonl").read_text().splitlines()][1:]
        self.assertEqual(frames[0]["heads"], [])  # untrained
        last = frames[-1]["heads"]
        self.assertIn(("cross", "alignment"), [(h["kind"], h["name"]) for h in last])
        for head in last:
            self.assertGreaterEqual(head["score"], 0.3)
            for control in ("untrained", "shuffled"):
                self.assertGreater(head["score"], head[control] + 0.1)
        pair = ["--target", "5 12 9 17 3"]
        a, = self.json("attend", "run", "--checkpoint", "last", "3 17 9 12 5", *pair, "--names")
        self.assertEqual((a["named_at"], a["head_names"]), (frames[-1]["step"], last))
        plain, = self.json("attend", "run", "--checkpoint", "last", "3 17 9 12 5", *pair)
        self.assertNotIn("head_names", plain)
        words = self.out("attend", "run", "--checkpoint", "last", "3 17 9 12 5", *pair, "--names")
        self.assertRegex(words, r"cross, layer 0, head \d: alignment \(0\.\d+; 0\.\d+; 0\.\d+\)")
        self.check("attend", "run", "5 12", "--names", "--html", "page.html", status=2, facts=["--names", "heed report"])
        for only in (["--kind", "encoder"], ["--kind", "cross", "--head", str(1 - last[-1]["head"])]):
            chosen, = self.json("attend", "run", "--checkpoint", "last", "3 17 9 12 5", *pair, "--names", *only)
            self.assertEqual(chosen["head_names"], [h for h in last if h["kind"] == only[1] and
                                                    (len(only) == 2 or h["head"] == int(only[3]))])
        self.out("report", "run", "--html", "page.html")
        data = json.loads(re.search(r'id="data">(.*?)</script>', (self.folder / "page.html").read_text(), re.S).group(1))
        self.assertEqual([h["name"] for h in data["frames"][-1]["heads"]], [h["name"] for h in last])
        film = self.folder / "run" / "film.jsonl"
        lines = film.read_text().splitlines()
        broken = {**json.loads(lines[-1]), "heads": [{}]}
        film.write_text("\n".join([*lines[:-1], json.dumps(broken)]) + "\n")
        self.assertIn("film.jsonl", self.check("verify", "run", status=4).out)
        self.out("attend", "run", "3 17 9 12 5", *pair, "--names")
        film.unlink()
        self.assertIn("no record", self.out("attend", "run", "3 17 9 12 5", *pair, "--names"))

    def test_the_film_is_the_same_in_parts(self):
        config = self.config(family="causal_lm")
        self.train(config, "whole")
        self.train(config, "parts", "--stop-at", 7)
        self.resume("parts")
        self.assertEqual(*((self.folder / run / "film.jsonl").read_text() for run in ("whole", "parts")))


if __name__ == "__main__":
    unittest.main()
