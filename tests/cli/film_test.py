"""film.jsonl: the frames of a run, however it is interrupted, and the report that shows them."""
import base64
import json
import os
import re
import unittest

from runs import RunsTest, seal

FAMILIES = {"prefix_lm": 3, "causal_lm": 1, "masked_lm": 1, "seq2seq": 3, "span_corruption": 3}  # kinds of attention
STEPS = [0, 1, 2, 4, 8, 10, 16, 20]  # of config()


class FilmTest(RunsTest):
    def path(self, run="run"):
        return self.folder / run / "film.jsonl"

    def film(self, run="run"):
        probe, frames = super().film(run)
        self.assertEqual((probe["kind"], probe["step"]), ("probe", 0))
        self.assertEqual({f["kind"] for f in frames}, {"frame"})
        return probe, frames

    def steps_of_film(self, run="run"):
        return [frame["step"] for frame in self.film(run)[1]]

    def same_film(self, one, other):
        self.assertEqual(self.path(one).read_text(), self.path(other).read_text())

    def report(self, run="run"):
        self.check("report", run, "--html", "page.html")
        return self.page((self.folder / "page.html").read_bytes().decode())  # UTF-8

    def test_every_family_has_its_frames(self):
        for family, kinds in FAMILIES.items():
            with self.subTest(family):
                self.train(self.config(family=family), family)
                probe, frames = self.film(family)
                self.assertEqual([f["step"] for f in frames], STEPS)
                self.assertEqual(len(probe["kinds"]), kinds)
                losses = {e["step"]: e["loss"] for e in self.metrics(family, "valid")}
                for frame in frames:
                    step = frame["step"]
                    self.assertEqual(frame["valid_loss"], losses.get(step))
                    self.assertEqual(frame["train_loss"] is None, step in (0, *losses))
                    self.assertGreater(frame["probe_loss"], 0)
                    self.assertEqual(len(frame["written"]), len(probe["prompts"]))
                    for kind, packed in zip(probe["kinds"], frame["weights"], strict=True):
                        n, m = len(kind["queries"]), len(kind["keys"])
                        weights = [(b / 255)**2 for b in base64.b64decode(packed)]
                        self.assertEqual(len(weights), kind["layers"] * kind["heads"] * n * m)
                        for row in range(0, len(weights), m):
                            self.assertAlmostEqual(sum(weights[row:row + m]), 1, delta=0.004 * m + 0.004)
                self.assertLess(frames[-1]["probe_loss"], frames[0]["probe_loss"])

    def test_a_longer_run_continues_the_film_of_the_shorter_one(self):
        self.train(self.config(train__max_steps=13), "short")
        self.assertEqual(self.steps_of_film("short"), [0, 1, 2, 4, 8, 10, 13])
        end = self.film("short")[1][-1]
        self.assertEqual((end["end"], end["valid_loss"]), (True, self.metrics("short", "valid")[-1]["loss"]))
        self.resume("short", "--max-steps", 20)  # which drops the frame of the end
        self.train(self.config(), "long")
        self.same_film("short", "long")

    def test_a_killed_run_has_the_film_of_the_whole_run(self):
        config = self.config(train__save_every=6, train__max_steps=3000, model__d_model=32)
        p = self.spawn("train", config, "--run", self.folder / "run")
        self.wait_for(lambda: self.path().exists() and '"step":16,' in self.path().read_text(), p)
        p.kill()
        p.wait()
        at = max(self.steps())
        with self.path().open("a") as f:
            f.write('{"kind":"frame","step":2')  # torn
        self.resume("run", "--stop-at", at + 80)
        self.train(config, "whole", "--stop-at", at + 80)
        self.same_film("run", "whole")

    def test_a_run_that_was_killed_before_its_first_checkpoint_begins_its_film_again(self):
        config = self.config(train__save_every=0)
        self.train(config, "whole")
        whole = self.path("whole").read_text()
        lines = whole.splitlines(keepends=True)
        for left in ("", lines[0], lines[0][:50], "".join(lines[:2]), "".join(lines[:5])):
            self.train(config, "run", "--force")
            self.lose_checkpoints()
            self.path().write_text(left)
            self.resume("run")
            self.assertEqual(self.path().read_text(), whole)

    def test_a_damaged_film_stops_no_training(self):
        self.train(self.config(), "whole")
        for damage in ("missing", "empty", "folder", "pipe", "garbage", "another", "binary"):
            with self.subTest(damage):
                self.train(self.config(), damage, "--stop-at", 9)
                path = self.path(damage)
                whole = path.read_text()
                path.unlink()
                {"missing": lambda: None, "empty": path.touch, "folder": path.mkdir, "pipe": lambda: os.mkfifo(path),
                 "garbage": lambda: path.write_text('{"kind":"frame","step":1,"weights":3}\n[]\n{"step":0}\n'),
                 "another": lambda: path.write_text(whole.replace("probe", "prob", 1)),
                 "binary": lambda: path.write_bytes(bytes(range(256)) * 100)}[damage]()
                self.check("verify", self.folder / damage, status=0 if damage == "missing" else 4)
                is_file = damage not in ("folder", "pipe")
                if is_file:
                    self.assertEqual(self.report(damage)["frames"], [])
                else:
                    self.check("report", self.folder / damage, "--json", status=4, facts="film.jsonl", timeout=30)
                self.resume(damage, timeout=30)
                self.assertFalse(damage == "missing" and path.exists())  # a film without its beginning is not begun
                self.same_checkpoint("whole", damage, 20)
                if is_file:
                    self.assertEqual(self.report(damage)["last_step"], 20)

    def test_the_report_reads_neither_data_nor_weights(self):
        self.train(self.config(data={"train": "a.txt", "valid_fraction": 0}, train__max_steps=16))
        data = self.report()
        self.assertEqual(data["frames"][-1]["step"], 16)
        self.assertEqual(data["parameter_count"], self.json("inspect", "run")[0]["parameters"])
        (self.folder / "a.txt").unlink()
        for tensors in self.checkpoints().glob("*/*.safetensors"):
            tensors.write_bytes(b"")
        self.assertEqual(self.report(), data)
        self.assertEqual(data["notes"], ["Nothing was held out: the texts are training data."])

    def test_the_best_checkpoint_has_a_frame_when_the_run_stops(self):
        config = self.config(train__ema_decay=0.9, train__eval_every=3, train__save_every=3, train__keep_last=0)
        self.train(config, "there", "--stop-at", 9)
        there = self.film("there")[1][-1]
        self.train(config, "run", "--stop-at", 16)
        self.assertNotIn(9, self.steps_of_film())  # its quarter of the way from 8 to 16 has 8
        whole = self.path().read_text()
        state = self.step(9) / "state.json"
        state.write_text(re.sub(r'"valid_loss": [0-9.]+', '"valid_loss": 0.5', state.read_text()))
        seal(state.parent)
        self.resume("run", "--stop-at", 18)
        self.assertEqual(self.link("best"), 9)
        stop, best = (frame for frame in self.film()[1] if "end" in frame)
        self.assertEqual((best["step"], best["valid_loss"], stop["step"]), (9, 0.5, 18))
        for key in ("weights", "pull", "heads", "words", "written", "probe_loss", "entropy"):
            self.assertEqual(best[key], there[key], key)
        self.assertEqual([f["step"] for f in self.report()["frames"]], [0, 1, 2, 3, 4, 6, 8, 9, 12, 15, 16, 18])
        self.assertEqual(self.report()["learning"][-1]["step"], 18)
        self.check("verify", "run")
        self.resume("run")
        ends = [f["step"] for f in self.film()[1] if "end" in f]
        self.assertEqual(ends, [20, 9])
        kept = [line for line in self.path().read_text().splitlines(keepends=True) if '"end":true' not in line]
        self.assertEqual("".join(kept), whole)

    def test_the_film_of_a_run_that_was_given_its_weights_begins_with_them(self):
        self.train(self.config(train__max_steps=18), "first")
        last = self.report("first")["frames"][-1]
        self.train(self.config("again", seed=7), "run", "--init-from", self.checkpoints("first") / "last")
        begin = self.film()[1][0]
        self.assertEqual((begin["step"], begin["written"], begin["weights"]), (0, last["written"], last["weights"]))

    def test_a_model_of_too_many_heads_has_a_film_without_maps(self):
        self.train(self.config(family="causal_lm", model={"d_model": 32, "n_heads": 32, "d_ff": 2, "encoder_layers": 0,
                                                          "decoder_layers": 43}, train__max_steps=2))
        probe, frames = self.film()
        self.assertEqual([(f["step"], f["weights"]) for f in frames], [(0, []), (1, []), (2, [])])
        data = self.report()
        self.assertEqual([f["written"] for f in data["frames"]], [f["written"] for f in frames])
        self.assertEqual([r["matrices"] for r in data["learning"]], [f["matrices"] for f in frames])

    def test_the_log_has_the_prompt_once_and_then_samples(self):
        for family in FAMILIES:
            with self.subTest(family):
                masked = family in ("masked_lm", "span_corruption")
                config = self.config(family=family, **({"tokenizer": {"type": "word"}} if masked else {}))
                log = self.train(config, family, env={"TERM": "xterm", "NO_COLOR": ""}).err
                self.assertNotRegex(log, r"(?m)[\x1b\r]|[=>\]] \d+/20|^ *\d+s \| ")  # a pipe gets neither colour nor bar nor tenths
                probe, frames = self.film(family)
                shown = len(probe["prompts"]) > 1
                prompt, = re.findall(r"^prompt +\| (.*)", log, re.M)
                self.assertLess(log.index("prompt  "), log.index("sample  "))
                samples = re.findall(r"^sample +(\d+) \| (.*)", log, re.M)
                self.assertEqual([step for step, _ in samples], ["0", "10", "20"])
                if masked:  # the text with its masks filled in
                    kept = max(re.split(r"<extra_id_\d>", probe["prompts"][0]), key=len).split()[:2 * (family == "span_corruption")]
                    for _, sample in samples:
                        self.assertNotRegex(sample, r"\[MASK\]|<extra_id|, ")
                        self.assertIn(" ".join(kept), sample)
                    continue
                self.assertEqual(prompt, probe["prompts"][shown].strip().replace("\n", "\\n"))
                self.assertTrue(probe["expected"][shown])
                sample = samples[-1][1].replace("\\n", "\n")
                if family == "seq2seq":
                    source, sample, reference = re.fullmatch(r"(.*) -> (.*) \((.*)\)", sample).groups()
                    self.assertTrue(prompt.startswith(source.rstrip("…")) and probe["expected"][shown].startswith(reference.rstrip("…")))
                self.assertTrue(frames[-1]["written"][shown].strip().startswith(sample))

    def test_a_prompt_that_is_given_changes_no_byte_of_a_checkpoint(self):
        texts = {"prefix_lm": "the old", "causal_lm": "the old", "seq2seq": "old miller", "masked_lm": "[MASK]ill",
                 "span_corruption": "[MASK]ill"}
        for family, text in texts.items():
            with self.subTest(family):
                config = self.config(family=family)
                self.train(config, family)
                log = self.train(config, family + "2", "--prompt", text).err
                self.assertRegex(log, r"prompt +\| .*" + re.escape(text.split()[-1].split("]")[-1]))
                probe, frames = self.film(family + "2")
                self.assertEqual((len(probe["prompts"]), probe["expected"], probe.get("follows")), (1, [""], None))
                self.assertTrue(frames[-1]["written"][0])
                self.assertEqual(frames[-1]["probe_loss"] is None, family != "causal_lm")
                self.assertEqual(len(self.report(family + "2")["frames"]), len(STEPS))
                self.same_checkpoint(family, family + "2", 20)
                kept = [json.loads((self.folder / run / "config.json").read_text())["train"].get("prompt")
                        for run in (family, family + "2")]
                self.assertEqual(kept, [None, text])

    def test_a_prompt_that_no_model_can_begin_with_leaves_no_run(self):
        for family, text, facts, status in (("causal_lm", "ЖЖ", "U+0416", 3), ("masked_lm", "mill", "[MASK]", 2)):
            for prompt in (["--prompt", text], ["--set", "train.prompt=" + text]):
                self.check("train", self.config(family=family), "--run", "run", *prompt, facts=facts, status=status)
                self.assertFalse((self.folder / "run").exists())

    def test_another_prompt_begins_another_film(self):
        self.train(self.config(), "run", "--stop-at", 9)
        self.resume("run", "--set", "train.prompt=the river", "--stop-at", 17)
        probes = [json.loads(line) for line in self.path().read_text().splitlines() if '"probe"' in line]
        self.assertEqual([(p["step"], p["prompts"][-1]) for p in probes][1:], [(9, "the river")])
        self.assertEqual([f["step"] for f in self.report()["frames"]], [10, 16, 17])
        self.check("verify", "run")
        self.resume("run")
        self.assertEqual([f["step"] for f in self.report()["frames"]], [10, 16, 20])


if __name__ == "__main__":
    unittest.main()
