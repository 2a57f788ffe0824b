"""heed report: one page with everything, for every family of models and every state of a run."""
import base64
import json
import math
import os
import re
import subprocess
import unittest

from runs import HEED, RunsTest

STORE = 4

FAMILIES = {"prefix_lm": ["encoder", "decoder", "cross"], "causal_lm": ["decoder"], "masked_lm": ["encoder"],
            "seq2seq": ["encoder", "decoder", "cross"], "span_corruption": ["encoder", "decoder", "cross"]}


class ReportTest(RunsTest):
    def report(self, run="run", *args, **kw):
        page = self.check("report", self.folder / run, *args, **kw).out
        if not page:
            return page, None
        return page, self.data_of(page)

    def data_of(self, page):
        """What the page's script draws: JSON, which has no NaN. tests/pages looks at what is drawn."""
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
        return json.loads(data.group(1), parse_constant=self.fail)

    def write_metrics(self, events):
        (self.folder / "run" / "metrics.jsonl").write_text("".join(json.dumps(e) + "\n" for e in events))

    def steps_of(self, data):
        return [frame["step"] for frame in data["frames"]]

    def weights(self, packed):
        """A byte b for each weight (b / 255)^2."""
        return [(b / 255)**2 for b in base64.b64decode(packed)]

    def forget_film(self, run="run"):
        """As in a run of an older version of heed."""
        (self.folder / run / "film.jsonl").unlink()

    def test_json_has_what_the_page_shows_but_the_maps(self):
        self.train(self.config(train__keep_last=0))
        data = self.data_of(self.report()[0])
        shown = json.loads(self.out("report", "run", "--json"), parse_constant=self.fail)
        for key in ("kinds", "bits"):
            data.pop(key, None)
        for frame in data["frames"]:
            del frame["weights"]
        data["run"] = "run"
        self.assertEqual(shown, data)
        self.assertEqual(self.steps_of(shown), [0, 1, 2, 4, 8, 10, 16, 20])
        self.check("report", "run", "--json", "--html", "page.html", status=2, words="--json prints to standard output")

    def test_it_says_where_the_page_is(self):
        self.train(self.config())
        self.assertEqual(self.check("report", "run", "--html", "page.html").err, "wrote page.html; open it in a browser\n")
        self.assertEqual(self.check("report", "run", "--html", "page.html", "--quiet").err, "")

    def test_every_family_has_its_maps_texts_and_curves(self):
        for family, kinds in FAMILIES.items():
            with self.subTest(family):
                self.train(self.config(family=family, train__keep_last=0, train__save_every=5), family)
                self.assertEqual(self.steps_of(self.report(family)[1]), [0, 1, 2, 4, 8, 10, 16, 20])
                self.forget_film(family)
                page, data = self.report(family)
                self.assertLess(len(page), 500_000)
                self.assertEqual(self.steps_of(data), [0, 5, 10, 15, 20])
                self.assertEqual([k["name"] for k in data["kinds"]], kinds)
                for i, kind in enumerate(data["kinds"]):
                    n, m = len(kind["queries"]), len(kind["keys"])
                    self.assertGreater(n * m, 0)
                    for frame in data["frames"]:
                        weights = self.weights(frame["weights"][i])
                        self.assertEqual(len(weights), kind["layers"] * kind["heads"] * n * m)
                        for row in range(0, len(weights), m):
                            self.assertAlmostEqual(sum(weights[row:row + m]), 1, delta=0.004 * (m + 1))
                self.assertEqual(len(data["prompts"]), 4 if family == "seq2seq" else 1)
                for texts in (data["expected"], *(frame["written"] for frame in data["frames"])):
                    self.assertEqual(len(texts), len(data["prompts"]))
                for kind, names in (("train", ["loss", "learning_rate", "gradient_norm", "tokens_per_second"]),
                                    ("valid", ["loss", "accuracy"])):
                    for name in names:
                        self.assertEqual(len(data[kind][name]), len(data[kind]["steps"]))
                        self.assertTrue(all(x >= 0 for x in data[kind][name]), name)
                self.assertTrue(any("_attn.q_proj.weight" in p["name"] for p in data["parameters"]))
                self.assertIn('"batch_tokens": 100', data["config"])
                self.assertNotIn("://", page)

    def test_the_maps_are_those_of_attend(self):
        self.train(self.config(family="seq2seq", model__dropout=0))
        _, data = self.report()
        source, target = (kind["keys"] for kind in data["kinds"][:2])
        shown = json.loads(self.check("attend", self.folder / "run", "--checkpoint", "step-20", "--source",
                                      " ".join(source[:-1]), "--target", " ".join(target[1:]), "--json").out)
        self.assertEqual(shown["source_tokens"], source)
        for i, kind in enumerate(data["kinds"]):
            expected = [x for layer in shown[kind["name"]] for head in layer for row in head for x in row]
            for got, x in zip(self.weights(data["frames"][-1]["weights"][i]), expected, strict=True):
                self.assertAlmostEqual(got**0.5, x**0.5, delta=0.00197)

    def test_the_curves_are_those_of_the_metrics(self):
        self.train(self.config())
        _, data = self.report()
        for kind, steps in (("train", [5, 10, 15, 20]), ("valid", [10, 20])):
            self.assertEqual(data[kind].pop("steps"), steps)
            for name, column in data[kind].items():
                for x, event in zip(column, self.metrics(kind=kind), strict=True):
                    self.assertAlmostEqual(x or 0, event.get(name, 0), delta=1e-6 * (x or 0))
        losses = {e["step"]: e["loss"] for e in self.metrics(kind="valid")}
        for frame in data["frames"]:
            self.assertAlmostEqual(frame["loss"] or 0, losses.get(frame["step"], 0), places=5)
        self.assertEqual(data["best"], {"step": min(losses, key=losses.get), "by_bleu": False})
        self.assertEqual([r["step"] for r in data["learning"]], [10, 20])
        for shown, event in zip(data["learning"], self.metrics(kind="train")[1::2]):
            self.assertEqual(shown, {"step": event["step"], **event["learning"]})

    def test_it_has_yardsticks_and_what_is_to_be_said_of_the_curves(self):
        self.train(self.config(data={"train": "a.txt", "valid_fraction": 0.1}))
        logged, = self.metrics(kind="yardsticks")
        _, data = self.report()
        self.assertEqual([y["name"] for y in data["yardsticks"]], ["uniform", "unigram", "6-gram", "xz"])
        for shown, value in zip(data["yardsticks"], logged["values"]):
            for key in ("nats_per_token", "bits_per_byte"):
                self.assertAlmostEqual(shown[key], value[key], places=5)
        self.assertEqual(data["overfitting"], "")
        self.assertIn("with dropout", data["training_loss_note"])
        events = [e for e in self.metrics() if e["kind"] != "valid"]
        self.write_metrics(events + [{"kind": "valid", "step": s, "loss": x} for s, x in ((10, 1.5), (20, 2))])
        _, data = self.report()
        self.assertIn("held-out loss has risen since step 10 (1.500 to 2.000)", data["overfitting"])
        self.write_metrics([e for e in events if e["kind"] == "train"])
        _, data = self.report()
        self.assertEqual((data["yardsticks"], data["overfitting"]), ([], ""))

    def test_anything_but_a_finite_number_becomes_null(self):
        self.train(self.config())
        events = self.metrics()
        first = next(e for e in events if e["kind"] == "train")
        first.update(loss=None, gradient_norm=1e300, tokens_per_second="fast")
        del first["learning_rate"]
        self.write_metrics(events)
        train = self.report()[1]["train"]
        for name in ("loss", "gradient_norm", "tokens_per_second", "learning_rate"):
            self.assertIsNone(train[name][0], name)
            self.assertTrue(all(math.isfinite(x) for x in train[name][1:]), name)

    def test_texts_that_are_not_utf_8_are_shown(self):
        self.train(self.config(tokenizer={"type": "byte"}))
        out = self.folder / "page.html"
        self.report("run", "--output", out)
        data = self.data_of(out.read_bytes().decode())
        self.assertIn("\ufffd", data["frames"][0]["written"][0])  # of an untrained model

    def test_a_file_gets_the_page_that_standard_output_gets(self):
        self.train(self.config())
        out = self.folder / "page.html"
        self.assertEqual(self.report("run", "--output", out)[0], "")
        self.assertEqual(out.read_text(), self.report()[0])

    def test_a_checkpoint_has_a_report_too(self):
        self.train(self.config())
        self.check("report", self.folder / "run" / "checkpoints" / "best")

    def test_a_missing_run_and_a_missing_folder_are_errors(self):
        self.train(self.config())
        self.check("report", self.folder / "none", status=STORE)
        self.check("report", self.folder / "run", "--output", self.folder / "no" / "page.html", status=STORE)

    def test_a_terminal_gets_no_page(self):
        self.train(self.config())
        ours, terminal = os.openpty()
        done = subprocess.run([HEED, "report", self.folder / "run"], stdout=terminal, stderr=subprocess.PIPE, text=True)
        os.close(terminal)
        os.close(ours)
        self.assertEqual(done.returncode, 2)
        self.assertIn("try: --html FILE", done.stderr)

    def test_weights_of_another_run_are_the_first_frame_and_only_that(self):
        self.train(self.config())
        self.train(self.config("again", seed=7), "again", "--init-from", self.checkpoints("run") / "last")
        _, data = self.report("again")
        last = self.report()[1]["frames"][-1]
        self.assertEqual(data["frames"][0]["written"], last["written"])
        self.forget_film("again")
        _, data = self.report("again")
        self.assertEqual(self.steps_of(data), [0, 10, 20])
        self.assertEqual(data["frames"][0]["written"], last["written"])

    def test_a_run_that_held_nothing_out_says_so(self):
        self.train(self.config(data={"train": "a.txt", "valid_fraction": 0}))
        self.assertIn("Nothing was held out", self.report()[1]["notes"][0])

    def test_a_damaged_checkpoint_and_torn_metrics_are_left_out(self):
        self.train(self.config(train__keep_last=0, train__save_every=5))
        self.forget_film()
        (self.checkpoints() / "step-00000010" / "model.safetensors").write_bytes(b"x")
        (self.folder / "run" / "metrics.jsonl").write_text("{torn")
        _, data = self.report()
        self.assertEqual(self.steps_of(data), [0, 5, 15, 20])
        self.assertIn("Skipped:", data["notes"][0])
        self.assertEqual((data["learning"], data["train"]["steps"], data["valid"]["steps"]), ([], [], []))

    def test_without_the_data_there_are_no_maps(self):
        self.train(self.config())
        (self.folder / "a.txt").unlink()
        self.forget_film()
        _, data = self.report()
        self.assertEqual(data["frames"], [])
        self.assertIn("the data cannot be read", data["notes"][0])

    def test_long_runs_keep_spikes_and_their_best(self):
        self.train(self.config(train__max_steps=700, train__log_every=1, train__eval_every=1, train__save_every=700,
                               train__batch_tokens=20, train__micro_batch_tokens=20, train__shards=1))
        events = self.metrics()
        for e in events:
            if e["kind"] == "train" and e["step"] == 333:
                e["loss"] = 99
        self.write_metrics(events)
        best = min((e for e in events if e["kind"] == "valid"), key=lambda e: e["loss"])
        _, data = self.report()
        self.assertEqual(data["best"]["step"], best["step"])
        for kind, step, loss in (("train", 333, 99), ("valid", best["step"], best["loss"])):
            self.assertAlmostEqual(data[kind]["loss"][data[kind]["steps"].index(step)], loss, places=5)

    def test_what_selects_the_best_is_what_the_header_says(self):
        self.train(self.config(family="seq2seq", train__select_by="bleu"))
        _, data = self.report()
        self.assertTrue(data["best"]["by_bleu"])
        self.assertTrue(all(x >= 0 for x in data["valid"]["bleu"]))
        self.train(self.config(family="seq2seq"), "by_loss")
        _, data = self.report("by_loss")
        self.assertFalse(data["best"]["by_bleu"])
        self.assertEqual(set(data["valid"]["bleu"]), {None})

    def test_many_heads_and_steps_stay_under_the_limit(self):
        lines = [" ".join("abcdefghij"[(i + j) % 10] for j in range(40)) for i in range(40)]
        for side in ("source", "target"):
            (self.folder / f"a.{side}").write_text("".join(x + "\n" for x in lines))
        self.train(self.config(family="seq2seq", model={"d_model": 64, "n_heads": 64, "d_ff": 8, "encoder_layers": 8,
                                                        "decoder_layers": 8},
                               train__keep_last=0, train__save_every=1, train__max_steps=13), "long")
        self.forget_film("long")
        page, data = self.report("long")
        self.assertEqual(len(data["frames"]), 13)
        self.assertLess(len(page), 5_000_000)
        self.assertGreater(len(data["kinds"][0]["keys"]), 4)

    def test_samples_have_something_to_be_compared_with(self):
        self.train(self.config(family="causal_lm", objective__target_length=4, objective__source_length=4), "short")
        _, data = self.report("short")
        itself, = data["expected"]
        self.assertGreater(len(itself), 20)
        self.assertIn(data["prompts"][0] + itself, (self.folder / "a.txt").read_text())
        self.train(self.config(family="masked_lm", objective__mask_fraction=0.05), "rare")
        self.assertTrue(self.report("rare")[1]["expected"][0])

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
        self.assertIn(data["kinds"][0]["keys"][0], hostile)
        self.assertEqual(page.count("<script"), 2)
        self.assertNotIn("<img", page)
        self.assertNotIn("run<b>", page)
        self.assertTrue(data["run"].endswith("run<b>"))

    def test_many_checkpoints_are_thinned(self):
        self.train(self.config(train__keep_last=0, train__save_every=1, train__max_steps=30))
        self.forget_film()
        _, data = self.report()
        steps = self.steps_of(data)
        self.assertEqual((len(steps), steps[1], steps[-1]), (13, 1, 30))
        self.assertIn("12 of 30 kept checkpoints are shown", data["notes"][0])


if __name__ == "__main__":
    unittest.main()
