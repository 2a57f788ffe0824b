"""heed report: one page with everything, for every family of models and every state of a run."""
import base64
import html
import json
import re
import unittest

from runs import RunsTest

STORE = 4

FAMILIES = {"prefix_lm": ["encoder", "decoder", "cross"], "causal_lm": ["decoder"], "masked_lm": ["encoder"],
            "seq2seq": ["encoder", "decoder", "cross"]}


class ReportTest(RunsTest):
    def report(self, run="run", *args, **kw):
        page = self.check("report", self.folder / run, *args, **kw).out
        if not page:
            return page, None
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
        return page, json.loads(data.group(1))

    def test_every_family(self):
        for family, kinds in FAMILIES.items():
            with self.subTest(family):
                self.train(self.config(family=family, train__keep_last=0, train__save_every=5), family)
                page, data = self.report(family)
                self.assertLess(len(page), 500_000)
                self.assertEqual(data["steps"], [0, 5, 10, 15, 20])
                self.assertEqual([k["name"] for k in data["kinds"]], kinds)
                for kind in data["kinds"]:
                    n, m = len(data[kind["queries"]]), len(data[kind["keys"]])
                    self.assertGreater(n * m, 0)
                    for weights in kind["weights"]:
                        raw = base64.b64decode(weights)
                        self.assertEqual(len(raw), kind["layers"] * kind["heads"] * n * m)
                        for row in range(0, len(raw), m):
                            self.assertAlmostEqual(sum(raw[row:row + m]), 255, delta=m / 2 + 1)
                self.assertEqual(page.count("<dt>before training</dt>"), 4 if family == "seq2seq" else 1)
                for title in ("Loss", "Perplexity", "Learning rate", "Gradient norm", "Speed"):
                    self.assertRegex(page, f'<svg class="chart" role="img"[^>]*aria-label="{title}')
                self.assertIn("_attn.q_proj.weight</th>", page)
                self.assertIn(html.escape('"batch_tokens": 100'), page)
                self.assertNotIn("://", page)

    def test_the_maps_are_those_of_attend(self):
        self.train(self.config(family="seq2seq", model__dropout=0))
        _, data = self.report()
        target = " ".join(data["target"][1:])
        shown = json.loads(self.check("attend", self.folder / "run", "--checkpoint", "step-20", "--source",
                                      " ".join(data["source"][:-1]), "--target", target, "--json").out)
        self.assertEqual(shown["source_tokens"], data["source"])
        for kind in data["kinds"]:
            expected = [x for layer in shown[kind["name"]] for head in layer for row in head for x in row]
            for got, x in zip(base64.b64decode(kind["weights"][-1]), expected, strict=True):
                self.assertAlmostEqual(got / 255, x, delta=0.0021)

    def test_the_curves_are_those_of_the_metrics(self):
        self.train(self.config())
        page, _ = self.report()
        first, last = (self.metrics(kind="train")[i]["loss"] for i in (0, -1))
        self.assertIn(f"training from {first:.3g} at step 5 to {last:.3g} at step 20", page)
        valid = self.metrics(kind="valid")[-1]
        self.assertIn(f"held out from {self.metrics(kind='valid')[0]['loss']:.3g} at step 10 to "
                      f"{valid['loss']:.3g} at step 20", page)
        self.assertIn("best held-out loss", page)

    def test_to_a_file_and_again(self):
        self.train(self.config())
        out = self.folder / "page.html"
        self.assertEqual(self.report("run", "--output", out)[0], "")
        self.assertEqual(out.read_text(), self.report()[0])
        self.check("report", self.folder / "run" / "checkpoints" / "best")
        self.check("report", self.folder / "run", "--output", self.folder / "no" / "page.html", status=STORE)
        self.check("report", self.folder / "none", status=STORE)

    def test_runs_that_lack_something(self):
        self.train(self.config(data={"train": "a.txt", "valid_fraction": 0}), "all")
        self.assertIn("Nothing was held out", self.report("all")[0])
        self.train(self.config(train__keep_last=0, train__save_every=5))
        (self.checkpoints() / "step-00000010" / "model.safetensors").write_bytes(b"x")
        (self.folder / "run" / "metrics.jsonl").write_text("{torn")
        page, data = self.report()
        self.assertEqual(data["steps"], [0, 5, 15, 20])
        self.assertIn("Passed over:", page)
        self.assertIn("no learning record", page)
        (self.folder / "a.txt").rename(self.folder / "b.txt")
        page, data = self.report()
        self.assertEqual(data["steps"], [])
        self.assertIn("the data cannot be read", page)

    def test_hostile_words_stay_text(self):
        hostile = ["</script><script>alert(1)</script>", "<img/src=x>", '"{{data}}"', "&amp;", "<!--"]
        for side in ("source", "target"):
            (self.folder / f"a.{side}").write_text("".join(f"{a} {b}\n" for a in hostile for b in hostile))
        self.train(self.config(family="seq2seq"), "run<b>")
        page, data = self.report("run<b>")
        self.assertIn(data["source"][0], hostile)
        self.assertEqual(page.count("<script"), 2)
        self.assertNotIn("<img", page)
        self.assertNotIn("run<b>", page)

    def test_many_checkpoints_are_thinned(self):
        self.train(self.config(train__keep_last=0, train__save_every=1, train__max_steps=30))
        page, data = self.report()
        self.assertEqual(len(data["steps"]), 13)
        self.assertEqual((data["steps"][1], data["steps"][-1]), (1, 30))
        self.assertIn("12 of 30 kept checkpoints are shown", page)


if __name__ == "__main__":
    unittest.main()
