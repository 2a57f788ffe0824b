"""heed resume with a later end: where the rate has begun to fall, a branch of the run goes on from before that."""
import functools
import json
import os
import re
import shutil
import unittest

from runs import RunsTest, said, text

# A run of a text; with 20 steps its rate falls from step 16 on.
TINY = ("model.d_model=16", "model.n_heads=2", "model.d_ff=16", "objective.target_length=16", "train.batch_tokens=64",
        "train.eval_every=5", "train.save_every=5", "train.log_every=5", "train.keep_last=1")


class Extend(RunsTest):
    def texts(self):
        super().texts()
        (self.folder / "mine.txt").write_text(text(400))

    def start(self, run="run", *args, end="train.max_steps=20", **kw):
        given = [str(arg).split("=")[0] for arg in args]
        sets = [x for s in TINY if s.split("=")[0] not in given for x in ("--set", s)]
        return self.check("train", "mine.txt", "--run", run, "--threads", 1, *sets, "--set", end, *args, **kw)

    def equals_a_run_planned_so(self, run, end):
        """Weights, film and curves are those of the run's own config from the first step."""
        self.assertEqual(self.run_config(run)["optimizer"]["decay_steps"], "end")
        fresh = run + "-fresh"
        self.check("train", self.folder / run / "config.json", "--run", fresh)
        self.same_checkpoint(run, fresh, end)
        self.assertEqual(self.film(run), self.film(fresh))
        curves = [{(e["kind"], e["step"], e["loss"]) for e in self.metrics(r) if e["kind"] in ("train", "valid")}
                  for r in (run, fresh)]
        self.assertEqual(*curves)
        self.check("verify", run)
        self.assertIn("finished", self.out("runs", "."))

    def branch_of(self, run, *args, step=16, **kw):
        """Resumes with a later end, which leaves the run as it is; returns the name of its branch."""
        before = self.snapshot(run)
        r = self.check("resume", run, *args, **kw)
        branch = r.err.split()[0]
        self.tells(r.err, [said("branched", run, step), said("changed", "train.max_steps")])
        self.assertEqual(self.snapshot(run), before)
        self.check("verify", branch)
        self.assertIn(f"from {run} at step {step}", self.out("runs", "."))
        return branch

    def test_a_finished_run_stays_and_its_branch_falls_at_the_new_end(self):
        r = self.start()
        more = re.search(r"heed resume run --more (\d+)", r.err)
        self.assertEqual(self.steps(), sorted({16, 20, self.link("best")}))
        branch = self.branch_of("run", "--more", more[1], "--stop-at", 18, facts=said("saved", 18))
        self.assertEqual(branch, "run-2")
        r = self.check("resume", "run-2", facts=said("resuming", 18))
        self.assertIn("heed sample run-2", r.err)
        self.equals_a_run_planned_so("run-2", 30)
        self.assertEqual(self.link("last"), 20)

    def test_where_it_goes_on_depends_on_the_fall(self):
        for stop, back in ((7, None), (16, None), (18, 16)):
            with self.subTest(stop):
                run = f"run{stop}"
                self.start(run, "--stop-at", stop)
                if back:
                    run = self.branch_of(run, "--more", 5)
                else:
                    self.resume(run, "--more", 5, facts=["--more", "20", said("resuming", stop)])
                self.equals_a_run_planned_so(run, 25)
                self.assertEqual((self.folder / f"run{stop}-2").exists(), back is not None)

    def test_a_branch_is_branched_too_and_names_that_exist_are_skipped(self):
        self.start()
        (self.folder / "run-3").mkdir()
        self.assertEqual(self.branch_of("run", "--more", 20), "run-2")
        self.assertEqual(self.branch_of("run-2", "--max-steps", 50, step=32), "run-4")
        self.assertIn("with train.max_steps from 40 to 50", (self.folder / "run-4/train.log").read_text())
        self.equals_a_run_planned_so("run-4", 50)

    def test_a_second_branch_to_the_same_end_is_refused(self):
        self.start()
        self.resume("run", "--more", 10, "--stop-at", 10, status=2, facts=["--stop-at", "16"])
        self.resume("run", "--more", 10, "--set", "optimizer.decay_fraction=0.5", status=2, facts="optimizer.decay_fraction")
        self.resume("run", "--more", 10, "--stop-at", 17)
        before = sorted(os.listdir(self.folder))
        self.check("resume", "run", "--more", 20, status=2, facts=["run-2", "heed resume run-2", "--branch DIR --checkpoint step-00000016"])
        self.resume("run-2")
        for end in (10, 5):
            self.resume("run", "--more", end, status=2, facts=["run-2", "30", "--branch DIR"])
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        self.assertEqual(self.branch_of("run", "--more", 20), "run-3")
        self.check("resume", "run", "--more", 10, "--branch", "mine", "--checkpoint", "step-16")
        self.same_checkpoint("run-2", "mine", 30)
        # A run that took the name of another has its own branches.
        self.start("run", "--force", "--set", "seed=2")
        self.assertEqual(self.branch_of("run", "--more", 10), "run-4")

    def test_a_branch_without_a_known_end(self):
        """What another schedule changes is named; a finished branch is no reason to refuse a second one."""
        self.start()
        given = ["--set", "train.max_steps=0", "--set", "train.max_minutes=1", "--set", "optimizer.decay_steps=22"]
        for branch in ("run-2", "run-3"):
            self.resume("run", *given, "--stop-at", 18, facts=[branch, "optimizer.decay_steps"])
            self.resume(branch, "--max-steps", 19)

    def test_a_key_may_be_set_to_what_it_is(self):
        self.start("run", "--stop-at", 4)
        self.resume("run", "--set", "optimizer.momentum=0.95", "--stop-at", 5)
        self.resume("run", "--set", "optimizer.momentum=0.9", status=2, facts="optimizer.momentum")

    def test_a_damaged_end_is_no_reason_to_rewind(self):
        self.start("run", "--set", "train.keep_last=0")
        model = self.step(20) / "model.safetensors"
        model.write_bytes(model.read_bytes()[:-1])
        before = self.snapshot("run")
        self.check("resume", "run", "--more", 10, facts=["warning:", said("branched", "run", 16)])
        self.assertEqual(self.snapshot("run"), before)
        self.resume("run", facts=[said("resuming", 16), "damaged-step-00000020"])
        self.assertEqual((self.checkpoints() / "damaged-step-00000020/model.safetensors").stat().st_size, len(model.read_bytes()) - 1)
        self.check("verify", "run")

    def test_names_that_the_user_gave_are_kept_whole(self):
        self.start("2024")
        self.assertEqual(self.branch_of("2024", "--more", 4), "2024-2")
        self.check("resume", "2024", "--more", 6, "--branch", "cool-7", "--checkpoint", "step-16")
        self.check("resume", "cool-7", "--more", 6, facts="cool-7-2")
        os.symlink("2024", self.folder / "link")
        self.check("resume", "link", "--more", 4, status=2, facts="2024-2")

    def test_a_number_of_steps_can_become_the_end_and_an_end_a_number_of_steps(self):
        self.start("run", "--set", "train.keep_last=0", "--set", "train.save_every=4", "--set", "optimizer.decay_steps=20", "--set", "optimizer.min_learning_rate=0")
        self.resume("run", "--more", 10, status=2, facts="--set optimizer.decay_steps=end")
        self.resume("run", "--more", 10, "--set", "optimizer.decay_steps=end", "--set", "optimizer.min_learning_rate=1e-5",
                    facts=said("changed", "optimizer.decay_steps", 20, '"end"'))
        self.assertEqual((self.link("last"), self.link("last", "run-2")), (20, 30))
        self.resume("run-2", "--set", "train.max_steps=40", "--set", "optimizer.decay_steps=35")
        self.check("train", "run-3/config.json", "--run", "fresh")
        self.same_checkpoint("run-3", "fresh", 40)

    def test_a_fall_without_a_checkpoint_from_before_it_is_refused(self):
        for what in ("damaged", "removed"):
            with self.subTest(what):
                self.start(what, "--set", "train.keep_last=2")
                for folder in (self.step(step, what) for step in set(self.steps(what)) - {20}):
                    shutil.rmtree(folder) if what == "removed" else (folder / "state.json").write_text("{}")
                before = self.snapshot(what)
                r = self.resume(what, "--more", 5, status=2, facts="--set optimizer.decay_steps=20")
                self.assertNotIn("--more 5", r.err)  # the same again
                self.assertEqual("warning:" in r.err, what == "damaged")
                self.assertEqual(self.snapshot(what), before)
                self.resume(what, "--more", 5, "--set", "optimizer.decay_steps=20", facts=said("resuming", 20))

    def test_minutes_are_steps_at_the_logged_speed(self):
        self.start()
        metrics = self.folder / "run" / "metrics.jsonl"
        lines = self.metrics()
        for i, e in enumerate(e for e in lines if e["kind"] == "train"):
            e["seconds"] = 0.01 * e["step"] + (i + 1) * 0.02  # as if validations took long
        metrics.write_text("".join(json.dumps(e) + "\n" for e in lines))
        last = self.metrics(kind="train")[-1]
        self.resume("run", "--minutes", 0.01, "--threads", 1, facts="--minutes 0.01: 43 steps")
        end = self.run_config("run-2")["train"]["max_steps"]
        self.assertEqual(end, 20 + round(0.6 * last["step"] / last["seconds"]))
        self.equals_a_run_planned_so("run-2", end)
        self.resume("run", "--minutes", 1, "--more", 2, status=2, facts=["--minutes", "--more", "heed resume --help"])
        self.resume("run", "--minutes", 0, status=2, facts=["--minutes", "0.001"])

    def test_the_end_in_epochs_is_reached_and_can_be_moved(self):
        r = self.start(end="train.max_epochs=1")
        self.assertEqual(*re.findall(r"(?:steps: |plan: )(\d+)", r.err))
        end = self.link("last")
        self.assertEqual(self.state(end)["cursor"], {"epoch": 1, "index": 0})
        more = int(re.search(r"heed resume run --more (\d+)", r.err)[1])
        r = self.resume("run", facts="--more")
        shutil.copytree(self.folder / "run", self.folder / "epochs", symlinks=True)
        self.resume("epochs", "--set", "train.max_epochs=2", facts="epochs-2")
        self.equals_a_run_planned_so("epochs-2", self.link("last", "epochs-2"))
        self.resume("run", "--more", more, facts=said("changed", "train.max_steps", 0, end + more))
        self.assertEqual(self.link("last", "run-2"), end + more)
        self.equals_a_run_planned_so("run-2", end + more)

    def test_a_config_whose_rate_has_fallen_to_0_is_not_trained_on(self):
        # Nor is one that is still to fall there, whatever moves its end.
        ends = {"train__max_steps": 6}, {"train__max_steps": 0, "train__max_epochs": 1}
        for run, end, stop in (("fallen", ends[0], []), ("falling", ends[0], ["--stop-at", 4]), ("epochs", ends[1], [])):
            self.train(self.config(optimizer__schedule="linear", **end), run, *stop)
            before = self.snapshot(run)
            for later in (["--more", 2], ["--max-steps", 8 if run != "epochs" else 1000]):
                self.resume(run, *later, status=2, facts="optimizer.min_learning_rate")
            self.assertEqual(self.snapshot(run), before)
        self.assertIn("heed train fallen/config.json", self.json("report", "fallen")[0]["advice"]["command"])
        self.resume("fallen", "--more", 2, "--set", "optimizer.min_learning_rate=1e-4")
        self.resume("falling")
        self.resume("epochs", facts=["nothing to do", "epochs-2", "optimizer.decay_steps=50"])

    def test_where_no_branch_can_be_made_the_run_stays(self):
        """And a run is resumed even in a folder that its user can neither write nor list."""
        closed = self.folder / "closed"
        closed.mkdir()
        self.start("closed/run")
        run = functools.partial(self.as_nobody, "resume", "closed/run")
        before = self.snapshot("closed/run")
        for mode in (0o555, 0o111):
            closed.chmod(mode)
            self.judge(run("--more", "10"), ["resume"], 4, ["Permission denied", "closed/run-2"])
            self.assertEqual(self.snapshot("closed/run"), before)
            self.judge(run("--set", "train.patience=5"), ["resume"], 0, said("already", 20))
        closed.chmod(0o755)
        self.assertEqual(os.listdir(closed), ["run"])
        self.judge(run("--more", "10", "--branch", "branch", "--checkpoint", "step-00000016", "--stop-at", "17"), ["resume"], 0, [])


if __name__ == "__main__":
    unittest.main()
