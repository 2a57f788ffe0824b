"""Small and odd configs, end to end."""
import os
import subprocess
import unittest
from pathlib import Path

from runs import HEED, RunsTest, text, weights

ROOT = Path(__file__).resolve().parents[2]


class Corners(RunsTest):
    def test_odd_shapes_train_and_resume(self):
        (self.folder / "short.txt").write_text("abcab")
        cases = {
            "more shards than sequences": {"train__shards": 64},
            "a step smaller than an example": {"train__batch_tokens": 1},
            "micro-batches smaller than an example": {"train__micro_batch_tokens": 1},
            "one step for the whole text": {"train__batch_tokens": 1000000},
            "target_length 1": {"objective__target_length": 1},
            "source_length 1": {"objective__source_length": 1},
            "both 1": {"objective__target_length": 1, "objective__source_length": 1},
            "masked 1": {"family": "masked_lm", "objective__source_length": 1,
                         "objective__mask_fraction": 1},
            "span 1": {"family": "span_corruption", "objective__source_length": 1},
            "span 2, all masked": {"family": "span_corruption", "objective__source_length": 2,
                                   "objective__mask_fraction": 1, "objective__mean_span": 1},
            "span, learned positions": {"family": "span_corruption", "model__positions": "learned",
                                        "objective__mask_fraction": 0.5, "objective__mean_span": 1},
            "span, pieces": {"family": "span_corruption", "model__positions": "rotary",
                             "tokenizer": {"type": "unigram", "vocab_size": 300}},
            "shorter than a tile": {"data__train": "short.txt", "data__valid_fraction": 0,
                                    "objective__target_length": 50},
            "held out one token": {"data__train": "short.txt", "data__valid_fraction": 0.2},
            "width 1": {"model__d_model": 1, "model__n_heads": 1, "model__d_ff": 1,
                        "model__positions": "none"},
            "adam": {"optimizer": {"type": "adam", "betas": [0, 0]}},
            "smoothing": {"objective__label_smoothing": 0.9},
            "much dropout": {"model__dropout": 0.95},
            "no held-out part": {"data__valid_fraction": 0, "train__eval_every": 3},
        }
        # Each schedule goes with one of the shapes.
        for name, schedule in zip(("target_length 1", "source_length 1", "both 1", "smoothing", "much dropout"),
                                  ("constant", "linear", "cosine", "inverse_sqrt", "noam")):
            cases[name] |= {"optimizer__schedule": schedule, "optimizer__warmup_steps": 2}
        for name, changes in cases.items():
            with self.subTest(name):
                run = name.replace(" ", "_")
                self.train(self.config(train__max_steps=5, **changes), run)
                self.assertEqual(self.link("last", run), 5)
                self.assertIn(self.link("best", run), self.steps(run))
                if changes.get("data__valid_fraction") == 0:
                    self.assertEqual(self.metrics(run, "valid"), [])
                    self.assertEqual(self.link("best", run), 5)
                # The rate of these ends at 0.
                self.resume(run, "--more", 1, status=2 if changes.get("optimizer__schedule") in ("linear", "cosine") else 0)

    def test_a_longer_text_takes_only_the_memory_of_its_ids(self):
        """Two bytes per character, and never a second copy of them or of the text."""
        self.skip_under_a_sanitizer()
        peaks = []
        for megabytes in (2, 22):
            # In pieces, because a child's peak memory starts at that of its parent.
            piece = text(2000)
            with open(self.folder / "long.txt", "w") as f:
                for _ in range(megabytes * 1_000_000 // len(piece)):
                    f.write(piece)
            config = self.config(family="causal_lm", data__train="long.txt", data__valid_fraction=0, train__max_steps=1)
            p = subprocess.Popen([HEED, "train", config, "--run", f"run{megabytes}", "--quiet"], cwd=self.folder)
            _, p.returncode, usage = os.wait4(p.pid, 0)
            self.assertEqual(p.returncode, 0)
            peaks.append(usage.ru_maxrss / 1000)
        self.assertLess(peaks[1] - peaks[0], 20 * 2 + 6)

    def test_the_end_is_validated_before_it_is_saved(self):
        self.train(self.config(train__log_every=0, train__eval_every=0, train__save_every=5,
                               train__max_steps=10))
        self.assertEqual([(e["kind"], e["step"]) for e in self.metrics() if e["kind"] in ("train", "valid")],
                         [("train", 10), ("valid", 10)])
        self.assertEqual(self.steps(), [5, 10])
        valid, = self.metrics(kind="valid")
        self.assertEqual(self.state(10)["valid_loss"], valid["loss"])
        self.assertEqual(self.state(10)["best_step"], -1)  # patience sees multiples of eval_every alone
        self.assertEqual(self.link("best"), 10)

    def test_epochs_are_intervals_and_a_limit_that_can_be_raised(self):
        config = self.config(train__max_steps=0, train__max_epochs=3, train__save_every="1 epoch",
                             train__eval_every="1 epoch", train__log_every="2 epochs",
                             train__keep_last=0, train__batch_tokens=400)
        self.train(config)
        self.assertEqual(len(self.steps()), 3)
        for epoch, step in enumerate(self.steps(), 1):
            self.assertEqual(self.state(step)["cursor"], {"epoch": epoch, "index": 0})
        self.assertEqual([e["step"] for e in self.metrics(kind="valid")], self.steps())
        self.assertEqual([e["step"] for e in self.metrics(kind="train")], self.steps()[1:])  # of two epochs, and of the rest
        self.resume("run", facts=["nothing to do", "--more"])
        self.resume("run", "--set", "train.max_epochs=4")
        self.assertEqual(len(self.steps()), 4)

    def test_the_plan_of_epochs_is_what_happens(self):
        config = self.config(train__max_epochs=2, train__batch_tokens=400, train__log_every=1,
                             optimizer__schedule="cosine", optimizer__warmup_steps=1)
        r = self.train(config, "run", "--set", "train.max_steps=null")
        steps = self.link("last")
        tokens = self.state(steps)["tokens_seen"] / steps
        self.tells(r.err, [f"{steps} steps", f"{tokens:.0f} tokens"])
        self.tells(r.err, ["cosine", f"0 at step {steps}"])
        self.assertEqual(self.run_config()["optimizer"]["decay_steps"], steps)
        self.assertEqual(self.metrics(kind="train")[-1]["learning_rate"], 0)
        self.resume("run", "--set", "train.max_epochs=3", "--set", "optimizer.min_learning_rate=1e-5", facts=["cosine", f"1e-05 at step {steps}"])
        self.assertEqual(self.run_config()["optimizer"]["decay_steps"], steps)
        self.train(config, "short", "--set", "train.max_steps=3", facts="3 steps")
        self.assertEqual(self.run_config("short")["optimizer"]["decay_steps"], 3)

    def test_weights_do_not_depend_on_micro_batches_or_shards(self):
        """Dropout included: only the rounding of sums may differ."""
        def trained(run, **changes):
            self.train(self.config(train__max_steps=3, train__batch_tokens=300,
                                   optimizer={"type": "sgd", "learning_rate": 0.1,
                                              "schedule": "constant", "warmup_steps": 0},
                                   **changes), run)
            return sum(weights(self.checkpoints(run) / "last" / "model.safetensors").values(), [])

        for family in ("prefix_lm", "causal_lm", "masked_lm", "seq2seq", "span_corruption"):
            whole = trained(family, family=family, train__micro_batch_tokens=100000,
                            train__shards=1)
            largest = max(map(abs, whole))
            for micro, shards in ((1, 1), (40, 3), (100, 7)):
                parts = trained(f"{family}{micro}", family=family,
                                train__micro_batch_tokens=micro, train__shards=shards)
                worst = max(abs(a - b) for a, b in zip(whole, parts)) / largest
                self.assertLess(worst, 2e-6, (family, micro))

    def test_copying_is_learnt(self):
        """A whole training whose result is known. (lesson_test.py has more.)"""
        self.train(ROOT / "configs/copy.json", "copy", "-q")
        pairs = ["--file", ROOT / "data/copy.test.source", "--target-file", ROOT / "data/copy.test.target"]
        found, = self.json("evaluate", "copy", *pairs, "--bleu", "--beam-size", 1)
        self.assertGreater(found["exact_match"], 99)


if __name__ == "__main__":
    unittest.main()
