"""heed resume with a later end: a run of a text goes back to where its rate began to fall, and becomes the longer run."""
import json
import os
import re
import shutil
import unittest

from runs import RunsTest, said, text

# A run of a text; with 20 steps its rate falls from step 16 on.
TINY = ["--threads", 1, *(x for s in (
    "model.d_model=16", "model.n_heads=2", "model.d_ff=16", "objective.target_length=16", "train.batch_tokens=64",
    "train.eval_every=5", "train.save_every=5", "train.log_every=5", "train.keep_last=1") for x in ("--set", s))]


class Extend(RunsTest):
    def texts(self):
        super().texts()
        (self.folder / "mine.txt").write_text(text(400))

    def start(self, run="run", *args, end="train.max_steps=20", **kw):
        return self.check("train", "mine.txt", "--run", run, *TINY, "--set", end, *args, **kw)

    def config_of(self, run="run"):
        return json.loads((self.folder / run / "config.json").read_text())

    def equals_a_run_planned_so(self, run, end):
        """Weights, film and curves are those of the run's own config from the first step."""
        self.assertEqual(self.config_of(run)["optimizer"]["decay_steps"], end)
        fresh = run + "-fresh"
        self.check("train", self.folder / run / "config.json", "--run", fresh)
        self.same_checkpoint(run, fresh, end)
        self.assertEqual((self.folder / run / "film.jsonl").read_text(), (self.folder / fresh / "film.jsonl").read_text())
        curves = [{(e["kind"], e["step"], e["loss"]) for e in self.metrics(r) if e["kind"] in ("train", "valid")}
                  for r in (run, fresh)]
        self.assertEqual(*curves)
        self.check("verify", run)
        self.assertIn("finished", self.out("runs", "."))

    def test_a_finished_run_goes_back_and_falls_at_its_new_end(self):
        r = self.start()
        more = re.search(r"heed resume run --more (\d+)", r.err)
        self.assertEqual(self.steps(), sorted({16, 20, self.link("best")}))
        loss, bits = (self.metrics(kind="valid")[-1][key] for key in ("loss", "bits_per_byte"))
        finished = self.files(self.checkpoints() / "last")
        r = self.resume("run", "--more", more[1], "--stop-at", 18, facts=[said("resuming", 16), said("changed", "train.max_steps", 20, 30), said("changed", "optimizer.decay_steps", 20, 30)])
        event, = [e for e in self.metrics(kind="event") if e["event"] == "extended"]
        self.assertEqual((event["step"], event["from"], event["end"]), (16, 16, {"step": 20, "loss": loss, "bits_per_byte": bits}))
        self.assertEqual(self.metrics(kind="train")[-1]["step"], 15)
        # The finished checkpoint is the best one until a better one is saved.
        self.assertEqual(self.files(self.checkpoints() / "best"), finished)
        self.check("verify", "run")
        page = json.loads(self.out("report", "run", "--json"))
        self.assertEqual((page["best"]["step"], page["ends"]), (20, [{"step": 20, "loss": page["best_loss"]}]))
        listed, = self.json("runs", ".")
        self.assertEqual((listed["best_step"], listed["bits_per_byte"]), (20, bits))
        (self.checkpoints() / "best").unlink()
        self.assertEqual(self.json("evaluate", "run")[0]["loss"], self.json("evaluate", "run", "--checkpoint", "kept-00000020")[0]["loss"])
        self.resume("run", facts=said("resuming", 18))
        self.equals_a_run_planned_so("run", 30)
        self.assertEqual([p.name for p in self.checkpoints().glob("kept-*")], [] if self.link("best") > 20 else ["kept-00000020"])

    def test_an_end_that_is_not_bettered_stays(self):
        self.start()
        self.resume("run", "--more", 10, "--set", "optimizer.learning_rate=1e-9", "--set", "optimizer.min_learning_rate=0")
        self.assertEqual(os.readlink(self.checkpoints() / "best"), "kept-00000020")
        self.assertEqual(self.link("last"), 30)
        self.resume("run", "--more", 10)  # and a second time
        self.assertEqual(os.readlink(self.checkpoints() / "best"), "kept-00000020")
        self.check("sample", "run", "--max-tokens", 3)

    def test_where_it_goes_on_depends_on_the_fall(self):
        for stop, back in ((7, None), (16, None), (18, 16)):
            with self.subTest(stop):
                run = f"run{stop}"
                self.start(run, "--stop-at", stop)
                self.resume(run, "--more", 5, facts=["--more", "20", said("resuming", back or stop)])
                self.assertEqual([e["from"] for e in self.metrics(run, "event") if e["event"] == "extended"], [back] if back else [])
                self.equals_a_run_planned_so(run, 25)

    def test_a_second_extension_keeps_only_the_newest_fall(self):
        self.start()
        self.resume("run", "--more", 20)
        self.assertEqual(self.steps(), sorted({32, 40, self.link("best")}))
        self.resume("run", "--max-steps", 50, facts=said("resuming", 32))
        self.equals_a_run_planned_so("run", 50)

    def test_a_kill_before_the_next_save_loses_nothing(self):
        self.start()
        shutil.copytree(self.folder / "run", self.folder / "early", symlinks=True)
        self.resume("run", "--more", 10)
        # Killed after its config was written, and before that.
        for killed, config in (("late", self.folder / "run/config.json"), ("early", None)):
            if killed == "late":
                shutil.copytree(self.folder / "early", self.folder / "late", symlinks=True)
            (self.checkpoints(killed) / "step-00000020").rename(self.checkpoints(killed) / "kept-00000020")
            if config:
                shutil.copy(config, self.folder / killed / "config.json")
            self.check("sample", killed, "--max-tokens", 3)  # though the links lead to what is gone
            self.check("verify", killed, status=4, facts=f"heed resume {killed}")
            self.resume(killed, facts=said("resuming", 16))
        self.same_checkpoint("late", "run", 30)
        self.assertEqual(self.link("last", "early"), 20)
        self.assertEqual(list(self.checkpoints("early").glob("kept-*")), [])

    def test_a_kill_before_the_next_save_loses_no_mark_of_the_end(self):
        self.start()
        (self.checkpoints() / "step-00000020").rename(self.checkpoints() / "kept-00000020")
        for more in (5, 5):  # the second one goes back as well, from a step that has its mark
            self.resume("run", "--more", more)
        self.assertEqual([e["end"]["step"] for e in self.metrics(kind="event") if e["event"] == "extended"], [20, 25])

    def test_a_fall_without_a_checkpoint_from_before_it_is_said(self):
        for what in ("damaged", "removed"):
            with self.subTest(what):
                self.start(what, "--set", "train.keep_last=2")
                for step in set(self.steps(what)) - {20}:
                    folder = self.checkpoints(what) / f"step-{step:08}"
                    shutil.rmtree(folder) if what == "removed" else (folder / "state.json").write_text("{}")
                self.resume(what, "--more", 5, facts=said("skipped") if what == "damaged" else ())

    def test_a_run_that_stopped_early_needs_more_patience(self):
        self.start("run", "--set", "train.patience=1", "--set", "optimizer.learning_rate=1", end="train.max_steps=100")
        r = self.resume("run", "--more", 10, facts=said("early"))
        self.assertNotIn("counts from", r.err)
        self.assertIn("--set train.patience=0", self.out("resume", "--help"))

    def test_a_run_that_went_back_is_where_it_was(self):
        self.start()
        self.resume("run", "--more", 10, "--stop-at", 10, facts=[said("already", 20), "--stop-at", "10"])

    def test_minutes_are_steps_at_the_logged_speed(self):
        self.start()
        speed = sorted(e["tokens_per_second"] for e in self.metrics(kind="train"))
        steps = 0.06 * speed[len(speed) // 2] / (self.state(20)["tokens_seen"] / 20)
        self.resume("run", "--minutes", 0.001)
        end = self.config_of()["train"]["max_steps"]
        self.assertEqual(end, 20 + max(1, round(steps)))
        self.equals_a_run_planned_so("run", end)
        self.resume("run", "--minutes", 1, "--more", 2, status=2)
        self.resume("run", "--minutes", 0, status=2, facts="--minutes")

    def test_the_end_in_epochs_is_reached_and_can_be_moved(self):
        r = self.start(end="train.max_epochs=1")
        self.assertEqual(*re.findall(r"(?:steps: |plan: )(\d+)", r.err))
        end = self.link("last")
        self.assertEqual(self.state(end)["cursor"], {"epoch": 1, "index": 0})
        more = int(re.search(r"heed resume run --more (\d+)", r.err)[1])
        r = self.resume("run", facts="--more")
        self.assertNotIn("max_epochs=N", r.err)
        shutil.copytree(self.folder / "run", self.folder / "epochs", symlinks=True)
        self.resume("epochs", "--set", "train.max_epochs=2", facts=["optimizer.decay_steps", str(end), "--more"])
        self.resume("run", "--more", more, facts=said("changed", "train.max_steps", 0, end + more))
        self.assertEqual(self.link("last"), end + more)
        self.equals_a_run_planned_so("run", end + more)

    def test_too_few_minutes_for_the_epochs_are_named(self):
        r = self.start("run", "--minutes", 0.001, end="train.max_epochs=100")
        self.tells(r.err, ["24 steps", "train.max_epochs 100", "--minutes"])

    def test_the_planned_end_of_epochs_is_theirs(self):
        self.train(self.config(train__max_epochs=1, train__max_steps=500, train__batch_tokens=300), "run", "--stop-at", 1)
        end = int(re.search(r"plan: (\d+) steps", (self.folder / "run/train.log").read_text())[1])
        self.resume("run", "--more", 2, facts=str(end))
        self.assertEqual(self.link("last"), end + 2)

    def test_a_config_whose_rate_has_fallen_to_0_is_not_trained_on(self):
        for schedule in ("linear", "wsd"):
            with self.subTest(schedule):
                self.train(self.config(optimizer__schedule=schedule, train__max_steps=6), schedule)
                before = self.snapshot(schedule)
                for end in (["--more", 2], ["--max-steps", 8]):
                    self.resume(schedule, *end, status=2, facts=["0", "optimizer.min_learning_rate"])
                self.assertEqual(self.snapshot(schedule), before)
                r = self.check("evaluate", schedule, facts=())
                self.assertNotIn("heed resume", r.err)
                self.resume(schedule, "--more", 2, "--set", "optimizer.min_learning_rate=1e-4")
                # Nor is one that is still to fall there, whatever moves its end.
                self.train(self.config(optimizer__schedule=schedule, train__max_steps=6), schedule + "4", "--stop-at", 4)
                self.resume(schedule + "4", "--more", 2, status=2, facts="0")
                self.assertEqual(self.link("last", schedule + "4"), 4)
                self.resume(schedule + "4")
                self.train(self.config(optimizer__schedule=schedule, train__max_steps=0, train__max_epochs=1), schedule + "e")
                self.resume(schedule + "e", facts=["--more", "0"])
                self.resume(schedule + "e", "--set", "train.max_epochs=2", status=2, facts="0")

    def test_a_refusal_names_the_key_that_was_given(self):
        self.start()
        self.resume("run", "--more", 10, "--set", "optimizer.decay_fraction=0.5", status=2, facts="optimizer.decay_fraction")
        self.resume("run", "--set", "objective.target_length=2000", status=2, facts=said("changed", "objective.target_length", 16, 2000))


if __name__ == "__main__":
    unittest.main()
