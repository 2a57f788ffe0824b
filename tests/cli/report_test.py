"""heed report: one page with everything, for every family of models and every state of a run."""
import base64
import html
import json
import os
import re
import subprocess
import unittest

from runs import HEED, RunsTest

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

    def test_a_terminal_gets_no_page(self):
        self.train(self.config())
        ours, terminal = os.openpty()
        done = subprocess.run([HEED, "report", self.folder / "run"], stdout=terminal, stderr=subprocess.PIPE, text=True)
        os.close(terminal)
        os.close(ours)
        self.assertEqual(done.returncode, 2)
        self.assertIn("try: --html FILE", done.stderr)

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

    def test_long_runs_keep_spikes_and_their_best(self):
        self.train(self.config(train__max_steps=700, train__log_every=1, train__eval_every=1, train__save_every=700,
                               train__batch_tokens=20, train__micro_batch_tokens=20, train__shards=1))
        events = self.metrics()
        for e in events:
            if e["kind"] == "train" and e["step"] == 333:
                e["loss"] = 99
        (self.folder / "run" / "metrics.jsonl").write_text("".join(json.dumps(e) + "\n" for e in events))
        best = min((e for e in events if e["kind"] == "valid"), key=lambda e: e["loss"])
        page, _ = self.report()
        self.assertIn(f"best held-out loss {best['loss']:.3g} nats per token", page)
        self.assertIn(f"at step {best['step']}.", page)
        self.assertIn("largest 99 at step 333; held out", page)
        self.assertIn(f"least {best['loss']:.3g} at step {best['step']}", page)

    def test_what_selects_the_best_is_what_the_header_says(self):
        self.train(self.config(family="seq2seq", train__select_by="bleu"))
        page, _ = self.report()
        self.assertIn("best held-out BLEU", page)
        self.assertIn('aria-label="BLEU, held out', page)
        self.train(self.config(family="seq2seq"), "by_loss")
        page, _ = self.report("by_loss")
        self.assertNotIn("BLEU", page)
        self.assertIn("best held-out loss", page)

    def test_many_heads_and_steps_stay_under_the_limit(self):
        lines = [" ".join("abcdefghij"[(i + j) % 10] for j in range(40)) for i in range(40)]
        for side in ("source", "target"):
            (self.folder / f"a.{side}").write_text("".join(x + "\n" for x in lines))
        self.train(self.config(family="seq2seq", model={"d_model": 64, "n_heads": 64, "d_ff": 8, "encoder_layers": 8,
                                                        "decoder_layers": 8},
                               train__keep_last=0, train__save_every=1, train__max_steps=13), "long")
        page, data = self.report("long")
        self.assertEqual(len(data["steps"]), 13)
        self.assertLess(len(page), 5_000_000)
        self.assertGreater(len(data["source"]), 4)

    def test_samples_have_something_to_be_compared_with(self):
        self.train(self.config(family="causal_lm", objective__target_length=4, objective__source_length=4), "short")
        page, _ = self.report("short")
        itself = re.search("<dt>the text itself</dt><dd>(.*?)</dd>", page).group(1)
        self.assertGreater(len(itself), 20)
        prompt = html.unescape(re.search("<h3>(.*?)</h3>", page).group(1))
        held_out = (self.folder / "a.txt").read_text().replace("\n", " ↵ ")
        self.assertIn(prompt + html.unescape(itself), held_out)
        self.train(self.config(family="masked_lm", objective__mask_fraction=0.05), "rare")
        page, _ = self.report("rare")
        self.assertRegex(page, "<dt>the text itself</dt><dd>.+</dd>")

    def test_a_page_of_too_many_weights_is_refused(self):
        (self.folder / "a.txt").write_text("abcdefgh " * 800)
        self.train(self.config(family="causal_lm", model={"d_model": 32, "n_heads": 32, "d_ff": 8, "encoder_layers": 0,
                                                          "decoder_layers": 2},
                               objective__target_length=600, train__batch_tokens=600, train__micro_batch_tokens=600,
                               train__max_steps=1))
        out = self.folder / "page.html"
        args = ["attend", self.folder / "run", "--html", out, "--source"]
        self.check(*args, ("abcdefgh " * 800)[:590], status=2, words=["the limit is 30", "a shorter --source"])
        self.assertFalse(out.exists())
        self.check(*args, "abcdefgh")
        self.assertLess(out.stat().st_size, 2**20)

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
