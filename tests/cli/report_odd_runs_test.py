"""heed report for runs that are long, large, damaged, hostile or incomplete."""
import json
import unittest

from reports import ReportsTest


class OddRunsTest(ReportsTest):
    def test_weights_of_another_run_are_the_first_frame_and_only_that(self):
        self.train(self.config())
        self.train(self.config("again", seed=7), "again", "--init-from", self.checkpoints("run") / "last")
        _, data = self.report("again")
        last = self.report()[1]["frames"][-1]
        self.assertEqual(data["frames"][0]["written"], last["written"])

    def test_a_run_that_held_nothing_out_says_so(self):
        self.train(self.config(data={"train": "a.txt", "valid_fraction": 0}))
        self.assertIn("Nothing was held out", self.report()[1]["notes"][0])

    def test_a_damaged_checkpoint_and_torn_metrics_are_left_out(self):
        self.train(self.config(train__keep_last=0, train__save_every=5))
        (self.checkpoints() / "step-00000020" / "state.json").write_bytes(b"x")
        (self.checkpoints() / "step-00000015" / "config.json").write_bytes(b"x")
        (self.folder / "run" / "metrics.jsonl").write_text("{torn")
        _, data = self.report()
        self.assertEqual((data["last_step"], self.steps_of(data)[-1]), (10, 10))
        self.assertEqual(["Skipped:" in note for note in data["notes"]], [True, True])
        self.assertEqual((data["train"]["steps"], data["valid"]["steps"]), ([], []))

    def test_odd_names_of_kinds_and_heads_are_shown(self):
        self.train(self.config())
        film = self.folder / "run" / "film.jsonl"
        first, *frames = film.read_text().replace('"decoder"', '"__proto__"').splitlines()
        frames = [json.loads(frame) for frame in frames]
        for frame in frames:
            name = {"kind": "cross", "layer": 0, "head": 0, "name": "induction", "score": 1, "untrained": 0, "shuffled": 0}
            frame["heads"] = [name, {**name, "name": "owned"}, {**name, "layer": 7}, {**name, "kind": "__proto__"}]
        film.write_text("\n".join([first, *map(json.dumps, frames)]) + "\n")
        self.check("verify", "run")
        _, data = self.report()
        self.assertEqual([k["name"] for k in data["kinds"]], ["encoder", "__proto__", "cross"])
        for frame in data["frames"]:
            self.assertEqual(set(frame["words"]), {"encoder", "__proto__", "cross"})
            self.assertEqual([head["name"] for head in frame["heads"]], ["induction", "owned", "induction", "induction"])

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
        self.report(status=4, facts=str(self.folder / "run"))

    def test_a_run_that_ended_before_its_first_line_stands_beside_others(self):
        self.train(self.config("good"), "good")
        self.train(self.config(optimizer__learning_rate=1e4, train__log_every=0, train__save_every=0, train__eval_every=0,
                               optimizer__clip_norm=0), "bad", status=5)
        self.assertEqual(self.metrics("bad", kind="train"), [])
        both = self.json("report", "good", "bad")
        self.assertEqual([(r["run"], bool(r["train"]["steps"])) for r in both], [("good", True), ("bad", False)])
        self.check("report", "good", "bad", "--html", "both.html")
        self.check("report", "bad", "bad", status=4)

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


if __name__ == "__main__":
    unittest.main()
