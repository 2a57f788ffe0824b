"""heed rewind: any step comes out byte for byte as a run wrote it that saved there; refusals."""
import json
import shutil
import unittest

from runs import RunsTest, edit_tensor

# Saves at every step; only the first run keeps all of them. (keep_every is not in a checkpoint.)
EVERY = {"train__save_every": 1, "train__max_steps": 24, "train__eval_every": 6, "train__keep_last": 1, "train__log_every": 5}
KINDS = {"prefix": {}, "causal": {"family": "causal_lm"}, "masked": {"family": "masked_lm"}, "spans": {"family": "span_corruption"},
         "pairs": {"family": "seq2seq"}, "ema": {"train__ema_decay": 0.9}, "muon": {"optimizer__type": "muon"},
         "sgd": {"optimizer__type": "sgd", "optimizer__momentum": 0.9},
         "wsd": {"optimizer__schedule": "wsd", "optimizer__decay_fraction": 0.3},
         "patient": {"train__patience": 2, "optimizer__learning_rate": 0.3},
         "smoothed": {"objective__label_smoothing": 0.1, "optimizer__clip_norm": 0.05}}


class Rewind(RunsTest):
    def pair(self, name, *then, **changes):
        """The same training twice: `all` keeps every step, `some` every seventh."""
        for run, every in (("all", 1), ("some", 7)):
            self.train(self.config(f"{name}_{run}", **{**EVERY, **changes}, train__keep_every=every), f"{name}_{run}",
                       *(["--stop-at", 11] if then else []))
            if then:
                self.resume(f"{name}_{run}", *then)

    def rewound(self, run, step):
        return self.folder / run / "rewound" / f"step-{step:08}"

    def same(self, one, other, steps):
        lost = [step for step in steps if step not in self.steps(other)]
        self.assertTrue(lost)
        self.check("rewind", other, *lost)
        for step in lost:
            self.assertEqual(self.files(self.rewound(other, step)), self.files(self.step(step, one)), f"step {step} of {other}")

    def test_every_step_of_every_kind_of_run_is_what_a_save_would_have_written(self):
        for kind, changes in KINDS.items():
            with self.subTest(kind):
                self.pair(kind, **changes)
                self.same(f"{kind}_all", f"{kind}_some", self.steps(f"{kind}_all"))

    def test_a_resumed_run_with_another_rate_and_another_end(self):
        self.pair("resumed", "--set", "optimizer.learning_rate=0.002", "--set", "train.eval_every=4", "--more", 6)
        self.same("resumed_all", "resumed_some", self.steps("resumed_all"))
        # The config of steps 8 to 11 is in no checkpoint that is left.
        shutil.rmtree(self.step(7, "resumed_some"))
        self.check("rewind", "resumed_some", 9, status=2, facts=["9", "train.keep_every"])

    def test_a_branch_and_a_run_with_the_weights_of_another(self):
        wsd = {**KINDS["wsd"], "train__max_steps": 60}
        self.train(self.config("stem", **{**EVERY, **wsd}, train__keep_every=1), "stem", "--stop-at", 12)
        for run in ("branch", "other"):
            self.check("resume", "stem", "--branch", run, "--max-steps", 24, "--set", f"train.keep_every={1 if run == 'branch' else 4}")
        self.same("branch", "other", range(13, 25))
        self.check("rewind", "other", 5, status=2, facts="heed rewind stem 5")
        # A branch has the steps from where it began; that one is not trained.
        found = self.json("rewind", "other", "--log")[0]["checkpoints"]
        self.assertEqual([row["step"] for row in found], [12, 16, 24])
        for run, every in (("first", 1), ("second", 50)):
            self.train(self.config(run, **EVERY, train__keep_every=every), run, "--init-from", "stem")
        self.same("first", "second", range(1, 24))
        found = self.json("rewind", "second", 0, 3)[0]["checkpoints"]
        self.assertEqual([row["checkpoint"] for row in found], ["second/checkpoints/step-00000000", "second/rewound/step-00000003"])
        shutil.rmtree(self.step(0, "second"))
        for step in 5, self.steps("second")[0]:  # a kept one cannot be proved either
            self.check("rewind", "second", step, status=2, facts="stem")

    def test_log_spaced_steps_and_who_finds_them(self):
        self.pair("c")
        found = self.json("rewind", "c_some", "--log")[0]
        self.assertEqual([row["step"] for row in found["checkpoints"]], [0, 1, 2, 4, 8, 16, 24])
        self.assertEqual(found["checkpoints"][-1]["checkpoint"], "c_some/checkpoints/step-00000024")
        for step in (1, 16):
            here, there = (self.json("evaluate", run, "--checkpoint", f"step-{step}")[0] for run in ("c_some", "c_all"))
            self.assertEqual(here["loss"], there["loss"])
        first, drawn = (self.json("score", "c_some", "the mill", "--checkpoint", which)[0]["logprob"] for which in ("step-0", "initial"))
        self.assertEqual(first, drawn)
        # Nobody else takes them.
        self.assertFalse({0, 1, 2, 4, 8, 16} & set(self.steps("c_some")))
        self.assertTrue(self.json("verify", "c_some")[0]["whole"])
        self.check("resume", "c_some", "--branch", "b", "--checkpoint", "step-8", "--more", 5, status=2, facts="step-N")
        self.assertNotIn("rewound", [p.name for p in (self.folder / "c_some/checkpoints").iterdir()])

    def test_what_cannot_be_repeated_is_refused_and_nothing_is_left(self):
        self.train(self.config("c", **EVERY), "run")
        self.check("rewind", "run", status=2, facts="--log")
        self.check("rewind", "nonesuch", 3, status=4, facts="no run at")
        self.check("rewind", "run", 3, "--log", status=2)
        self.check("rewind", "run", 25, status=2, facts="24")
        told = self.check("evaluate", "run", "--checkpoint", "step-3", status=4, facts="heed rewind run 3")
        self.check("evaluate", "run", "--checkpoint", "step-30", status=4)
        self.works(told.err)
        self.check("evaluate", "run", "--checkpoint", "step-3")
        shutil.rmtree(self.folder / "run/rewound")
        # Another processor, in the middle.
        metrics = self.folder / "run/metrics.jsonl"
        whole = metrics.read_text()
        metrics.write_text(whole + json.dumps({"kind": "event", "step": 4, "event": "resume", "text": "", "core_type": "Z80"}) + "\n")
        self.check("rewind", "run", 8, status=2, facts="Z80")
        self.check("rewind", "run", 2)
        shutil.rmtree(self.folder / "run/rewound")
        metrics.write_text(whole)
        # What an audit compares.
        found = self.json("rewind", "run", 20, 24)[0]
        self.assertEqual(self.files(self.rewound("run", 24)), self.files(self.step(24, "run")))
        losses = [json.loads(line)["loss"] for line in found["lines"]]
        self.assertGreater(len(losses), 0)
        for loss in losses:
            self.assertIn(json.dumps(loss), whole)
        shutil.rmtree(self.folder / "run/rewound")
        # Other weights than those of the training.
        kept = self.step(self.steps("run")[-1], "run")
        edit_tensor(kept / "model.safetensors", "decoder.norm.weight", 7.0)
        self.check("rewind", "run", 23, status=6, facts=["24", "model.safetensors"])
        self.assertFalse((self.folder / "run/rewound").exists())
        (self.folder / "a.txt").write_text("other words\n" * 90)
        self.check("rewind", "run", 3, status=3, facts="is not what this run was trained on")


if __name__ == "__main__":
    unittest.main()
