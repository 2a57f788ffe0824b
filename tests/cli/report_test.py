"""heed report: one page with everything, for every family of models and every state of a run, also long, damaged or hostile."""
import base64
import json
import math
import os
import shutil
import subprocess
import unittest

from runs import HEED, SMALL, STORE, RunsTest

FAMILIES = {"prefix_lm": ["encoder", "decoder", "cross"], "causal_lm": ["decoder"], "masked_lm": ["encoder"],
            "seq2seq": ["encoder", "decoder", "cross"], "span_corruption": ["encoder", "decoder", "cross"]}


class ReportTest(RunsTest):
    def report(self, run="run", **kw):
        page = self.check("report", run, **kw).out
        return page, self.page(page) if page else None

    def write_metrics(self, events):
        self.write("run/metrics.jsonl", *map(json.dumps, events))

    def steps_of(self, data):
        return [frame["step"] for frame in data["frames"]]

    def test_the_loss_of_guessing_is_known_where_nothing_is_held_out(self):
        self.train(self.config(**SMALL), "held")
        self.train(self.config(**SMALL, data={"train": "a.txt", "valid_fraction": 0}), "none")
        held, none = (json.loads(self.out("report", run, "--json")) for run in ("held", "none"))
        uniform, = [y["nats_per_token"] for y in held["yardsticks"] if y["name"] == "uniform"]
        self.assertEqual(none["yardsticks"], [])
        self.assertAlmostEqual(held["uniform"], uniform, places=9)
        self.assertAlmostEqual(none["uniform"], uniform, places=9)

    def test_json_has_what_the_page_shows_but_the_maps(self):
        self.train(self.config(train__keep_last=0))
        data = self.report()[1]
        shown = json.loads(self.out("report", "run", "--json"), parse_constant=self.fail)
        for key in ("kinds", "first", "follows", "last_move"):
            data.pop(key, None)
        data["config"] = json.loads(data["config"])
        for frame in data["frames"]:
            del frame["weights"], frame["pull"]
        self.assertEqual(shown, data)
        self.assertEqual(self.steps_of(shown), [0, 1, 2, 4, 8, 10, 16, 20])
        help_text = self.out("report", "--help")
        self.tells(help_text, [*shown, *shown["frames"][0]])
        self.check("report", "run", "--json", "--html", "page.html", status=2, facts=["--json", "excludes"])

    def test_runs_side_by_side(self):
        for run, d_ff in (("one", 16), ("two", 24)):
            self.train(self.config(model__d_ff=d_ff), run)
        runs = [json.loads(line) for line in self.out("report", "one", "two", "--json").splitlines()]
        self.assertEqual([r["run"] for r in runs], ["one", "two"])
        self.assertEqual([r["keys"] for r in runs], [{"model.d_ff": 16}, {"model.d_ff": 24}])
        # The held-out text is too short to tell anything, but it is compared.
        self.assertEqual([r.get("compared", {}).get("second") for r in runs], [None, ["two"]])
        loss = runs[1]["compared"]["figures"]["loss"]
        self.assertAlmostEqual(loss["second"], runs[1]["best_loss"], 4)
        for r in runs:
            alone = json.loads(self.out("report", r["run"], "--json"))
            self.assertEqual(*([x["best_loss"], x["train"], x["valid"]] for x in (r, alone)))
        self.train(self.config(model__d_ff=16, seed=2), "seed2")  # alone, it is compared with the first
        compared = [json.loads(line).get("compared", {}) for line in self.out("report", "one", "seed2", "--json").splitlines()]
        self.assertEqual([c.get("second") for c in compared], [None, ["seed2"]])
        self.check("report", "one", "two", "--html", "page.html")
        self.check("report", "one", "none", "--html", "other.html", status=STORE, facts="none")
        self.assertFalse((self.folder / "other.html").exists())

    def test_every_family_has_its_maps_texts_and_curves(self):
        for family, kinds in FAMILIES.items():
            with self.subTest(family):
                self.train(self.config(family=family), family)
                page, data = self.report(family)
                self.assertLess(len(page), 500_000)
                self.assertEqual(self.steps_of(data), [0, 1, 2, 4, 8, 10, 16, 20])
                self.assertEqual([k["name"] for k in data["kinds"]], kinds)
                self.assertEqual([f["weights"] for f in data["frames"]], [f["weights"] for f in self.film(family)[1]])
                self.assertEqual(len(data["prompts"]), 4 if family == "seq2seq" else 1)
                for texts in (data["expected"], *(frame["written"] for frame in data["frames"])):
                    self.assertEqual(len(texts), len(data["prompts"]))
                for kind, names in (("train", ["loss", "learning_rate", "gradient_norm", "tokens_per_second"]),
                                    ("valid", ["loss", "accuracy"])):
                    for name in names:
                        self.assertEqual(len(data[kind][name]), len(data[kind]["steps"]))
                        self.assertTrue(all(x >= 0 for x in data[kind][name]), name)
                self.assertTrue(any("_attn.q_proj.weight" in name for name in data["learning"][-1]["matrices"]))
                self.assertIn('"batch_tokens": 100', data["config"])
                self.assertNotIn("://", page)

    def test_the_maps_are_those_of_attend(self):
        self.train(self.config(family="seq2seq", model__dropout=0))
        _, data = self.report()
        source, target = (kind["keys"] for kind in data["kinds"][:2])
        self.assertEqual(data["follows"], "</s>")
        shown, = self.json("attend", "run", "--checkpoint", "step-20", " ".join(source[:-1]), "--target", " ".join(target[1:]))
        self.assertEqual(shown["source_tokens"], source)
        for i, kind in enumerate(data["kinds"]):
            expected = [x for layer in shown[kind["name"]] for head in layer for row in head for x in row]
            for byte, x in zip(base64.b64decode(data["frames"][-1]["weights"][i]), expected, strict=True):
                self.assertAlmostEqual(byte / 255, x**0.5, delta=0.00197)

    def test_the_curves_are_those_of_the_metrics(self):
        self.train(self.config())
        _, data = self.report()
        self.assertEqual(data["train"].pop("from"), [1, 6, 11, 16])
        for minutes, event in zip(data["train"].pop("minutes"), self.metrics(kind="train"), strict=True):
            self.assertAlmostEqual(minutes, event["seconds"] / 60, places=6)
        for kind, steps in (("train", [5, 10, 15, 20]), ("valid", [10, 20])):
            self.assertEqual(data[kind].pop("steps"), steps)
            for name, column in data[kind].items():
                for x, event in zip(column, self.metrics(kind=kind), strict=True):
                    self.assertAlmostEqual(x or 0, event.get(name, 0), delta=1e-6 * (x or 0))
        losses = {e["step"]: e["loss"] for e in self.metrics(kind="valid")}
        for frame in data["frames"]:
            self.assertAlmostEqual(frame["loss"] or 0, losses.get(frame["step"], 0), places=5)
        self.assertEqual(data["best"], {"step": min(losses, key=losses.get), "by_metric": False})
        self.assertEqual(data["learning"], [{key: frame[key] for key in ("step", "matrices", "entropy")} for frame in self.film()[1]])
        # Which steps a mean is of, and how long they took.
        self.write_metrics([{"kind": "train", "step": step, "loss": 2, **({"seconds": seconds} if seconds else {})}
                            for step, seconds in ((10, 30), (12, 60), (15, 12), (18, 18), (20, None))])  # resumed after 12
        train = self.report()[1]["train"]
        self.assertEqual(train["from"], [1, 11, 13, 16, 19])
        self.assertEqual([m and round(m, 4) for m in train["minutes"]], [0.5, 1, 1.2, 1.3, None])

    def test_it_has_yardsticks_and_remarks_on_the_curves(self):
        self.train(self.config(data={"train": "a.txt", "valid_fraction": 0.1}))
        logged, = self.metrics(kind="yardsticks")
        _, data = self.report()
        self.assertEqual([y["name"] for y in data["yardsticks"]], ["uniform", "unigram", "6-gram", "xz"])
        for shown, value in zip(data["yardsticks"], logged["values"]):
            for key in ("nats_per_token", "bits_per_byte"):
                self.assertAlmostEqual(shown[key], value[key], places=5)
        self.assertEqual(data["overfitting"], "")
        self.assertIn("dropout", data["training_loss_note"])
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

    def test_a_checkpoint_has_a_report_too(self):
        self.train(self.config())
        self.check("report", self.folder / "run" / "checkpoints" / "best")
        shutil.copytree(self.step(20), self.folder / "alone")
        self.check("report", "alone", "--html", "page.html", status=STORE, facts='"alone"')

    def test_a_terminal_gets_no_page(self):
        self.train(self.config())
        ours, terminal = os.openpty()
        done = subprocess.run([HEED, "report", self.folder / "run"], stdout=terminal, stderr=subprocess.PIPE, text=True)
        os.close(terminal)
        os.close(ours)
        self.assertEqual(done.returncode, 2)
        self.assertIn("try: --html FILE", done.stderr)

    def test_what_selects_the_best_is_what_the_header_says(self):
        self.train(self.config(family="seq2seq", train__select_by="bleu"))
        _, data = self.report()
        self.assertTrue(data["best"]["by_metric"])
        self.assertTrue(all(x >= 0 for x in data["valid"]["metric"]))
        self.train(self.config(family="seq2seq"), "by_loss")
        _, data = self.report("by_loss")
        self.assertFalse(data["best"]["by_metric"])
        self.assertEqual(set(data["valid"]["metric"]), {None})

    def test_a_damaged_checkpoint_and_torn_metrics_are_left_out(self):
        self.train(self.config(train__keep_last=0, train__save_every=5))
        (self.step(20) / "state.json").write_bytes(b"x")
        (self.step(15) / "config.json").write_bytes(b"x")
        (self.folder / "run" / "metrics.jsonl").write_text("{torn")
        _, data = self.report()
        self.assertEqual((data["last_step"], self.steps_of(data)[-1]), (10, 10))
        self.assertEqual(["Skipped:" in note for note in data["notes"]], [True, True])
        self.assertEqual((data["train"]["steps"], data["valid"]["steps"]), ([], []))

    def test_a_run_without_a_checkpoint_shows_what_it_has_logged(self):
        config = self.config(optimizer__learning_rate=1e4, train__log_every=1, train__save_every=0, optimizer__clip_norm=0)
        self.train(config, "run", status=5)
        self.assertEqual(self.steps(), [])
        _, data = self.report()
        self.assertEqual(data["last_step"], self.metrics(kind="train")[-1]["step"])
        self.assertEqual(self.steps_of(data)[:2], [0, 1])
        self.assertEqual((data["parameter_count"], data["best_loss"]), (0, None))
        self.assertIn(self.metrics(kind="event")[-1]["text"], data["notes"])
        self.assertIn("no checkpoint yet", " ".join(data["notes"]))
        self.assertIn('"learning_rate": 10000', data["config"])
        for name in ("metrics.jsonl", "film.jsonl"):
            (self.folder / "run" / name).unlink()
        self.report(status=4, facts="run")

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

    def test_many_heads_stay_under_the_limit(self):
        lines = [" ".join("abcdefghij"[(i + j) % 10] for j in range(40)) for i in range(40)]
        for side in ("source", "target"):
            (self.folder / f"a.{side}").write_text("".join(x + "\n" for x in lines))
        self.train(self.config(family="seq2seq", model={"d_model": 64, "n_heads": 64, "d_ff": 8, "encoder_layers": 8,
                                                        "decoder_layers": 8},
                               train__max_steps=13), "long")
        page, data = self.report("long")
        self.assertLess(len(page), 5_000_000)
        self.assertGreater(len(data["kinds"][0]["keys"]), 4)


if __name__ == "__main__":
    unittest.main()
