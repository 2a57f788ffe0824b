"""What resume does, what it refuses, and that it loses nothing."""
import json
import shutil
import unittest

from runs import RunsTest, edit_tensor, said, seal, text


class Resume(RunsTest):
    def test_a_finished_run_takes_more_steps_and_otherwise_does_nothing(self):
        self.train(self.config(train__max_steps=6))
        before = self.snapshot()
        self.resume("run", facts=[said("already", 6), "6", "--more"])
        for nothing in (["--stop-at", 3], ["--max-steps", 5], ["--more", 10, "--stop-at", 3]):
            self.resume("run", *nothing, facts=said("already", 6))
        self.assertEqual(self.snapshot(), before)
        for link in ("best", "last"):  # as after a kill before they were set
            (self.checkpoints() / link).unlink()
        self.resume("run", facts=said("already", 6))
        self.assertEqual(self.snapshot(), before)
        self.resume("run", "--max-steps", 8, facts=said("changed", "train.max_steps", 6, 8))
        self.assertEqual(self.link("last"), 8)
        self.resume("run", "--more", 3, facts=said("changed", "train.max_steps", 8, 11))
        self.assertEqual(self.link("last"), 11)

    def test_more_steps_of_a_stopped_run_are_counted_from_its_planned_end(self):
        self.train(self.config(), "run", "--stop-at", 7)
        self.resume("run", "--more", 3, "--stop-at", 12, facts=said("changed", "train.max_steps", 20, 23))
        self.resume("run")
        self.assertEqual(self.link("last"), 23)
        self.resume("run", "--more", 2, facts=said("changed", "train.max_steps", 23, 25))
        self.train(self.config(), "early", "--stop-at", 6)
        self.resume("early", "--max-steps", 10, facts=said("changed", "train.max_steps", 20, 10))
        self.assertEqual(self.link("last", "early"), 10)
        # Without a planned end they are counted from the last step.
        self.train(self.config(train__max_steps=0, train__max_epochs=9), "epochs", "--stop-at", 4)
        self.resume("epochs", "--more", 3, facts=said("changed", "train.max_steps", 0, 7))
        self.assertEqual(self.link("last", "epochs"), 7)

    def test_a_run_that_was_moved_finds_its_data(self):
        home = self.folder / "home"
        (home / "data").mkdir(parents=True)
        for name in ("train.txt", "valid.txt"):
            (home / "data" / name).write_text(text(400 if name == "train.txt" else 90))
        config = self.config(data={"train": "data/train.txt", "valid": "data/valid.txt"})
        shutil.move(config, home / "c.json")
        for run in ("still", "moved"):
            self.check("train", home / "c.json", "--run", home / "runs" / run, "--stop-at", 4)
        self.resume(home / "runs/still")
        shutil.copytree(home / "runs/still", self.folder / "still")
        home.rename(self.folder / "away")
        moved = self.folder / "away/runs/moved"
        (self.folder / "data").mkdir()  # looked into before, but its files are others
        for name in ("train.txt", "valid.txt"):
            (self.folder / "data" / name).write_text(text(100))
        self.resume(moved, facts="was found elsewhere")
        self.assertEqual((moved / "checkpoints/step-00000020/model.safetensors").read_bytes(),
                         (self.folder / "still/checkpoints/step-00000020/model.safetensors").read_bytes())
        self.check("evaluate", moved, facts="was found elsewhere")
        # Other data is not taken; all that is missing is named.
        shutil.rmtree(self.folder / "data")
        data = self.folder / "away/data"
        (data / "train.txt").write_text(text(300))
        self.resume(moved, "--more", 2, status=3, facts=["found elsewhere", "away/data/train.txt", "is not what this run was trained on"])
        self.check("evaluate", moved, status=3, facts="is other data")
        shutil.rmtree(data)
        self.resume(moved, "--more", 2, status=3, facts=["data.train: ", "data.valid: ", "no such file"])

    def test_only_keys_that_leave_the_past_alone_may_change(self):
        config = self.config()
        self.train(config, "run", "--stop-at", 4)
        before = self.snapshot()
        for change in ("model.d_model=16", "seed=9", "train.shards=2", "train.batch_tokens=50",
                       "train.micro_batch_tokens=7", "optimizer.betas=[0.5,0.5]",
                       "model.dropout=0", "objective.target_length=4", "tokenizer.type=byte",
                       "train.ema_decay=0.5", "optimizer.warmup_steps=9"):
            key = change.split("=")[0]
            self.resume("run", "--set", change, status=2, facts=key)
            self.assertEqual(self.snapshot(), before)
        self.resume("run", "--set", "optimizer.learning_rat=1", status=2, facts="learning_rate")
        r = self.resume("run", "--set", "optimizer.learning_rate=0.5", "--set",
                        "train.log_every=1", "--stop-at", 8)
        self.tells(r.err, said("changed", "optimizer.learning_rate", 0.01, 0.5))
        self.tells(r.err, said("changed", "train.log_every"))
        self.assertEqual(self.metrics(kind="train")[-1]["learning_rate"], 0.5)
        # It stays so, even if the process was killed before a checkpoint recorded it.
        self.resume("run", "--stop-at", 10)
        self.assertEqual(self.metrics(kind="train")[-1]["learning_rate"], 0.5)

    def test_requests_outlive_a_kill_before_the_next_checkpoint(self):
        self.train(self.config(train__max_steps=6))
        config = self.folder / "run" / "config.json"
        asked = json.loads(config.read_text())
        asked["train"]["max_steps"] = 9
        config.write_text(json.dumps(asked))
        self.resume("run", facts=said("changed", "train.max_steps", 6, 9))
        self.assertEqual(self.link("last"), 9)

    def test_checkpoints_go_only_where_the_resume_is_not_refused_and_keeps_fewer(self):
        self.train(self.config(train__save_every=4, train__eval_every=0, train__keep_last=0))
        asked = self.folder / "run" / "config.json"
        asked.write_text(asked.read_text().replace('"keep_last": 0', '"keep_last": 1'))
        config = self.checkpoints() / "last" / "config.json"
        config.write_text(config.read_text().replace('"keep_last": 0', '"keep_last": 1'))
        seal(config.parent)
        (self.checkpoints() / "last").unlink()
        before = self.snapshot()
        for change, fact in (("train.keep_lst=0", "train.keep_last"), ("seed=9", "--init-from")):
            self.resume("run", "--set", change, "--more", 5, status=2, facts=fact)
            self.assertEqual(self.snapshot(), before)
        data = (self.folder / "a.txt").read_text()
        (self.folder / "a.txt").write_text(data[:-1])
        self.resume("run", "--more", 5, status=3, facts="SHA-256")
        self.assertEqual(self.snapshot(), before)
        (self.folder / "a.txt").write_text(data)
        self.resume("run", "--set", "train.keep_last=0", "--more", 5)
        self.assertEqual(self.steps(), [4, 8, 12, 16, 20, 24, 25])

    def test_changed_data_is_refused(self):
        """Also where no checkpoint knows its hash yet, and where it is held out; then evaluate warns."""
        (self.folder / "b.txt").write_text(text(200, seed=2))
        for name, data in (("tail", {"train": "a.txt", "valid_fraction": 0.1}), ("file", {"train": "b.txt", "valid": "a.txt"})):
            with self.subTest(name):
                whole = (self.folder / "a.txt").read_text()
                self.train(self.config(name, data=data), name, "--stop-at", 4)
                self.assertEqual("valid_sha256" in json.loads((self.folder / name / "origin.json").read_text()), name == "file")
                self.assertNotIn("changed since", self.check("evaluate", name).err)
                before = self.snapshot(name)
                for changed in (whole.replace("miller", "killer", 1), whole[:-1]):
                    (self.folder / "a.txt").write_text(changed)
                    self.resume(name, status=3, facts=["data", "SHA-256"])
                self.tells((self.folder / name / "train.log").read_text(), ["error:", "SHA-256"])
                self.check("evaluate", name, facts="warning:")
                (self.folder / "a.txt").unlink()
                self.resume(name, status=3, facts=["a.txt", f"--set data.{'train' if name == 'tail' else 'valid'}=PATH"])
                self.assertEqual(self.snapshot(name), before)
                self.lose_checkpoints(name)
                (self.folder / "a.txt").write_text(changed)
                self.resume(name, status=3, facts=["data", "SHA-256", "origin.json"])
                (self.folder / "a.txt").write_text(whole)
                self.resume(name, facts=said("starting", 0))

    def test_data_that_moved_is_found_by_every_command_once_resume_was_told(self):
        self.train(self.config())
        (self.folder / "a.txt").rename(self.folder / "moved.txt")
        self.check("evaluate", "run", status=3, facts=["data.train", "a.txt"])
        place = self.folder / "moved.txt"
        other = self.folder / "other.txt"
        other.write_text(text(50))
        self.resume("run", "--set", f"data.train={other}", status=3, facts="SHA-256")
        self.resume("run", "--set", f"data.train={place}", facts=said("already", 20))
        self.check("evaluate", "run")
        (self.folder / "run/film.jsonl").unlink()
        self.assertNotIn("cannot be read", self.out("report", "run", "--json"))
        self.resume("run", "--more", 2)

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

    def test_a_run_killed_before_its_start_event_has_it_after_all(self):
        self.train(self.config(), "run", "--stop-at", 4)
        metrics = self.folder / "run" / "metrics.jsonl"
        start = metrics.read_text().splitlines()[0]
        self.assertEqual(json.loads(start)["event"], "start")
        for left in ("", start[:20]):
            self.lose_checkpoints()
            metrics.write_text(left)
            self.resume("run", "--stop-at", 4)
            self.assertEqual(metrics.read_text().splitlines()[0], start)
            self.assertEqual(len(self.metrics(kind="event")), 1)

    def test_damaged_checkpoints_are_named_and_passed_over(self):
        self.train(self.config(train__save_every=5, train__keep_last=0), "run")
        shutil.copytree(self.folder / "run", self.folder / "whole", symlinks=True)
        model = self.step(20) / "model.safetensors"
        model.write_bytes(model.read_bytes()[:-1])
        state = self.step(15) / "state.json"
        state.write_text(state.read_text().replace('"step": 15', '"step": 14'))
        self.resume("run", facts=["step-00000020", "model.safetensors", "step-00000015", "state.json", said("resuming", 10)])
        for step in (15, 20):
            self.same_checkpoint("run", "whole", step)
        steps = [(e["kind"], e["step"]) for e in self.metrics()]
        self.assertEqual(len(steps), len(set(steps)), steps)
        self.assertEqual(self.link("last"), 20)

    def test_with_every_checkpoint_damaged_nothing_is_overwritten(self):
        """Starting at step 0 would overwrite what may still be useful."""
        self.train(self.config(train__save_every=2), "run", "--stop-at", 4)
        for step in (2, 4):
            (self.step(step) / "training.safetensors").unlink()
        before = self.snapshot()
        self.resume("run", status=4, facts=["step-00000002", "step-00000004", "training.safetensors"])
        self.assertEqual(self.snapshot(), before)

    def test_an_existing_run_is_renamed_never_deleted(self):
        config = self.config(train__max_steps=2)
        self.train(config)
        before = self.snapshot()
        self.works(self.train(config, "run", status=2, facts=["--run", "--force"]).err)
        self.assertEqual(self.snapshot(), before)
        self.train(config, "run", "--force")
        self.assertEqual(self.snapshot("run.old-1"), before)
        # A failure before training starts leaves the old run where it was.
        (self.folder / "a.txt").write_text("")
        self.train(config, "run", "--force", status=3, facts="a.txt")
        self.assertEqual(self.link("last"), 2)
        self.assertFalse((self.folder / "run.old-2").exists())

    def test_a_lost_config_and_emptied_metrics_cost_nothing_else(self):
        self.train(self.config(), "whole")
        for name, left, facts in (("config.json", b"\0" * 100, ["warning:", "config.json"]), ("metrics.jsonl", b"", [])):
            self.train(self.config(), "run", "--force", "--stop-at", 10)
            (self.folder / "run" / name).write_bytes(left)
            self.resume("run", facts=facts)
            self.same_checkpoint("run", "whole", 20)
            self.assertEqual(self.run_config(), self.run_config("whole"))
        self.assertEqual([e["step"] for e in self.metrics(kind="train")], [15, 20])

    def test_an_origin_that_cannot_be_read_says_what_to_do(self):
        self.train(self.config(), "run", "--stop-at", 10)
        origin = self.folder / "run" / "origin.json"
        whole = origin.read_text()
        for damage in (whole[:-4], ""):
            origin.write_text(damage)
            for args in (["resume", self.folder / "run"], ["evaluate", self.folder / "run"]):
                self.check(*args, status=4, facts="origin.json")
            self.check("sample", self.folder / "run", "--max-tokens", 3)  # needs no data
        origin.unlink()
        self.resume("run", facts=["warning:", "origin.json"])
        origin.write_text("")
        self.resume("run", facts=said("already", 20))  # needs no data either

    def test_an_end_between_validations_leaves_no_trace_when_the_run_is_extended(self):
        """Neither patience nor the averages of the log: max_steps 7, then 20, is 20. The end itself may be the best."""
        c = dict(train__eval_every=4, train__log_every=5, train__save_every=20)
        self.train(self.config(**c), "straight")
        for end in (3, 7):
            run = f"parts{end}"
            self.train(self.config(**{**c, "train__max_steps": end}), run)
            log = (self.folder / run / "train.log").read_text()
            self.assertRegex(log, rf"valid     {end} .* new best")
            self.assertIn(f"@ {end}", log.split("finished at step")[1])
            self.assertEqual(self.link("best", run), end)
            self.resume(run, "--max-steps", 20)
            a, b = (self.files(self.step(20, r)) for r in (run, "straight"))
            for name in ("model.safetensors", "training.safetensors"):
                self.assertEqual(a[name], b[name], name)
            states = [json.loads(files["state.json"]) for files in (a, b)]
            for state in states:  # config.json is that of the last resume
                del state["files"], state["checksum"]
            self.assertEqual(*states)
            same = lambda r: [{k: v for k, v in m.items() if k in ("step", "loss", "best")}
                              for m in self.metrics(r) if m["kind"] != "event" and m["step"] != end]
            self.assertEqual(same(run), same("straight"))

    def test_an_infinite_validation_loss_is_a_divergence_in_the_log(self):
        """A validation loss that is not finite counts as divergence, not as a validation without a best."""
        # The held-out text has a character that no training step sees; its vector is made too large.
        (self.folder / "v.txt").write_text("the river \u00e9 was near the mill " * 5)
        c = self.config(data={"train": "a.txt", "valid": "v.txt"}, tokenizer={"type": "char", "min_frequency": 2}, model__tie="none", train__eval_every=4)
        self.train(c, "run", "--stop-at", 2)
        edit_tensor(self.step(2) / "model.safetensors", "source_embed.weight", *[3e38, -3e38] * 4)  # row 0
        r = self.resume("run", status=5, facts=[said("diverged", 4), "--set train.log_every=1"])
        self.assertNotIn("valid     4 ", r.err)
        log = (self.folder / "run" / "train.log").read_text()
        self.tells(log, ["error:", said("diverged", 4)])


if __name__ == "__main__":
    unittest.main()
