"""How a run ends: what it says and leaves, what it advises, and whether that works; and how that agrees with other commands."""
import fcntl
import json
import shlex
import unittest

from runs import DATA, SMALL, RunsTest, said, text

LONG = "this is a line of more than forty characters that "


class Endings(RunsTest):
    def commands(self, told):
        """Those under `try next:`."""
        return [shlex.split(line, comments=True)[1:] for line in told.split("try next:\n")[1].splitlines() if line.startswith("  heed ")]

    def test_every_kind_of_model_ends_with_a_sample_a_page_and_commands_that_work(self):
        for family, command in (("causal_lm", "sample"), ("prefix_lm", "sample"), ("masked_lm", "fill"), ("seq2seq", "translate"),
                                ("span_corruption", "fill")):
            with self.subTest(family):
                kind = {} if family == "seq2seq" else {"tokenizer": {"type": "word"}}
                r = self.train(self.config(family, family=family, **SMALL, **kind), family, facts=f"{family}/report.html")
                self.assertRegex(r.err, r"\n  \| \S.*\n")
                self.tells(r.err, f"xdg-open {self.folder / family / 'live.html'}  # in a browser")
                self.assertEqual(self.page((self.folder / family / "report.html").read_text())["live"], "live.html")
                page = self.page((self.folder / family / "live.html").read_text())
                probe, frames = self.film(family)
                self.assertEqual((page["report"], page["about"].split()[-1]), ("report.html", str(self.link("best", family))))
                best = next(f for f in frames if f["step"] == self.link("best", family))
                self.assertEqual((page["film"]["prompts"], page["film"]["written"]), (probe["prompts"], best["written"]))
                self.assertEqual(page["film"]["filled"].count("›"), best.get("filled", "").count("›"))
                (first, run, *_), attend, last = self.commands(r.err)
                self.assertEqual((first, run), (command, str(self.folder / family)))
                self.assertEqual(attend[0], "attend")
                for proposed in (attend, last):
                    self.check(*proposed)

    def test_a_page_to_type_to_is_written_where_train_live_wants_it(self):
        large = {"model__d_model": 512, "model__d_ff": 512, "train__max_steps": 1, "train__eval_every": 0}
        for name, changes, written, *options in (("small", {}, True), ("no", {}, False, "--no-live"), ("large", large, False),
                                                 ("asked", {**large, "train__live": True}, True), ("never", {"train__live": False}, False)):
            with self.subTest(name):
                r = self.train(self.config(name, **{**SMALL, **changes}), name, *options)
                self.assertEqual((self.folder / name / "live.html").exists(), written)
                self.assertEqual("live" in self.page((self.folder / name / "report.html").read_text()), written)
                self.assertEqual(self.run_config(name)["train"].get("live"), {"no": False, "asked": True, "never": False}.get(name))
                if name == "large":
                    proposed, = [line for line in r.err.splitlines() if "--live" in line]
                    self.check(*shlex.split(proposed, comments=True)[1:])
        self.train(self.config(train__live="often"), "x", status=2, facts=["train.live", "auto, true, false", "often"])
        (self.folder / "small/live.html").unlink()
        self.resume("small", "--more", 4)
        self.assertTrue((self.folder / "small/live.html").exists())

    def test_resumed_and_branched_runs_end_so_too(self):
        page = self.folder / "run/report.html"
        self.train(self.config(**SMALL), "run", "--stop-at", 4)
        page.unlink()
        r = self.resume("run", "--json", "--stop-at", 8)
        self.assertEqual(json.loads(r.out)["reason"], "stop_at")
        page.unlink()
        page.mkdir()  # it cannot be written
        self.assertEqual(len(self.commands(self.resume("run", facts="warning:").err)), 3)
        self.resume("run", "--branch", "branch", "--checkpoint", "step-4", "--max-steps", 6, facts="branch/report.html")
        (self.folder / "branch/report.html").unlink()
        self.resume("branch", facts=said("already", 6))  # nothing happened
        self.assertFalse((self.folder / "branch/report.html").exists())

    def test_a_run_at_a_rate_of_0_says_so_and_proposes_another(self):
        schedule = {"optimizer": {"schedule": "linear", "warmup_steps": 1, "decay_steps": 5, "learning_rate": 0.01}}
        r = self.train(self.config(**{**SMALL, **schedule}), "run", "--stop-at", 6, facts=["warning:", "step 5"])
        command = self.commands(self.resume("run", facts=["warning:", "from 7 on"]).err)[-1]
        self.assertEqual(command[:2], ["train", str(self.folder / "run/config.json")])
        r = self.check(*command, facts=said("finished", 24))
        self.assertNotIn("warning:", r.err)
        again = shlex.join(command).split(" --set")[0].replace("run-2", "run-3")  # as that is there
        self.assertIn(again, self.resume("run").err)
        self.assertIn(again, json.loads(self.out("report", self.folder / "run", "--json"))["advice"]["command"])

    def test_a_run_that_is_still_training_says_so(self):
        self.train(self.config(family="causal_lm", **SMALL), "run")
        with open(self.folder / "run/.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for command in (["evaluate"], ["sample", "--max-tokens", 1], ["compare", "run"]):
                self.check(command[0], "run", *command[1:], facts="still training: step 12 of 12", stdin="")
            self.check("rewind", "run", 3, status=2, facts="run")  # which would read what is being written
        self.assertNotIn("still training", self.check("evaluate", "run").err)


class Memorised(RunsTest):
    # The held-out text has characters that training never sees.
    RUNS = {"run": {"data": {"train": "a.txt", "valid": "v.txt"}, "train__eval_every": 20, "train__max_steps": 300}}

    def texts(self):
        super().texts()
        (self.folder / "v.txt").write_text("wet hot tea at dawn " * 20)

    def test_a_memorised_text_is_not_to_be_trained_on(self):
        log = (self.folder / "run/train.log").read_text()
        best = self.link("best")
        self.assertLess(best, 300)
        page = json.loads(self.out("report", "run", "--json"))
        self.tells(page["overfitting"], ["held-out loss has risen since step", "train.patience"])
        for told in (log, self.resume("run").err, page["advice"]["text"]):
            self.tells(told, [f"step {best}", "heed sample", "--checkpoint last"])
            self.assertNotIn("--more", told)
        self.assertEqual(page["advice"]["command"], "")


class Leaks(RunsTest):
    def texts(self):
        super().texts()
        lines = [LONG + line for line in text(400).splitlines()]
        (self.folder / "long.txt").write_text("".join(line + "\n" for line in lines))
        (self.folder / "v.txt").write_text(lines[0] + "\n" + LONG + "is new\n" + lines[2] + "\n")

    def test_held_out_lines_that_are_trained_on_are_counted(self):
        data = {"data": {"train": "long.txt", "valid": "v.txt"}}
        self.train(self.config(**{**SMALL, **data}), facts=["warning:", "2 of 3"])
        self.check("evaluate", "run", "--file", "v.txt", facts=["warning:", "2 of 3"])
        (self.folder / "long.txt").unlink()
        self.check("evaluate", "run", "--file", "v.txt", facts="long.txt")
        self.train(self.config(family="seq2seq", **SMALL), "pairs", facts=["warning:", "12 of 12"])
        self.check("evaluate", "pairs", "--file", "a.source", "--target-file", "a.target", facts="120 of 120")


class Neighbors(RunsTest):
    RUNS = {"run": {**SMALL, "family": "causal_lm", "tokenizer": {"type": "bpe", "vocab_size": 400}}}

    def test_tokens_that_training_never_saw_are_no_neighbours(self):
        found, = self.json("neighbors", "run", "miller", "--top-k", 500)
        self.assertFalse([n for n in found["queries"][0]["neighbors"] if n["token"].startswith("<0x") and n["token"] != "<0x0A>"])
        self.check("neighbors", "run", "Miller", status=DATA, facts="never occurs")
        origin = self.folder / "run/origin.json"
        origin.write_text(origin.read_text().replace(str(self.trained), "/nowhere"))
        (self.folder / "a.txt").rename(self.folder / "b.txt")
        self.check("neighbors", "run", "Miller", facts=["/nowhere/a.txt"])
        self.assertIn("<0x", self.check("neighbors", "run", "miller", "--top-k", 400).out)


if __name__ == "__main__":
    unittest.main()
