"""Names of heads: in the film as they come, in attend and on the report's page."""
import json
import unittest
from pathlib import Path

from runs import RunsTest

ROOT = Path(__file__).resolve().parents[2]


class HeadNamesTest(RunsTest):
    def test_heads_get_names_as_they_learn_induction(self):
        self.train(ROOT / "configs" / "induction.json")
        frames = self.film()[1]
        self.assertEqual(frames[0]["heads"], [])  # untrained
        last = frames[-1]["heads"]
        for name, layer in ("previous token", 0), ("induction", 1):
            self.assertEqual({h["layer"] for h in last if h["name"] == name}, {layer})
        for head in last:
            self.assertGreaterEqual(head["score"], 0.3)
            for control in ("untrained", "shuffled"):
                self.assertGreater(head["score"], head[control] + 0.1)
        attend = ["attend", "run", "--checkpoint", "last", "5 17 9"]
        a, = self.json(*attend, "--names")
        self.assertEqual((a["named_at"], a["head_names"]), (frames[-1]["step"], last))
        self.assertNotIn("head_names", self.json(*attend)[0])
        self.assertRegex(self.out(*attend, "--names"), r"decoder, layer 1, head \d: induction \(0\.\d+; 0\.\d+; 0\.\d+\)")
        for layer, head in (0, None), (1, last[-1]["head"]):
            chosen, = self.json(*attend, "--names", "--layer", layer, *([] if head is None else ["--head", head]))
            self.assertEqual(chosen["head_names"], [h for h in last if h["layer"] == layer and head in (None, h["head"])])
        self.out("report", "run", "--html", "page.html")
        data = self.page((self.folder / "page.html").read_text())
        self.assertEqual([h["name"] for h in data["frames"][-1]["heads"]], [h["name"] for h in last])
        film = self.folder / "run" / "film.jsonl"
        lines = film.read_text().splitlines()
        broken = {**json.loads(lines[-1]), "heads": [{}]}
        film.write_text("\n".join([*lines[:-1], json.dumps(broken)]) + "\n")
        self.assertIn("film.jsonl", self.check("verify", "run", status=4).out)
        self.out(*attend, "--names")
        film.unlink()
        self.assertIn("no record", self.out(*attend, "--names"))


if __name__ == "__main__":
    unittest.main()
