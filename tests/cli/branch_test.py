"""heed resume STEM --branch DIR: a branch equals a run of its config from the first step, and its stem is only read."""
import json
import shutil
import unittest

from runs import RunsTest, said, text

# The stem would decay from step 80 on. It stops at 12, with its best checkpoint among the earlier ones.
STEM = {"optimizer__schedule": "wsd", "train__max_steps": 100, "train__eval_every": 4, "train__save_every": 6,
        "train__log_every": 3, "train__keep_last": 2, "optimizer__min_learning_rate": 1e-4}


class Branch(RunsTest):
    def stem(self, stop=12, name="stem", **changes):
        self.train(self.config(name, **{**STEM, **changes}), name, "--stop-at", stop)

    def branch(self, *args, run="branch", stem="stem", **kw):
        return self.check("resume", stem, "--branch", self.folder / run, *args, **kw)

    def traces(self, run="stem"):
        """Everything stat() shows of a run's files and folders, except access times."""
        return {str(p): (s.st_mtime_ns, s.st_ctime_ns, s.st_ino, s.st_size, p.is_file() and p.read_bytes())
                for p in sorted([self.folder / run, *(self.folder / run).rglob("*")]) for s in [p.lstat()]}

    def test_a_branch_leaves_its_stem_alone(self):
        self.stem()
        before = self.traces()
        r = self.branch("--max-steps", 20, "--threads", 1, facts=[
            said("changed", "train.max_steps", 100, 20), said("branched", "stem", 12), "16", "0.0001", "20"])
        self.assertNotIn("warning", r.err)
        self.assertEqual(self.traces(), before)
        self.check("verify", "branch")
        origin = json.loads((self.folder / "branch/origin.json").read_text())
        self.assertEqual((origin["branched_from"], origin["branched_at"]), ("stem", 12))
        self.assertIn("--branch", origin["command"])
        event, = [e for e in self.metrics("branch", "event") if e["event"] == "branch"]
        self.assertEqual((event["step"], event["text"]), (12, said("branched", "stem", 12)))
        self.assertLess(self.metrics("branch", "train")[-1]["learning_rate"], 0.01)

    def test_the_best_checkpoint_and_the_first_weights_come_along(self):
        self.stem(8, "first")
        self.train(self.config("stem", **STEM), "stem", "--init-from", "first", "--stop-at", 6)
        # Steps this large only make it worse, so that the best checkpoint is an early one.
        self.resume("stem", "--set", "optimizer.learning_rate=0.2", "--stop-at", 14)
        best = self.link("best", "stem")
        self.assertLess(best, 14)
        shutil.rmtree(self.folder / "first")
        self.branch("--max-steps", 20, "--stop-at", 15)
        self.assertEqual(self.link("best", "branch"), best)
        self.assertTrue({0, best, 14} <= set(self.steps("branch")))
        for step in (0, best, 14):
            for name in ("model.safetensors", "training.safetensors"):
                same = [(self.step(step, run) / name).read_bytes() for run in ("stem", "branch")]
                self.assertEqual(*same, f"{name} of step {step}")
        self.check("verify", "branch")
        self.check("inspect", "branch")

    def test_rates_that_the_steps_done_did_not_have_are_refused_with_what_fits(self):
        self.stem()
        before = self.traces()
        self.branch("--max-steps", 14, status=2, facts=["12", "--max-steps", "optimizer.decay_fraction"])
        for fits in (["--max-steps", 15], ["--max-steps", 14, "--set", "optimizer.decay_fraction=0.142"]):
            self.assertFalse((self.folder / "branch").exists())
            self.branch(*fits, "--stop-at", 13)
            shutil.rmtree(self.folder / "branch")
        self.branch("--max-steps", 20, "--set", "optimizer.learning_rate=0.5", status=2,
                    facts=["1", "learning_rate", "warmup_steps"])
        self.branch("--max-steps", 20, "--set", "optimizer.clip_norm=3", status=2, facts="--set optimizer.clip_norm=1")
        self.branch("--max-steps", 20, "--set", "seed=4", status=2, facts="seed")
        self.branch("--max-steps", 12, status=2, facts=["12", "stem", "train.max_steps", "--max-steps"])
        self.assertEqual(self.traces(), before)
        self.resume("stem", "--set", "optimizer.warmup_steps=8", status=2, facts=["optimizer.warmup_steps", "--init-from", "--branch"])
        self.resume("stem", "--max-steps", 100, "--stop-at", 85)
        self.branch("--max-steps", 120, status=2, facts="81")

    def test_a_branch_begins_at_any_checkpoint_that_can_be_continued(self):
        self.stem()
        self.stem(90, "fallen", train__save_every=40, train__keep_last=0)
        self.branch("--max-steps", 120, stem="fallen", status=2, facts=["81", "--checkpoint"])
        before = self.traces("fallen")
        self.branch("--max-steps", 120, "--stop-at", 82, "--checkpoint", "step-80", stem="fallen", run="late", facts=said("branched", "fallen", 80))
        self.assertEqual(self.traces("fallen"), before)
        self.branch("--max-steps", 14, status=2, facts="--checkpoint")
        self.branch("--max-steps", 10, "--checkpoint", "step-8")
        self.check("average", "fallen", "--last", 2)
        self.branch("--max-steps", 20, "--checkpoint", "step-7", run="no", status=4, facts="step-7")
        shutil.copytree(self.step(80, "fallen"), self.checkpoints("fallen") / "copy-00000080")
        for name in ("average-88-90", "copy-00000080"):
            self.branch("--max-steps", 120, "--checkpoint", name, stem="fallen", run="no", status=2, facts=[name, "--checkpoint step-N"])
        self.branch("--max-steps", 20, "--checkpoint", self.step(12, "fallen"), run="no", status=2, facts="stem")
        self.check("resume", "stem", "--checkpoint", "last", status=2, facts="--branch")

    def test_schedules_whose_rates_depend_on_the_end_have_no_branch(self):
        for schedule in ("linear", "cosine"):
            self.stem(name=schedule, optimizer__schedule=schedule)
            self.branch("--max-steps", 20, stem=schedule, status=2, facts=["optimizer.schedule", "wsd"])
        self.stem(optimizer__schedule="constant", optimizer__min_learning_rate=0)
        self.branch("--max-steps", 20, "--set", "optimizer.schedule=wsd")

    def test_a_folder_that_is_taken_is_refused_as_by_train(self):
        self.stem()
        self.stem(2, "branch")
        before, old = self.traces(), self.snapshot("branch")
        self.branch("--max-steps", 20, status=2, facts="--force")
        for inside in ("stem", "stem/deeper", "stem/../stem/", "."):
            self.branch("--max-steps", 20, "--force", run=inside, status=2, facts="stem")
        for inside in ("sub", "checkpoints/step-00000999", "../stem/sub"):
            r = self.check("resume", ".", "--branch", inside, "--max-steps", 20, status=2, cwd=self.folder / "stem")
            self.assertIn("overlap", r.err)
        self.check("resume", "stem", "--branch", "", "--max-steps", 20, status=2, facts=["--branch", "heed resume --help"])
        self.check("resume", "stem", "--force", status=2, facts="--branch")
        self.assertEqual(self.traces(), before)
        self.branch("--max-steps", 20, "--force")
        self.assertEqual(self.snapshot("branch.old-1"), old)
        self.assertEqual(self.link("last", "branch"), 20)

    def test_a_stem_without_a_whole_checkpoint_has_no_branch(self):
        self.stem()
        before, _ = self.steps("stem")[-2:]
        model = self.step(12, "stem") / "model.safetensors"
        model.write_bytes(model.read_bytes()[:-1])
        self.branch("--max-steps", 20, "--stop-at", 13, facts=["warning:", said("branched", "stem", before)])
        for run in ("branch", "stem"):
            self.lose_checkpoints(run)
        self.resume("branch", status=4, facts=["stem", "--force", "--branch"])
        self.branch("--max-steps", 20, run="no", status=4, facts="stem")
        self.assertFalse((self.folder / "no").exists())

    def test_branches_leave_a_stem_that_is_training(self):
        config = self.config("stem", **{**STEM, "train__max_steps": 1_000_000, "train__save_every": 1, "train__keep_last": 1})
        training = self.spawn("train", config, "--run", "stem", "--quiet")
        self.wait_for((self.checkpoints("stem") / "best").exists, training)
        for i in range(5):
            self.branch("--max-steps", 900_000, "--set", "train.max_minutes=0.0001", run=f"b{i}")
            self.check("verify", f"b{i}")
        self.assertIsNone(training.poll())
        training.terminate()
        self.assertEqual(training.wait(), 143)
        self.check("verify", "stem")

    def test_a_branch_of_a_text_from_standard_input_has_its_own_copy(self):
        self.check("train", "-", "--run", "stem", "--minutes", 0.05, "--set", "train.max_steps=9", "--set", "optimizer.schedule=constant",
                   stdin=text(1000))
        self.branch("--max-steps", 12)
        shutil.rmtree(self.folder / "stem")
        self.assertEqual((self.folder / "branch" / "text.txt").read_text(), text(1000))
        self.resume("branch", "--more", 2)


if __name__ == "__main__":
    unittest.main()
