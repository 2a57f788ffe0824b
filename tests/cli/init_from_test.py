"""heed train --init-from: a run that starts from another run's weights."""
import json
import shutil
import unittest

from runs import RunsTest, said, text


class InitFrom(RunsTest):
    def test_init_from_takes_weights_and_starts_at_step_0(self):
        self.train(self.config(train__max_steps=30), "first")
        config = self.config(seed=5)
        self.train(config, "second", "--init-from", self.folder / "first", "--stop-at", 1, facts=f"{self.folder}/first")
        self.train(config, "fresh", "--stop-at", 1)
        def loss(run):
            state = self.state(1, run)
            return state["loss_sum"] / state["label_sum"]
        self.assertLess(loss("second"), loss("fresh") - 0.1)
        tokenizer = lambda run: self.files(self.checkpoints(run) / "last")["tokenizer.json"]
        self.assertEqual(tokenizer("first"), tokenizer("second"))
        for change, said in (("model.d_model=16", "model.d_model is 8 there and 16 here"),
                             ("tokenizer.type=byte", 'tokenizer.type is "char" there and "byte" here'),
                             ("model.encoder_layers=2", "model.encoder_layers is 1 there and 2 here"),
                             ("model.bias=false", "model.bias is true there and false here")):
            r = self.train(config, "misfit", "--init-from", self.folder / "first", "--set", change, status=2)
            self.assertIn(said, r.err.splitlines()[0])
            self.assertFalse((self.folder / "misfit").exists(), change)
        self.train(config, "misfit", "--init-from", self.folder / "none", status=4, facts=str(self.folder / "none"))

    def test_a_text_goes_on_with_the_model_of_the_run(self):
        for family in ("causal_lm", "masked_lm"):
            with self.subTest(family):
                self.train(self.config(family=family, train__max_steps=6), family)
                (self.folder / "more.txt").write_text(text(500, seed=2))
                run = family + "2"
                args = ["train", "more.txt", "--init-from", family, "--minutes", 0.02, "--threads", 1]
                self.check(*args, "--run", run, facts=family)
                configs = [self.run_config(x) for x in (family, run)]
                for section in ("tokenizer", "objective", "model"):
                    self.assertEqual(configs[0][section], configs[1][section])
                # A text's usual decay, over 1, would make the weights forget what they learnt.
                self.assertEqual(configs[1]["optimizer"]["weight_decay"], 0.01)
                first = [self.files(self.checkpoints(x) / y)["model.safetensors"]
                         for x, y in ((family, "best"), (run, "step-00000000"))]
                self.assertEqual(*first)
                self.check(*args, "--run", "no", "--like", "gpt", status=2, facts="excludes")
        self.train(self.config(family="seq2seq", train__max_steps=2), "pairs")
        self.check("train", "more.txt", "--init-from", "pairs", status=2, facts=["--init-from pairs", "pairs, not on a text"])
        self.assertFalse((self.folder / "no").exists())

    def test_held_out_lines_that_the_first_run_was_trained_on_are_counted(self):
        lines = [f"{i} lines of a text with more than forty characters\n" for i in range(200)]
        (self.folder / "all.txt").write_text("".join(lines))
        (self.folder / "part.txt").write_text("".join(lines[50:90]))
        self.train(self.config("all", data__train="all.txt", train__max_steps=2), "all")
        part = self.config("part", data__train="part.txt", train__max_steps=2)
        self.tells(self.train(part, "part", "--init-from", "all").err, "of all")
        self.assertNotIn("of all", self.train(part, "own").err)
        (self.folder / "asked.txt").write_text("".join(lines[:10]))
        r = self.check("evaluate", "part", "--file", "asked.txt")
        self.assertRegex(r.err, "10 of 10 .* of .*all")
        self.assertNotIn(" of ", self.check("evaluate", "own", "--file", "asked.txt").err.replace("of 40", ""))
        for begun, old in ("all", "all.old-1"), ("all/checkpoints/last", "all.old-2/checkpoints"):
            self.train(part, "all", "--init-from", begun, "--force")  # a run that begins with what it replaces
            self.assertIn(old, json.loads((self.folder / "all/origin.json").read_text())["init_from"])
            self.assertRegex(self.check("evaluate", "all", "--file", "asked.txt").err, f"10 of 10 .* of .*{old}")

    def test_a_vocabulary_that_knows_little_of_the_text_is_refused(self):
        self.train(self.config(train__max_steps=2), "first")
        (self.folder / "other.txt").write_text("Совсем другой текст.\n" * 200)
        other = self.config("other", data__train="other.txt")
        r = self.train(other, "second", "--init-from", self.folder / "first", status=3)
        self.tells(r.err, f"--init-from {self.folder}/first")
        self.assertRegex(r.err, r"\d %.* '\w' \(U")  # the share, and which
        self.assertFalse((self.folder / "second").exists())
        words = self.config("words", data__train="other.txt", tokenizer__type="word", tokenizer__file="v.json")
        (self.folder / "v.json").write_text("Совсем\nдругой\n")
        self.train(words, "second", "-q", status=3, facts=["tokenizer.file", "v.json", "50 %"])

    def test_another_function_of_the_same_weights_is_reported(self):
        self.train(self.config(train__max_steps=2), "first")
        for sets in (["--set", "model.activation=relu", "--set", "model.dropout=0.3"], []):
            r = self.train(self.config(), f"run{len(sets)}", "--init-from", "first", "--stop-at", 1, *sets)
            self.assertEqual("trained with other settings: model.activation from " in r.err, bool(sets), r.err)
            self.assertNotIn("model.dropout from", r.err)

    def test_initial_weights_are_saved_before_the_first_step(self):
        self.train(self.config(train__max_steps=6), "first")
        weights = lambda path: self.files(path)["model.safetensors"]
        first = weights(self.checkpoints("first") / "best")
        self.check("train", self.config(train__keep_last=0), "--run", "second", "--init-from", "first")
        self.assertEqual(json.loads((self.folder / "second" / "origin.json").read_text())["init_from"],
                         str(self.folder / "first"))
        self.assertEqual(self.steps("second"), [0, 10, 20])
        self.assertEqual(weights(self.checkpoints("second") / "step-00000000"), first)
        # A run that was killed before its next save continues from there.
        shutil.copytree(self.folder / "second", self.folder / "killed", symlinks=True)
        for step in (10, 20):
            shutil.rmtree(self.step(step, "killed"))
        for link in ("best", "last"):
            (self.checkpoints("killed") / link).unlink()
        self.resume("killed", facts=said("resuming", 0))
        for step in (10, 20):
            self.same_checkpoint("second", "killed", step)
        self.lose_checkpoints("killed")
        self.resume("killed", status=4, facts=["killed", "first", "--force"])


if __name__ == "__main__":
    unittest.main()
