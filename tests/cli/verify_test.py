"""heed verify: what is intact, what is wrong, and which checkpoint would be resumed."""
import json
import os
import shutil
import struct
import unittest

from runs import SMALL, RunsTest, read_tensors, seal, text, write_tensors

STORE = 4
STEPS = [f"step-{step:08}" for step in (4, 8, 12)]


class Verify(RunsTest):
    RUNS = {"run": SMALL,
            "ema": {**SMALL, "train__ema_decay": 0.9, "family": "causal_lm", "train__eval_every": 4},
            "sgd": {**SMALL, "optimizer__type": "sgd", "family": "masked_lm"},
            "pairs": {**SMALL, "family": "seq2seq", "tokenizer": {"type": "char", "target": {"type": "word"}}}}

    def checkpoint(self, step, run="run"):
        return self.checkpoints(run) / f"step-{step:08}"

    def verify(self, run="run", status=0, facts=()):
        """The object of --json; the plain table must agree with it, and nothing may change."""
        before = self.snapshot(str(run))
        result = json.loads(self.check("verify", self.folder / run, "--json", status=status, facts=facts).out)
        table = self.check("verify", self.folder / run, status=status).out.splitlines()
        self.assertEqual(self.snapshot(str(run)), before)
        parts = result["checkpoints"] + result["files"]
        self.assertEqual([line.split()[:2] for line in table[:len(parts)]],
                         [[p["name"].split()[0], "whole" if p["whole"] else "NOT"] for p in parts])
        self.assertEqual(result["whole"], status == 0)
        self.assertEqual(result["whole"], all(p["whole"] for p in parts))
        return result

    def wrong(self, result):
        return {p["name"]: p["wrong"] for p in result["checkpoints"] + result["files"] if not p["whole"]}

    def test_whole_runs_of_all_kinds_are_whole(self):
        self.check("average", self.folder / "ema", "--last", 2)
        self.train(self.config("more", **SMALL), "from", "--init-from", "run", "--stop-at", 5)
        for run in (*self.RUNS, "from"):
            with self.subTest(run):
                result = self.verify(run)
                self.assertEqual(result["resume"], STEPS[-1] if run != "from" else "step-00000005")
        self.assertEqual([p["name"] for p in self.verify("ema")["checkpoints"]], ["average-8-12"] + STEPS)
        self.assertEqual([p["name"] for p in self.verify("run")["files"]],
                         ["last", "best", "config.json", "origin.json", "metrics.jsonl", "film.jsonl"])

    def test_a_stopped_and_resumed_run_is_whole(self):
        self.train(self.config("other", **{**SMALL, "train__save_every": 3, "train__log_every": 7}), "other", "--stop-at", 5)
        self.verify("other")
        self.resume("other", "--stop-at", 8, "--set", "train.log_every=2")
        self.verify("other")
        self.resume("other", "--max-steps", 20)
        self.assertEqual(self.verify("other")["resume"], "step-00000020")

    def test_every_damaged_file_is_named_and_the_rest_is_whole(self):
        for name in ("model.safetensors", "training.safetensors", "config.json", "tokenizer.json", "state.json"):
            path = self.checkpoint(12) / name
            whole = path.read_bytes()
            for damage in (whole[:-1], whole[:len(whole) // 2] + b"#" + whole[len(whole) // 2 + 1:], None):
                path.unlink() if damage is None else path.write_bytes(damage)
                result = self.verify(status=STORE, facts="step-00000012")
                self.assertEqual(list(self.wrong(result)), [STEPS[-1]])
                self.assertIn(name, self.wrong(result)[STEPS[-1]])
                self.assertEqual(result["resume"], STEPS[-2])
                path.write_bytes(whole)
        self.verify()

    def test_what_checksums_do_not_see_is_found(self):
        def nan(file, tensor):
            path = self.checkpoint(8) / file
            header, body = read_tensors(path)
            at = header[tensor]["data_offsets"][1]
            write_tensors(path, header, body[:at - 4] + struct.pack("<f", float("nan")) + body[at:])

        def other_tokenizer():
            self.train(self.config("word", **{**SMALL, "tokenizer": {"type": "word"}}), "word", "--stop-at", 1)
            shutil.copy(self.checkpoints("word") / "last/tokenizer.json", self.checkpoint(8))

        def wider():
            config = json.loads((self.checkpoint(8) / "config.json").read_text())
            config["model"]["d_model"] = 32
            (self.checkpoint(8) / "config.json").write_text(json.dumps(config))

        changes = [(lambda: nan("model.safetensors", "encoder.layers.0.fc1.weight"), "NaN or infinity in encoder"),
                   (lambda: nan("training.safetensors", "adam.v.encoder.layers.0.fc1.weight"), "NaN or infinity in adam.v"),
                   (other_tokenizer, "tokenizer"), (wider, "wrong shape: ")]
        for change, words in changes:
            with self.subTest(words):
                shutil.rmtree(self.folder / "kept", ignore_errors=True)
                shutil.copytree(self.checkpoint(8), self.folder / "kept")
                change()
                seal(self.checkpoint(8))
                result = self.verify(status=STORE)
                self.assertEqual(list(self.wrong(result)), [STEPS[1]])
                self.assertIn(words, self.wrong(result)[STEPS[1]])
                shutil.rmtree(self.checkpoint(8))
                shutil.move(self.folder / "kept", self.checkpoint(8))
        self.verify()

    def test_a_checkpoint_without_permission_is_named_beside_the_whole_ones(self):
        if os.getuid() == 0:
            self.skipTest("root may read everything")
        (self.checkpoint(12) / "model.safetensors").chmod(0)
        result = json.loads(self.check("verify", self.folder / "run", "--json", status=STORE).out)
        self.assertEqual(list(self.wrong(result)), [STEPS[-1]])
        self.tells(self.wrong(result)[STEPS[-1]], "Permission denied")
        plain = self.check("verify", self.folder / "run", status=STORE, facts="step-00000012")
        self.assertIn("NOT WHOLE: ", plain.out)
        self.assertNotIn("damaged", plain.out)

    def test_a_newest_checkpoint_that_does_not_load_is_not_promised(self):
        shutil.copy(self.checkpoint(12, "pairs") / "config.json", self.checkpoint(12))
        seal(self.checkpoint(12))
        self.assertIsNone(self.verify(status=STORE)["resume"])

    def test_a_checkpoint_of_another_step_than_its_folder_says_is_named_and_not_used(self):
        last, elsewhere = self.checkpoint(12), self.folder / "elsewhere"
        for name in ("step-00000013", "step-12", "step-x", "step-99999999999999999999", "average-4-12"):
            with self.subTest(name):
                there = self.checkpoints() / name
                last.rename(there)
                result = self.verify(status=STORE, facts=name)
                self.assertIn(name, self.wrong(result))
                self.assertEqual(result["resume"], STEPS[1])
                for command in (["evaluate"], ["sample", "--max-tokens", 1], ["inspect"]):
                    self.check(command[0], self.folder / "run", "--checkpoint", there, *command[1:], status=STORE, facts=name)
                there.rename(last)
        for one, other in ((self.checkpoint(4), elsewhere), (self.checkpoint(8), self.checkpoint(4)),
                           (elsewhere, self.checkpoint(8))):  # swapped
            one.rename(other)
        self.assertEqual(sorted(set(self.wrong(self.verify(status=STORE))) & set(STEPS)), STEPS[:2])
        for path, name in ((self.folder / "run", STEPS[0]), (self.checkpoint(8), "")):
            self.check("evaluate", path, *(["--checkpoint", name] if name else []), status=STORE, facts="state.json")
        self.check("average", self.folder / "run", "--last", 2, status=STORE, facts="state.json")
        shutil.copytree(self.checkpoint(8), elsewhere)  # by path, a checkpoint may have any name
        self.assertEqual(self.json("evaluate", elsewhere)[0]["step"], 4)
        shutil.rmtree(last)
        last.symlink_to(elsewhere)
        self.assertIn(STEPS[2], self.wrong(self.verify(status=STORE)))

    def test_files_that_are_links_or_emptied_are_named_by_verify_and_by_readers(self):
        readers = {"origin.json": ["evaluate"], "config.json": ["evaluate"], "metrics.jsonl": ["report", "--html", "o.html"],
                   "film.jsonl": ["inspect"], "train.log": ["resume"], ".lock": ["resume"]}
        for name, (command, *options) in readers.items():
            path, away = self.folder / "run" / name, self.folder / "away"
            path.rename(away)
            for target in (str(away), "nowhere", name):  # also dangling, and a loop
                path.symlink_to(target)
                self.assertEqual(list(self.wrong(self.verify(status=STORE, facts=name))), [name])
                self.check(command, self.folder / "run", *options, status=STORE, facts=name)
                path.unlink()
            path.mkdir()
            self.assertEqual(list(self.wrong(self.verify(status=STORE, facts=name))), [name])
            path.rmdir()
            if name not in ("train.log", ".lock"):
                path.touch()
                self.assertEqual(list(self.wrong(self.verify(status=STORE, facts=name))), [name])
                path.unlink()
            away.rename(path)
        for name in ("metrics.jsonl", "film.jsonl"):
            path = self.folder / "run" / name
            whole = path.read_bytes()
            path.write_bytes(b"[" * 2_000_000)
            self.assertEqual(list(self.wrong(self.verify(status=STORE, facts=name))), [name])
            path.write_bytes(whole)
        self.verify()

    def test_names_are_shown_in_pipes_as_on_terminals(self):
        run = "r\x1b]0;x\x07\u202e"
        (self.folder / "run").rename(self.folder / run)
        shutil.copytree(self.checkpoint(8, run), self.checkpoints(run) / "step-\x1b[31m")
        for command, *options in (["verify"], ["inspect"], ["average", "--last", 2], ["evaluate"], ["runs"], ["tokenize", "the"]):
            r = self.heed(command, "." if command == "runs" else self.folder / run, *options)
            self.assertNotRegex(r.out + r.err, "[\x00-\x08\x0e-\x1f\u202e]", command)

    def test_links_that_are_missing_or_lead_out_are_named(self):
        best = self.checkpoints() / "best"
        target = os.readlink(best)
        for other in (None, "../../elsewhere", "/etc", "step-00000099"):
            best.unlink()
            if other:
                best.symlink_to(other)
            self.assertIn(other or "not there", self.wrong(self.verify(status=STORE))["best"])
            best.unlink(missing_ok=True)
            best.symlink_to(target)
        (self.checkpoints() / "last").unlink()
        self.assertEqual(list(self.wrong(self.verify(status=STORE))), ["last"])

    def test_links_that_lead_to_another_checkpoint_are_named(self):
        for link in ("best", "last"):
            path = self.checkpoints() / link
            target = os.readlink(path)
            path.unlink()
            path.symlink_to(STEPS[0])
            self.tells(self.wrong(self.verify(status=STORE))[link], link)
            path.unlink()
            path.symlink_to(target)
        last = self.checkpoints() / "last"
        last.unlink()
        last.symlink_to(STEPS[1])  # as a saver leaves it that was killed before it set its links
        self.verify()

    def test_a_link_without_any_checkpoint_is_named(self):
        for step in STEPS:
            shutil.rmtree(self.checkpoints() / step)
        self.assertEqual(list(self.wrong(self.verify(status=STORE))), ["last", "best"])

    def test_lost_first_weights_are_named(self):
        self.train(self.config("more", **SMALL), "from", "--init-from", "run", "--stop-at", 5)
        shutil.rmtree(self.checkpoints("from") / "step-00000000")
        self.assertIn("step-00000000", self.wrong(self.verify("from", status=STORE))["origin.json"])

    def test_a_text_beside_the_config_is_not_looked_for_in_the_run(self):
        (self.folder / "text.txt").write_text(text(2000))
        self.train(self.config(**{**SMALL, "data": {"train": "text.txt"}}), "beside")
        self.assertNotIn("text.txt", [p["name"] for p in self.verify("beside")["files"]])

    def test_another_text_in_the_run_is_named(self):
        self.check("train", "-", "--run", "piped", "--minutes", 0.02, stdin=text(20000))
        self.verify("piped")
        kept = self.folder / "piped/text.txt"
        kept.write_text(kept.read_text()[:-1] + "#")
        self.assertEqual(list(self.wrong(self.verify("piped", status=STORE))), ["text.txt"])
        kept.unlink()
        self.assertEqual(list(self.wrong(self.verify("piped", status=STORE))), ["text.txt"])

    def test_folders_of_the_user_are_left_out(self):
        shutil.copytree(self.checkpoint(8), self.checkpoints() / "mine")
        (self.checkpoints() / "mine/model.safetensors").unlink()
        self.assertEqual([p["name"] for p in self.verify()["checkpoints"]], STEPS)

    def test_files_of_the_run_are_read(self):
        for name, damage, words in [("config.json", "{", "JSON"), ("origin.json", "{}x", "damaged"),
                                    ("metrics.jsonl", "torn{\n", "line 1 is not a JSON object")]:
            path = self.folder / "run" / name
            whole = path.read_bytes()
            path.write_text(damage)
            found = self.wrong(self.verify(status=STORE))
            self.assertEqual(list(found), [name])
            self.assertIn(words, found[name])
            path.write_bytes(whole)
        with (self.folder / "run/metrics.jsonl").open("a") as f:
            f.write('{"kind"')
        self.verify()  # heed resume drops it
        (self.folder / "run/metrics.jsonl").unlink()
        self.assertEqual(list(self.wrong(self.verify(status=STORE))), ["metrics.jsonl"])

    def test_a_config_that_resuming_may_not_change_is_named(self):
        path = self.folder / "run/config.json"
        whole = path.read_text()
        config = json.loads(whole)
        config["train"]["max_steps"] += 8
        path.write_text(json.dumps(config))
        self.verify()  # heed resume would train on
        config["seed"] += 1
        path.write_text(json.dumps(config))
        self.assertIn("seed", self.wrong(self.verify(status=STORE))["config.json"])
        shutil.copy(self.folder / "sgd/config.json", path)
        self.assertEqual(list(self.wrong(self.verify(status=STORE))), ["config.json"])
        path.write_text(whole)

    def test_a_chain_that_goes_back_ends_early_or_is_cut_short_is_whole(self):
        path = self.folder / "run" / "chain.jsonl"
        whole = path.read_text()
        for text in (whole + whole.splitlines(keepends=True)[0], "", whole[:-5]):
            path.write_text(text)
            self.verify()
        path.write_text(whole)

    def test_lines_of_files_are_in_order(self):
        for name, change, words in [
                ("metrics.jsonl", lambda l: [*l, l[0]], "is of step 0, after one of 12"),
                ("metrics.jsonl", lambda l: [l[0].replace('"step"', '"stp"'), *l[1:]], "line 1 has no step"),
                ("chain.jsonl", lambda l: [*l, "[]"], "is not a JSON object"),
                ("chain.jsonl", lambda l: [l[0].replace('"step"', '"stp"'), *l[1:]], "line 1 has no step"),
                ("film.jsonl", lambda l: l[1:], "line 1 is damaged"),
                ("film.jsonl", lambda l: [*l[:2], l[2][:-40], *l[3:]], "line 3 is not a JSON object"),
                ("film.jsonl", lambda l: [*l[:2], l[2].replace('"weights":["', '"weights":["A'), *l[3:]], "line 3 is damaged"),
                ("film.jsonl", lambda l: [*l[:2], l[2][:l[2].index('"weights":["') + 12] + "*" +
                                          l[2][l[2].index('"weights":["') + 13:], *l[3:]], "line 3 is damaged"),
                ("film.jsonl", lambda l: [l[0], l[3], l[2], *l[4:]], "after one of "),
                ("film.jsonl", lambda l: [*l, '{"kind":"frame","step":12,"a":' + "[" * 70 + "]" * 70 + "}"],
                 "is not a JSON object")]:
            with self.subTest(words):
                path = self.folder / "run" / name
                whole = path.read_text()
                path.write_text("\n".join(change(whole.splitlines())) + "\n")
                self.assertIn(words, self.wrong(self.verify(status=STORE))[name])
                self.check("report", self.folder / "run", "--html", "page.html")  # a bad frame never breaks a page
                path.write_text(whole)

    def test_deeply_nested_lines_end_nothing(self):
        deep = "[" * 1_000_000 + "]" * 1_000_000
        shutil.copytree(self.folder / "run", self.folder / "deep", symlinks=True)
        for name, line in (("chain.jsonl", deep + "\n"), ("film.jsonl", '{"kind":"probe","step":0,"a":' + deep + "}\n"),
                           ("metrics.jsonl", '{"kind":"valid","step":1,"loss":' + deep + "}\n")):
            path = self.folder / "deep" / name
            path.write_text(line + path.read_text())
            self.tells(self.wrong(self.verify("deep", status=STORE))[name], ["1", "JSON"])
        self.check("report", self.folder / "deep", "--json")
        self.check("resume", self.folder / "deep", "--more", 1)

    def test_moments_that_no_training_has_are_damage(self):
        for value in (float("inf"), float("nan"), -1.0):
            with self.subTest(value):
                folder = self.checkpoint(12)
                whole = {p: p.read_bytes() for p in folder.iterdir()}
                header, body = read_tensors(folder / "training.safetensors")
                name = next(n for n in header if n.startswith("adam.v."))
                at = header[name]["data_offsets"][0]
                write_tensors(folder / "training.safetensors", header,
                              body[:at] + struct.pack("<f", value) + body[at + 4:])
                seal(folder)
                self.assertIn(name, self.wrong(self.verify(status=STORE))[STEPS[-1]])
                for p, content in whole.items():
                    p.write_bytes(content)

    def test_a_run_of_an_older_heed_is_not_called_damaged(self):
        path = self.checkpoint(12) / "state.json"
        path.write_text(path.read_text().replace('"format": 5', '"format": 4'))
        seal(self.checkpoint(12))
        for command in ("verify", "evaluate", "resume"):
            args = ["--checkpoint", "last"] if command == "evaluate" else []
            r = self.check(command, self.folder / "run", *args, status=STORE)
            self.assertNotIn("damaged", r.err)
            if command != "verify":
                self.tells(r.err, ["state.json", "4", "5"])

    def test_one_checkpoint_alone(self):
        result = self.verify("run/checkpoints/step-00000008")
        self.assertEqual((result["files"], result["resume"]), ([], None))
        (self.checkpoint(8) / "tokenizer.json").unlink()
        result = self.verify("run/checkpoints/step-00000008", status=STORE, facts="step-00000008")
        self.assertIn("tokenizer.json", self.wrong(result)[STEPS[1]])
        self.check("verify", self.folder, status=STORE, facts="checkpoints/")

    def test_a_run_that_is_being_trained_is_whole(self):
        config = self.config(train__save_every=1, train__keep_last=1, train__eval_every=3, train__max_steps=100_000)
        trainer = self.spawn("train", config, "--run", "live")
        while not (self.folder / "live/checkpoints/last").exists():
            self.assertIsNone(trainer.poll())
        for _ in range(40):
            self.check("verify", self.folder / "live")
            self.check("evaluate", self.folder / "live", "--checkpoint", "last")
        self.assertIsNone(trainer.poll())
        trainer.terminate()
        trainer.communicate()
        self.verify("live")


if __name__ == "__main__":
    unittest.main()
