"""heed evaluate: its figures against plain arithmetic, against each other and against the log of training."""
import json
import math
import unittest

from runs import SMALL, RunsTest, text


class Evaluate(RunsTest):
    RUNS = {"run": SMALL}

    def test_figures_agree_with_each_other_and_with_the_log(self):
        e, = self.json("evaluate", "run")
        self.assertEqual(list(e), ["data", "checkpoint", "step", "loss", "perplexity", "accuracy",
                                   "bits_per_byte", "tokens", "bytes"])
        self.assertAlmostEqual(e["perplexity"], math.exp(e["loss"]), places=9)
        self.assertAlmostEqual(e["bits_per_byte"],
                               e["loss"] * e["tokens"] / (math.log(2) * e["bytes"]), places=9)
        size = (self.folder / "a.txt").stat().st_size
        self.assertEqual(e["bytes"], size - int(size * 0.9))
        self.assertEqual(e["loss"], self.metrics(kind="valid")[-1]["loss"])

    def test_a_checkpoint_folder_is_named_by_its_step(self):
        for place in ("checkpoints/best/", "checkpoints/step-00000012/"):
            named, = self.json("evaluate", self.folder / "run" / place)
            self.assertEqual(named["checkpoint"], "step-00000012")

    def test_the_table_has_the_figures_of_json(self):
        e, = self.json("evaluate", "run")
        shown = self.out("evaluate", "run")
        self.assertIn("checkpoint step-00000012\n", shown)
        self.assertIn(f"{e['perplexity']:.3f}", shown)

    def test_another_text_is_scored_whole(self):
        (self.folder / "b.txt").write_text(text(50, 7))
        other, = self.json("evaluate", "run", "--data", self.folder / "b.txt")
        self.assertEqual(other["bytes"], (self.folder / "b.txt").stat().st_size)
        self.assertNotIn("unknown_tokens", other)

    def test_unknown_tokens_are_counted(self):
        (self.folder / "b.txt").write_text("the \u20ac\u20ac\n")
        strange, = self.json("evaluate", "run", "--data", self.folder / "b.txt")
        self.assertEqual(strange["unknown_tokens"], 2)

    def test_a_missing_text_is_named(self):
        r = self.check("evaluate", "run", "--data", "none.txt", status=3, words="none.txt")
        self.assertNotIn("config", r.err)

    def test_a_damaged_best_checkpoint_leads_to_a_whole_one(self):
        model = self.checkpoints() / "step-00000012" / "model.safetensors"
        model.write_bytes(model.read_bytes()[:-1])
        for command in ("evaluate", "sample", "inspect", "tokenize"):
            self.check(command, "run", status=4, words=["step-00000012", "--checkpoint step-8"])


class EvaluatePairs(RunsTest):
    def test_an_unknown_word_of_the_source_does_not_spoil_bits_per_byte(self):
        self.train(self.config(family="seq2seq", **SMALL))
        (self.folder / "t").write_text("the miller\n")
        for source, there in (("the old\n", True), ("the ocean\n", True)):
            (self.folder / "s").write_text(source)
            e, = self.json("evaluate", "run", "--source", "s", "--target", "t")
            self.assertEqual("bits_per_byte" in e, there, source)
        (self.folder / "t").write_text("the ocean\n")
        e, = self.json("evaluate", "run", "--source", "s", "--target", "t")
        self.assertNotIn("bits_per_byte", e)

    def test_bleu_of_piped_pairs_is_that_of_files_and_its_signature_tells_lower_casing(self):
        self.train(self.config(family="seq2seq", **SMALL, data={"source": "a.source", "target": "a.target",
                                                                "valid_fraction": 0.1, "lowercase": True}))
        args = ("evaluate", "run", "--bleu", "--json", "--target", "a.target", "--source")
        piped = self.out(*args, "-", stdin=(self.folder / "a.source").read_text())
        file, = self.json(*args[:3], *args[4:], "a.source")
        self.assertEqual({**json.loads(piped), "data": ""}, {**file, "data": ""})
        self.assertIn("case:lc", file["signature"])
        self.assertIn("case:lc", file["chrf_signature"])


class EvaluateWithStride(RunsTest):
    RUNS = {"run": {"family": "causal_lm", **SMALL},
            "words": {"family": "causal_lm", "tokenizer": {"type": "word"}, **SMALL}}

    def test_every_stride_scores_every_token_and_a_whole_window_is_no_stride(self):
        tiled, = self.json("evaluate", "run")
        for stride in (1, 3, 8):
            e, = self.json("evaluate", "run", "--stride", stride)
            self.assertEqual(e["tokens"], tiled["tokens"])
            self.assertEqual(abs(e["loss"] - tiled["loss"]) < 1e-6, stride == 8, stride)

    def test_a_stride_longer_than_the_window_is_refused(self):
        self.check("evaluate", "run", "--stride", 9, status=2, words="target_length, 8")

    def test_a_text_without_a_token_is_refused(self):
        (self.folder / "blank.txt").write_text("  ")
        self.check("evaluate", "words", "--data", "blank.txt", "--stride", 4, status=3, words="no token")


class ChangedHeldOutData(RunsTest):
    def setUp(self):
        super().setUp()
        (self.folder / "v.txt").write_text(text(60, 3))
        self.train(self.config(data={"train": "a.txt", "valid": "v.txt"}), "run", "--stop-at", 4)

    def test_its_hash_is_recorded_and_the_same_data_is_not_warned_of(self):
        origin = json.loads((self.folder / "run" / "origin.json").read_text())
        self.assertEqual(len(origin["valid_sha256"]), 64)
        self.assertNotIn("changed since", self.check("evaluate", "run").err)

    def test_it_stops_resume_and_warns_evaluate(self):
        (self.folder / "v.txt").write_text(text(60, 4))
        self.resume("run", status=3, words="SHA-256")
        self.check("evaluate", "run", words=["warning", "changed since"])
        log = (self.folder / "run" / "train.log").read_text()
        self.assertIn("error: the data (training or held-out)", log)


if __name__ == "__main__":
    unittest.main()
