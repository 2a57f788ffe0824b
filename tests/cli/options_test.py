"""Options and output that several commands have in common: help, --json of train, resume and bench, ranges."""
import json
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from runs import HEED, SMALL, RunsTest, text

HELP = Path(__file__).resolve().parents[2] / "src" / "cli" / "help"


class Options(RunsTest):
    RUNS = {"run": SMALL, "pairs": {"family": "seq2seq", **SMALL}, "words": {"tokenizer": {"type": "word"}, **SMALL},
            "stopped": {"train__max_steps": 5}, "masked": {"family": "masked_lm", **SMALL},
            "gpt": {"family": "causal_lm", "model__positions": "learned", **SMALL}}

    def test_help_version_and_config_are_data(self):
        self.assertEqual((self.out(), self.out("help", "train")), (self.out("--help"), self.out("train", "--help")))
        first, more = (re.findall(r"^  (\w+)  ", part, re.M) for part in self.out().split("\nmore:\n"))
        self.assertEqual(first, "train sample report attend evaluate translate resume runs".split())
        self.assertEqual(len(more), 18)
        version = self.out("--version")
        for part in ("heed 0.", "build: ", "compiler: ", "OpenBLAS", "core type: "):
            self.assertIn(part, version)
        shown = json.loads(self.out("config", self.config("c"), "--set", "model.d_model=64", "--set", "optimizer.betas=[0.8,0.9]", cwd="/"))
        self.assertEqual(shown["data"]["train"], str(self.folder / "a.txt"))  # what is printed may be kept elsewhere
        self.assertEqual((shown["model"]["d_model"], shown["optimizer"]["betas"], shown["train"]["shards"]), (64, [0.8, 0.9], 4))
        self.assertEqual(json.loads(self.out("config", "--schema"))["$schema"], "https://json-schema.org/draft/2020-12/schema")

    def test_a_reader_that_went_away_is_no_error_and_an_output_that_cannot_be_written_is(self):
        self.config("c")
        for line, status, facts in (("train c.json --run new >&- 2>&-", (0,), ()),  # it has nothing to print there
                                    ("config --schema > >(exec true)", (0, 141), ()), ("--help >/dev/full", (4,), "No space left on device"),
                                    ("--help >&-", (4,), ("standard output", "Bad file descriptor"))):
            done = subprocess.run(["bash", "-c", f'"$0" {line}', HEED], capture_output=True, text=True, cwd=self.folder)
            self.assertIn(done.returncode, status, line)
            self.assertEqual(bool(done.stderr), bool(facts), done.stderr)
            self.tells(done.stderr, facts)

    def test_what_no_other_test_runs_under_sanitizers(self):
        commands = [["ablate", "run"], ["average", "run", "--last", 2], ["bleu", "a.source", "a.source"], ["compare", "run", "stopped"],
                    ["evaluate", "run", "--json"], ["export", "gpt", "out"], ["fill", "masked", "the [MASK]"], ["gradcheck", self.config("c")],
                    ["inspect", "run"], ["neighbors", "words", "the"], ["runs", "."], ["sample", "run", "the"], ["verify", "run"],
                    ["resume", "stopped", "--branch", "branch", "--max-steps", 8], ["train", "c.json", "--run", "rounded", "--set", "train.precision=bfloat16"]]
        if "portable arithmetic: available" in self.out("--version"):
            commands.append(["train", "c.json", "--run", "portable", "--set", "train.arithmetic=portable"])
        for command, r in zip(commands, self.at_once(commands)):
            self.assertEqual(r.status, 0, (command, r.err))

    def test_each_help_text_belongs_to_a_command_and_names_options_that_exist(self):
        shown = {}
        def options_of(command):
            if command not in shown:
                shown[command] = " ".join(self.heed(command, "--help").out.split())
            return set(re.findall(r"--[a-z][a-z-]*", shown[command].split(texts.get(command, "\0"))[0]))
        texts = {path.stem: " ".join(path.read_text().split()) for path in HELP.glob("*.txt")}
        self.assertGreater(len(texts), 10)
        for command, words in texts.items():
            with self.subTest(command):
                known = options_of(command)
                self.assertIn(words, shown[command])
                for other in set(re.findall(r"heed ([a-z]+)", words)):
                    known |= options_of(other)
                self.assertEqual(set(re.findall(r"--[a-z][a-z-]*", words)) - known, set())
                self.assertLessEqual(max(map(len, (HELP / f"{command}.txt").read_text().split("\n"))), 100)

    def test_a_page_is_written_where_a_link_leads(self):
        (self.folder / "link.html").symlink_to("page.html")  # there is no such file yet
        (self.folder / "chain.html").symlink_to("link.html")
        for link in ("chain.html", "link.html"):
            self.check("attend", "run", "the", "--html", link)
            self.assertEqual([(self.folder / name).is_symlink() for name in ("chain.html", "link.html", "page.html")], [True, True, False])
            self.assertIn("</html>", (self.folder / "page.html").read_text())
        (self.folder / "round.html").symlink_to("round.html")
        self.check("attend", "run", "the", "--html", "round.html", status=4, facts="round.html")

    def test_a_run_is_found_by_its_name(self):
        shutil.copytree(self.folder / "run", self.folder / "runs/mine", symlinks=True)
        for args in (("score", "mine", "the old"), ("verify", "mine"), ("resume", "mine")):
            named = self.check(*args, facts="runs/mine")
            self.assertEqual(named.out, self.out(args[0], "runs/mine", *args[2:]))
        self.train(self.config(**SMALL), "from", "--init-from", "mine", facts="runs/mine")
        shown, = self.json("inspect", "mine", "--checkpoint", "initial")
        self.assertEqual((shown["checkpoint"], shown["step"], {t["distance"] for t in shown["tensors"]}), ("initial", 0, {0}))
        (self.folder / "mine").mkdir()  # not a run
        for name in ("mine", "mine/"):
            self.check("score", name, "the old", facts="runs/mine")
        (self.folder / "runs" / "inner").mkdir()
        self.check("score", "inner/../mine", "the old", status=4, facts="inner/../mine")

    def test_bench_takes_a_text_and_a_run(self):
        (self.folder / "mine.txt").write_text(text(3000))
        shown = self.out("bench", "mine.txt", "--steps", 2, "--set", "train.max_steps=20")
        self.assertRegex(shown, r"(?m)^all 20 steps +about \d+s, plus validation$")
        self.assertRegex(shown, r"(?m)^5 minutes +[\d,]+ steps")
        for command in ("gradcheck", "config"):
            self.check(command, "mine.txt", status=2, facts="mine.txt")
            self.assertTrue(self.out(command, "run"))

    def test_bench_says_where_the_time_goes(self):
        j, = self.json("bench", "run", "--steps", 2, "--threads", 1)
        self.assertEqual(list(j), ["tokens_per_second", "steps_per_second", "gflop_per_step",
                                   "gflops", "sgemm_gflops", "utilisation", "peak_rss_mib",
                                   "steps", "threads", "training_seconds", "breakdown"])
        self.assertEqual((j["steps"], j["threads"]), (2, 1))
        self.assertAlmostEqual(j["training_seconds"], 12 / j["steps_per_second"], places=6)
        timed = self.config(train__max_steps=0, train__max_minutes=1)
        self.assertIsNone(self.json("bench", timed, "--steps", 2)[0]["training_seconds"])
        self.assertAlmostEqual(sum(j["breakdown"].values()), 1, places=6)
        self.assertGreater(min(j["breakdown"].values()), 0)
        self.assertAlmostEqual(j["utilisation"], j["gflops"] / j["sgemm_gflops"], places=3)

    def test_train_and_resume_say_how_they_ended(self):
        j, = self.json("train", self.config(train__eval_every=5, train__max_steps=10), "--run", "ended", "--stop-at", 5)
        self.assertEqual(list(j), ["run", "step", "best_loss", "best_step", "seconds", "reason"])
        self.assertEqual((j["run"], j["step"], j["best_step"], j["reason"]),
                         ("ended", 5, 5, "stop_at"))
        j, = self.json("resume", "ended")
        self.assertEqual((j["step"], j["reason"]), (10, "finished"))
        self.assertEqual(j["best_loss"], self.state(10, "ended")["best_loss"])
        again, = self.json("resume", "ended")
        self.assertEqual((again["step"], again["reason"]), (10, "already_done"))
        j, = self.json("train", self.config(**{**SMALL, "optimizer__learning_rate": 1e6}), "--run", "wild", "-q", status=5)
        self.assertEqual((j["run"], j["reason"]), ("wild", "diverged"))


if __name__ == "__main__":
    unittest.main()
