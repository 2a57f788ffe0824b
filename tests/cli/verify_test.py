"""heed verify: what is intact, what is wrong, and which checkpoint would be resumed. (What checksums do not see: damaged_run_test.py.)"""
import contextlib
import json
import re
import shutil
import unittest

from runs import SMALL, STORE, RunsTest, seal, text

STEPS = [f"step-{step:08}" for step in (4, 8, 12)]


class Verify(RunsTest):
    RUNS = {"run": SMALL,
            "ema": {**SMALL, "train__ema_decay": 0.9, "family": "causal_lm", "train__eval_every": 4},
            "sgd": {**SMALL, "optimizer__type": "sgd", "family": "masked_lm"},
            "pairs": {**SMALL, "family": "seq2seq", "tokenizer": {"type": "char", "target": {"type": "word"}}}}

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

    def names(self, *names, run="run", facts=()):
        """These alone are wrong. Returns what is said of the first, and the object of --json."""
        result = self.verify(run, status=STORE, facts=facts)
        wrong = {p["name"]: p["wrong"] for p in result["checkpoints"] + result["files"] if not p["whole"]}
        self.assertEqual(list(wrong), list(names))
        return wrong[names[0]], result

    @contextlib.contextmanager
    def changed(self, path, content):
        """A file that has other bytes for a while, is a link to another path, or is not there (None)."""
        away = self.folder / "away"
        path.rename(away)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif content is not None:
            path.symlink_to(content)
        yield
        path.unlink(missing_ok=True)
        away.rename(path)

    def test_whole_runs_of_all_kinds_are_whole(self):
        self.check("average", "ema", "--last", 2)
        self.train(self.config("more", **{**SMALL, "train__save_every": 3}), "from", "--init-from", "run", "--stop-at", 5)
        for run in (*self.RUNS, "from"):
            with self.subTest(run):
                self.assertEqual(self.verify(run)["resume"], STEPS[-1] if run != "from" else "step-00000005")
        self.assertEqual([p["name"] for p in self.verify("ema")["checkpoints"]], ["average-8-12"] + STEPS)
        self.assertEqual([p["name"] for p in self.verify("run")["files"]],
                         ["last", "best", "config.json", "origin.json", "metrics.jsonl", "film.jsonl"])
        self.resume("from", "--stop-at", 8, "--set", "train.log_every=2")
        self.resume("from", "--max-steps", 20)
        self.assertEqual(self.verify("from")["resume"], "step-00000020")
        shutil.rmtree(self.step(0, "from"))
        self.assertIn("step-00000000", self.names("origin.json", run="from")[0])

    def test_every_damaged_file_is_named_and_the_rest_is_whole(self):
        for name in ("model.safetensors", "training.safetensors", "config.json", "tokenizer.json", "state.json"):
            path = self.step(12) / name
            whole = path.read_bytes()
            for damage in (whole[:-1], whole[:len(whole) // 2] + b"#" + whole[len(whole) // 2 + 1:], None):
                with self.changed(path, damage):
                    wrong, result = self.names(STEPS[-1], facts="step-00000012")
                    self.assertIn(name, wrong)
                    self.assertEqual(result["resume"], STEPS[-2])
        self.verify()

    def test_a_checkpoint_without_permission_is_named_beside_the_whole_ones(self):
        (self.step(12) / "model.safetensors").chmod(0)
        r = self.as_nobody("verify", "run", "--json")
        wrong, = (c for c in json.loads(r.out)["checkpoints"] if not c["whole"])
        self.assertEqual((r.status, wrong["name"]), (STORE, STEPS[-1]))
        self.tells(wrong["wrong"], "Permission denied")
        plain = self.as_nobody("verify", "run")
        self.assertIn("NOT WHOLE: ", plain.out)
        self.assertNotIn("damaged", plain.out)
        for command, *options in (["evaluate", "--checkpoint", "last"], ["resume", "--more", "4"]):
            r = self.judge(self.as_nobody(command, "run", *options), [command], STORE, "Permission denied")
            self.assertNotIn("damaged", r.err)

    def test_a_newest_checkpoint_that_does_not_load_is_not_promised(self):
        shutil.copy(self.step(12, "pairs") / "config.json", self.step(12))
        seal(self.step(12))
        self.assertIsNone(self.verify(status=STORE)["resume"])

    def test_a_checkpoint_of_another_step_than_its_folder_says_is_named_and_not_used(self):
        last, elsewhere = self.step(12), self.folder / "elsewhere"
        for name in ("step-00000013", "step-x", "step-99999999999999999999", "average-4-12"):
            with self.subTest(name):
                there = self.checkpoints() / name
                last.rename(there)
                result = self.verify(status=STORE, facts=name)
                self.assertEqual(result["resume"], STEPS[1])
                self.check("evaluate", "run", "--checkpoint", there, status=STORE, facts=name)
                there.rename(last)
        for one, other in ((self.step(4), elsewhere), (self.step(8), self.step(4)), (elsewhere, self.step(8))):  # swapped
            one.rename(other)
        self.assertEqual([c["name"] for c in self.verify(status=STORE)["checkpoints"] if not c["whole"]], STEPS[:2])
        self.check("average", "run", "--last", 2, status=STORE, facts="state.json")
        shutil.copytree(self.step(8), elsewhere)  # by path, a checkpoint may have any name
        self.assertEqual(self.json("evaluate", elsewhere)[0]["step"], 4)

    def test_files_that_are_links_or_emptied_are_named_by_verify_and_by_readers(self):
        readers = {"origin.json": ["evaluate"], "config.json": ["evaluate"], "metrics.jsonl": ["report", "--html", "o.html"],
                   "film.jsonl": ["inspect"], "train.log": ["resume"], ".lock": ["resume"], "live.html": ["report", "--live", "--html", "run/live.html"]}
        for name, (command, *options) in readers.items():
            path = self.folder / "run" / name
            for target in (str(self.folder / "away"), "nowhere", name):  # also dangling, and a loop
                with self.changed(path, target):
                    self.names(name, facts=name)
                    self.check(command, "run", *options, status=STORE, facts=name)
            with self.changed(path, None):
                path.mkdir()
                self.names(name, facts=name)
                path.rmdir()
            if name not in ("train.log", ".lock", "live.html"):
                with self.changed(path, b""):
                    self.names(name, facts=name)
        for name in ("metrics.jsonl", "film.jsonl"):
            with self.changed(self.folder / "run" / name, b"[" * 2_000_000):
                self.names(name, facts=name)
        self.verify()

    def test_names_are_shown_in_pipes_as_on_terminals(self):
        run = "r\x1b]0;x\x07\u202e"
        (self.folder / "run").rename(self.folder / run)
        shutil.copytree(self.step(8, run), self.checkpoints(run) / "step-\x1b[31m")
        for command, *options in (["verify"], ["inspect"], ["average", "--last", 2], ["evaluate"], ["evaluate", "--checkpoint", "no"], ["runs"], ["runs", "--tsv"], ["tokenize", "the"]):
            r = self.heed(command, "." if command == "runs" else self.folder / run, *options)
            self.assertNotRegex(r.out + r.err, "[\x00-\x08\x0e-\x1f\u202e]", command)

    def test_links_that_are_missing_or_lead_elsewhere_are_named(self):
        best, last = (self.checkpoints() / name for name in ("best", "last"))
        for other in (None, "../../elsewhere", "/etc", "step-00000099", STEPS[0]):
            with self.changed(best, other):
                self.assertIn("not there" if other is None else "best" if other == STEPS[0] else other, self.names("best")[0])
        for other in (None, STEPS[0]):
            with self.changed(last, other):
                self.names("last")
        with self.changed(last, STEPS[1]):  # as a saver leaves it that was killed before it set its links
            self.verify()
        for step in STEPS:
            shutil.rmtree(self.checkpoints() / step)
        self.names("last", "best")

    def test_another_text_in_the_run_is_named(self):
        self.check("train", "-", "--run", "piped", "--minutes", 0.02, stdin=text(20000))
        self.verify("piped")
        kept = self.folder / "piped/text.txt"
        for other in (kept.read_bytes()[:-1] + b"#", None):
            with self.changed(kept, other):
                self.names("text.txt", run="piped")

    def test_folders_of_the_user_are_left_out(self):
        shutil.copytree(self.step(8), self.checkpoints() / "mine")
        (self.checkpoints() / "mine/model.safetensors").unlink()
        self.assertEqual([p["name"] for p in self.verify()["checkpoints"]], STEPS)

    def test_what_resume_mends_is_whole(self):
        metrics, chain, config = (self.folder / "run" / name for name in ("metrics.jsonl", "chain.jsonl", "config.json"))
        whole = chain.read_bytes()
        longer = config.read_bytes().replace(b'"max_steps": 12', b'"max_steps": 20')
        for path, other in ((metrics, metrics.read_bytes() + b'{"kind"'), (chain, whole + whole.splitlines(keepends=True)[0]),
                            (chain, b""), (chain, whole[:-5]), (config, longer)):
            with self.changed(path, other):
                self.verify()

    def test_a_config_that_resuming_may_not_change_is_named(self):
        config = self.folder / "run/config.json"
        with self.changed(config, config.read_bytes().replace(b'"seed": 1', b'"seed": 2')):
            self.assertIn("seed", self.names("config.json")[0])
        with self.changed(config, (self.folder / "sgd/config.json").read_bytes()):
            self.names("config.json")

    def test_files_and_lines_of_the_run_are_read(self):
        deep = "[" * 1_000_000 + "]" * 1_000_000
        packed = '"weights":["'
        for name, change, words in [
                ("config.json", lambda l: ["{"], "JSON"), ("origin.json", lambda l: ["{}x"], "damaged"),
                ("metrics.jsonl", lambda l: ["torn{"], "line 1 is not a JSON object"),
                ("metrics.jsonl", lambda l: [*l, l[0]], "is of step 0, after one of 12"),
                ("metrics.jsonl", lambda l: [l[0].replace('"step"', '"stp"'), *l[1:]], "line 1 has no step"),
                ("metrics.jsonl", lambda l: ['{"kind":"valid","step":1,"loss":' + deep + "}", *l], "JSON"),
                ("chain.jsonl", lambda l: [*l, "[]"], "is not a JSON object"),
                ("chain.jsonl", lambda l: [l[0].replace('"step"', '"stp"'), *l[1:]], "line 1 has no step"),
                ("chain.jsonl", lambda l: [deep, *l], "JSON"),
                ("film.jsonl", lambda l: l[1:], "line 1 is damaged"),
                ("film.jsonl", lambda l: ['{"kind":"probe","step":0,"a":' + deep + "}", *l], "JSON"),
                ("film.jsonl", lambda l: [*l[:2], l[2][:-40], *l[3:]], "line 3 is not a JSON object"),
                ("film.jsonl", lambda l: [*l[:2], l[2].replace(packed, packed + "A"), *l[3:]], "line 3 is damaged"),
                ("film.jsonl", lambda l: [*l[:2], re.sub(packed.replace("[", r"\[") + ".", packed + "*", l[2]), *l[3:]], "line 3 is damaged"),
                ("film.jsonl", lambda l: [l[0], l[3], l[2], *l[4:]], "after one of ")]:
            with self.subTest(name, words=words):
                path = self.folder / "run" / name
                with self.changed(path, "".join(line + "\n" for line in change(path.read_text().splitlines())).encode()):
                    self.assertIn(words, self.names(name)[0])
                    if name.endswith("l"):
                        self.check("report", "run", "--html", "page.html")  # a bad line never breaks a page

    def test_a_run_of_an_older_heed_is_not_called_damaged(self):
        path = self.step(12) / "state.json"
        path.write_text(path.read_text().replace('"format": 5', '"format": 4'))
        seal(self.step(12))
        for command, *options in (["verify"], ["evaluate", "--checkpoint", "last"], ["resume"]):
            r = self.check(command, "run", *options, status=STORE)
            self.assertNotIn("damaged", r.err)
            if command != "verify":
                self.tells(r.err, ["state.json", "4", "5"])

    def test_one_checkpoint_alone(self):
        place = "run/checkpoints/step-00000008"
        result = self.verify(place)
        self.assertEqual((result["files"], result["resume"]), ([], None))
        (self.step(8) / "tokenizer.json").unlink()
        self.assertIn("tokenizer.json", self.names(STEPS[1], run=place, facts="step-00000008")[0])
        self.check("verify", self.folder, status=STORE, facts="checkpoints/")

    def test_a_run_that_is_being_trained_is_whole(self):
        config = self.config(train__save_every=1, train__keep_last=1, train__eval_every=3, train__max_steps=100_000)
        trainer = self.spawn("train", config, "--run", "live")
        self.wait_for((self.folder / "live/checkpoints/last").exists, trainer)
        for _ in range(40):
            self.check("verify", "live")
            self.check("evaluate", "live", "--checkpoint", "last")
        self.assertIsNone(trainer.poll())
        trainer.terminate()
        trainer.communicate()


if __name__ == "__main__":
    unittest.main()
