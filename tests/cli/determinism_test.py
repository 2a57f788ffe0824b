"""The bytes of a checkpoint depend only on the config, not on threads or interruptions."""
import unittest

from runs import RunsTest

KINDS = {
    "prefix_lm": {},
    "causal_lm": {"family": "causal_lm"},
    "masked_lm": {"family": "masked_lm", "objective__mask_fraction": 0.3},
    "seq2seq": {"family": "seq2seq"},
    "span_corruption": {"family": "span_corruption", "objective__mask_fraction": 0.4, "objective__mean_span": 1.5},
    "ema": {"train__ema_decay": 0.9, "objective__label_smoothing": 0.1},
    "sgd": {"optimizer__type": "sgd"},
    "momentum": {"optimizer__type": "sgd", "optimizer__momentum": 0.9},
    "muon": {"optimizer__type": "muon", "optimizer__schedule": "wsd", "train__ema_decay": 0.9},
    "bpe": {"tokenizer": {"type": "bpe", "vocab_size": 300}},
    "unshared": {"family": "seq2seq", "tokenizer": {"type": "word", "shared": False},
                 "model__tie": "none"},
    "blocks": {"model__norm_type": "rms", "model__feed_forward": "gated", "model__activation": "relu2",
               "model__n_kv_heads": 1, "model__qk_norm": True, "model__bias": False, "model__zero_init": True,
               "model__positions": "rotary", "model__rope_base": 500, "model__activation_dropout": 0.3},
    "epochs": {"train__eval_every": "1 epoch", "train__save_every": "2 epochs",
               "train__log_every": "1 epoch", "train__batch_tokens": 300},
}


class Determinism(RunsTest):
    def test_any_number_of_threads_gives_the_same_bytes(self):
        for kind in ("prefix_lm", "span_corruption", "muon"):
            config = self.config(**KINDS[kind])
            for threads in (1, 2, 3):
                self.train(config, f"{kind}{threads}", "--threads", threads)
            for threads in (2, 3):
                for step in (10, 20):
                    self.same_checkpoint(f"{kind}1", f"{kind}{threads}", step)

    def test_an_interrupted_run_is_the_whole_run(self):
        for kind, changes in KINDS.items():
            with self.subTest(kind):
                config = self.config(**changes)
                self.train(config, kind, "--threads", 1)
                self.train(config, kind + "2", "--threads", 2, "--stop-at", 7)
                self.assertEqual(self.link("last", kind + "2"), 7)
                self.resume(kind + "2", "--threads", 3)
                self.same_checkpoint(kind, kind + "2", 20)
                self.assertEqual(self.link("best", kind), self.link("best", kind + "2"))

    def test_a_run_in_many_parts_with_odd_intervals_is_the_whole_run(self):
        config = self.config(train__eval_every=4, train__save_every=6, train__log_every=5,
                             train__patience=50, train__max_steps=17)
        self.train(config, "whole")
        self.train(config, "parts", "--stop-at", 1)
        for stop in (2, 3, 7, 8, 12, 16):
            self.resume("parts", "--stop-at", stop)
        self.resume("parts")
        for step in {12, 17} & set(self.steps("whole")) & set(self.steps("parts")):
            self.same_checkpoint("whole", "parts", step)
        self.assertIn(17, self.steps("parts"))
        strip = lambda run: [{k: v for k, v in e.items()
                              if k not in ("seconds", "tokens_per_second")}
                             for e in self.metrics(run) if e["kind"] != "event"]
        self.assertEqual(strip("whole"), strip("parts"))

    def test_early_stopping_counts_across_a_restart(self):
        config = self.config(train__eval_every=2, train__patience=2, train__max_steps=400,
                             optimizer__learning_rate=1.0, train__save_every=100,
                             optimizer__clip_norm=0)
        self.train(config, "whole")
        end = self.link("last", "whole")
        self.assertLess(end, 400)
        self.assertEqual(self.state(end, "whole")["stalled"], 2)
        self.train(config, "parts", "--stop-at", end - 1)
        self.resume("parts")
        self.same_checkpoint("whole", "parts", end)
        again = self.resume("parts", facts="--set train.patience=0")
        self.assertEqual(again.status, 0)

    def test_more_steps_by_resuming_are_the_longer_run(self):
        self.train(self.config(), "long")
        self.train(self.config(train__max_steps=10), "short")
        self.resume("short", "--max-steps", 20)
        self.same_checkpoint("long", "short", 20)
        self.train(self.config(train__max_steps=10), "more")
        self.resume("more", "--more", 10)
        self.same_checkpoint("long", "more", 20)


if __name__ == "__main__":
    unittest.main()
