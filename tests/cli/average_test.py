"""heed average, and the best checkpoint by the metric that the config selects."""
import json
import unittest

from runs import SMALL, RunsTest, said, weights


class Average(RunsTest):
    RUNS = {"run": SMALL}

    def test_an_average_is_the_mean_of_the_weights(self):
        a, = self.json("average", "run", "--last", 3)
        self.assertEqual(a["steps"], [4, 8, 12])
        mean = weights(self.checkpoints() / "average-4-12" / "model.safetensors")
        steps = [weights(self.step(s) / "model.safetensors") for s in (4, 8, 12)]
        for name, values in mean.items():
            for i in range(0, len(values), 7):
                self.assertAlmostEqual(values[i], sum(s[name][i] for s in steps) / 3, delta=1e-6)
        state = json.loads((self.checkpoints() / "average-4-12" / "state.json").read_text())
        self.assertEqual((state["valid_loss"], state["valid_metric"]), ("nan", "nan"))
        self.json("evaluate", "run", "--checkpoint", "average-4-12")
        self.assertEqual(self.json("average", "run", "--last", 3, "--threads", 2), [a])

    def test_the_weights_before_training_are_not_averaged(self):
        self.train(self.config(**SMALL), "second", "--init-from", "run")
        self.assertEqual(self.steps("second"), [0, 4, 8, 12])
        self.check("average", "second", "--last", 4, status=2, facts="3")


class SelectionByBleu(RunsTest):
    CONFIG = {"family": "seq2seq", "model__d_model": 32, "model__dropout": 0, "train__select_by": "bleu",
              "train__keep_last": 0, "train__batch_tokens": 400, "train__max_steps": 60, "train__eval_every": 10}
    RUNS = {"run": CONFIG}

    def setUp(self):
        super().setUp()
        self.bleus, self.losses = ({e["step"]: e[key] for e in self.metrics(kind="valid")} for key in ("bleu", "loss"))

    def test_the_best_checkpoint_has_the_highest_bleu(self):
        best = max(self.bleus, key=self.bleus.get)
        self.assertGreater(self.bleus[best], 1)
        self.assertNotEqual(best, min(self.losses, key=self.losses.get))
        self.assertEqual(self.link("best"), best)
        log = (self.folder / "run" / "train.log").read_text()
        self.tells(log, f"BLEU {self.bleus[best]:.2f} @ {best}")
        again, = self.json("evaluate", "run", "--checkpoint", f"step-{best}", "--bleu", "--tokenize", "none")
        self.assertAlmostEqual(again["bleu"], self.bleus[best], places=9)

    def test_early_stopping_waits_for_bleu(self):
        steps = sorted(self.bleus)
        worse = next(b for a, b in zip(steps, steps[1:])
                     if self.bleus[b] <= max(self.bleus[s] for s in steps if s <= a))
        self.assertLess(self.losses[worse], min(self.losses[s] for s in steps if s < worse))
        self.train(self.config(**self.CONFIG, train__patience=1), "early", facts=said("early", worse))


if __name__ == "__main__":
    unittest.main()
