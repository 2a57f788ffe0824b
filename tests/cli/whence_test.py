"""heed whence: which lines taught an answer, and what comes when they are left out."""
import json
import math
import os
import re
import subprocess
import unittest

from runs import HEED, RunsTest

GELU = {"model__activation": "gelu", "model__dropout": 0, "train__max_steps": 30, "train__save_every": 10, "train__keep_last": 0,
        "optimizer__eps": 1e-4}


class Whence(RunsTest):
    RUNS = {"pairs": {"family": "seq2seq", **GELU}, "text": {"family": "causal_lm", "tokenizer": {"type": "word"}, **GELU}}

    def units(self, *args):
        found = self.json("whence", *args)[0]
        values = [unit["value"] for unit in found["units"]]
        self.assertEqual(values, sorted(values, reverse=True))
        return found

    def test_the_units_are_the_pairs_or_the_lines_of_the_training(self):
        found = self.units("pairs", "the mill")
        lines = (self.folder / "a.source").read_text().splitlines()
        trained = lines[:108]  # a tenth is held out
        self.assertEqual(sorted(unit["unit"] for unit in found["units"]), list(range(len(trained))))
        for unit in found["units"]:
            source, target = unit["text"].split("\t")
            self.assertEqual(source, lines[unit["lines"][0] - 1])
            self.assertEqual(target.split(), source.split()[::-1])
        found = self.units("text", "the old", "--answer", "miller")
        lines = (self.folder / "a.txt").read_text().splitlines()
        for unit in found["units"]:
            self.assertIn(unit["text"], lines[unit["lines"][0] - 1] or unit["text"])
        probability = self.json("explain", "text", "the old", "--answer", "miller")[0]["answer"]["probability"]
        self.assertAlmostEqual(found["logprob"], math.log(probability), 5)

    def test_what_is_foretold_comes(self):
        found = self.units("pairs", "the mill", "--retrain", 4)
        proved = [unit for unit in found["units"] if "retrained" in unit]
        self.assertEqual(len(proved), 12)
        self.assertIn("retrained", found["units"][0])
        self.assertIn("retrained", found["units"][-1])
        self.assertGreater(found["rank_correlation"], 0.8)
        self.assertGreater(sum(unit["provable"] for unit in proved), 4)
        # The same question has its answer already, and a stopped proof goes on.
        kept, = (self.folder / "pairs/whence").iterdir()
        before = kept.read_bytes()
        self.assertEqual(self.units("pairs", "the mill"), found)
        self.check("whence", "pairs", "the mill", "--retrain", 5, facts="3 trainings")
        more = self.units("pairs", "the mill", "--retrain", 5)
        self.assertEqual([unit["value"] for unit in more["units"]], [unit["value"] for unit in found["units"]])
        self.assertEqual(sum("retrained" in unit for unit in more["units"]), 15)
        self.assertNotEqual(kept.read_bytes(), before)
        told = self.out("whence", "pairs", "the mill")
        self.assertIn(f"{found['rank_correlation']:.3f}"[:4], told)
        self.assertTrue(self.json("verify", "pairs")[0]["whole"])
        page = (self.folder / "pairs/live.html").read_text()
        data = json.loads(page.split('id="data">')[1].split("</script>")[0])
        shown, = data["whence"]
        self.assertEqual(shown["questions"][0]["text"], "the mill")
        self.assertEqual([unit["unit"] for unit in shown["units"][:10]], [unit["unit"] for unit in more["units"][:10]])
        self.assertEqual(sum("retrained" in unit for unit in shown["units"]), 15)

    def test_the_answers_of_several_lines_count_together_at_any_step(self):
        (self.folder / "asked.txt").write_text("the mill\nold\n")
        both = self.units("pairs", "--file", "asked.txt", "--checkpoint", "step-20")
        self.assertEqual((both["step"], len(both["answer"])), (20, 2))
        each = [self.units("pairs", line, "--checkpoint", "step-20") for line in ("the mill", "old")]
        self.assertAlmostEqual(both["logprob"], sum(one["logprob"] for one in each), 6)
        of = [{unit["unit"]: unit["value"] for unit in one["units"]} for one in (*each, both)]
        for unit in of[2]:
            self.assertAlmostEqual(of[2][unit], of[0][unit] + of[1][unit], 5)

    def test_the_memory_that_it_says_is_what_it_takes(self):
        self.skip_under_a_sanitizer()
        wide = {"model__d_model": 128, "model__d_ff": 512, "train__max_steps": 16}
        self.train(self.config("wide", **{**self.RUNS["text"], **wide}), "wide")
        for run, asked in ("text", "the old miller"), ("wide", "the old"):
            p = subprocess.Popen([HEED, "whence", run, asked], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            said = float(re.search(r"and ([\d.]+) MiB of memory", p.stderr.read())[1])
            _, p.returncode, usage = os.wait4(p.pid, 0)
            p.stderr.close()
            self.assertEqual(p.returncode, 0)
            self.assertLess(usage.ru_maxrss / 1024, said)
            self.assertLess(said, 1.2 * usage.ru_maxrss / 1024 + 12)  # (libraries, as far as they are read)

    def test_what_cannot_be_followed_backwards_is_refused(self):
        self.check("whence", "pairs", status=2, facts="--file")
        self.train(self.config("m", family="seq2seq", optimizer__type="muon", train__max_steps=3), "m")
        self.check("whence", "m", "the mill", status=2, facts="optimizer.type=adamw")
        self.train(self.config("c", family="seq2seq", **GELU), "c", "--stop-at", 10)
        self.resume("c", "--set", "optimizer.learning_rate=0.001")
        self.check("whence", "c", "the mill", "--checkpoint", "last", status=2, facts="step-00000030")
        self.check("whence", "c", "the mill", "--checkpoint", "step-10")
        (self.folder / "a.source").write_text("other\n" * 120)
        self.check("whence", "c", "old", "--checkpoint", "step-10", status=3, facts="is not what this run was trained on")


if __name__ == "__main__":
    unittest.main()
