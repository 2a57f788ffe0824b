"""Ctrl-C and other signals, two processes on one run, divergence, pipes and logs."""
import json
import os
import random
import re
import shlex
import signal
import subprocess
import time
import unittest

from runs import HEED, RunsTest, said, text

LONG = {"train__max_steps": 1000000, "train__save_every": 0, "train__eval_every": 0,
        "train__log_every": 1}


class Signals(RunsTest):
    def has(self, words, name="metrics.jsonl", run="run"):
        """Does a file of the run have these words?"""
        path = self.folder / run / name
        return lambda: path.exists() and words in path.read_text()

    def test_a_signal_saves_and_exits_and_no_step_is_lost(self):
        for name, number, status in (("int", signal.SIGINT, 130), ("term", signal.SIGTERM, 143), ("usr1", signal.SIGUSR1, 143),
                                     ("hup", signal.SIGHUP, 143)):
            with self.subTest(name):
                p = self.spawn("train", self.config(**LONG), "--run", self.folder / name)
                self.wait_for(self.has('"train"', run=name), p)
                p.send_signal(number)
                _, err = p.communicate(timeout=60)
                self.assertEqual(p.returncode, status, err)
                self.tells(err, said("saved"))
                self.assertIn("heed resume", err)
                at = self.link("last", name)
                for page in ("report.html", "live.html"):
                    self.assertEqual((self.folder / name / page).exists(), number == signal.SIGINT)
                self.resume(name, "--stop-at", at + 3)
                steps = [e["step"] for e in self.metrics(name, "train")]
                self.assertEqual(steps, list(range(1, at + 4)))

    def test_a_launchers_signal_ends_the_reading_of_data_as_sigterm_does(self):
        for number in (signal.SIGTERM, signal.SIGUSR1):
            with self.subTest(number.name):
                p = self.spawn("train", "-", stdin=subprocess.PIPE)
                p.stdin.write("the old mill\n" * 10000)  # more than a pipe holds: it has begun to read
                p.stdin.flush()
                p.send_signal(number)
                self.assertEqual(p.wait(timeout=60), -signal.SIGTERM)  # a shell says 143
                p.communicate()

    def test_a_signal_interrupts_yardsticks_which_resume_measures_outside_of_max_minutes(self):
        noise = random.Random(1)
        (self.folder / "a.txt").write_text("".join(noise.choices("abcdefghijklmnopqrst", k=1000000)))
        config = self.config(**LONG, train__max_minutes=0.01, data__valid_fraction=0.002)
        p = self.spawn("train", config, "--run", self.folder / "run")
        self.wait_for(self.has('"start"'), p)
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 130, err)
        self.tells(err, said("saved", 0))
        self.assertEqual(self.metrics(kind="yardsticks"), [])
        self.tells(self.resume("run").err, said("time"))
        self.assertEqual(len(self.metrics(kind="yardsticks")), 1)
        self.assertGreater(len(self.metrics(kind="train")), 0)

    def test_a_signal_interrupts_a_long_validation_which_resume_repeats(self):
        (self.folder / "a.txt").write_text(text(30000))
        config = self.config(data__valid_fraction=0.9, train__max_steps=4, train__eval_every=2,
                             train__save_every=2, train__log_every=1, train__keep_last=0)
        p = self.spawn("train", config, "--run", self.folder / "run", "--threads", "1")
        self.wait_for(self.has("step      2/4", "train.log"), p)
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 130, err)
        self.assertNotIn("valid", [e["kind"] for e in self.metrics()])
        self.assertEqual(self.steps(), [2])
        frames = self.film()[1]
        self.assertEqual([(f["step"], f.get("end"), f["valid_loss"]) for f in frames][1:], [(1, None, None), (2, True, None)])
        self.assertEqual(self.json("report", "run")[0]["frames"][-1]["step"], 2)  # the page shows where the run stopped
        self.resume("run")
        self.train(config, "whole")
        for step in (2, 4):
            self.same_checkpoint("run", "whole", step)
        numbers = lambda run: [(e["step"], e["loss"]) for e in self.metrics(run, "valid")]
        self.assertEqual(numbers("run"), numbers("whole"))
        # The frame that is made up for has all but what was known in the moment of the update alone.
        films = [self.film(run)[1] for run in ("run", "whole")]
        for frame in (film[2] for film in films):
            for matrix in frame["matrices"].values():
                norm, ratio = matrix.pop("gradient_norm"), matrix.pop("update_ratio")
                self.assertEqual((norm, ratio) == (None, None), frame is films[0][2])
        self.assertEqual(*films)

    def test_a_second_signal_quits_even_if_nobody_reads_the_output(self):
        read, write = os.pipe()
        os.set_blocking(write, False)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(write, bytes(1 << 16))
        os.set_blocking(write, True)
        (self.folder / "a.txt").write_text(text(30000))  # steps take minutes: one signal alone does not end them soon
        config = self.config(model__d_model=256, model__d_ff=2048, model__encoder_layers=8, train__batch_tokens=300000,
                             objective__target_length=100, objective__source_length=100, train__save_every=0)
        p = subprocess.Popen([HEED, "train", str(config), "--run",
                              str(self.folder / "run"), "--threads", "1", "--quiet"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=write)
        self.addCleanup(lambda: (p.kill(), p.wait(), os.close(read), os.close(write)))
        self.wait_for(self.has('"event"'), p)
        time.sleep(0.3)
        p.send_signal(signal.SIGINT)
        time.sleep(0.3)
        self.assertIsNone(p.poll(), "the first signal waits for the step")
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.wait(timeout=5), 130)
        self.assertEqual(self.steps(), [])

    def test_nohup_survives_a_hang_up(self):
        p = subprocess.Popen(["nohup", HEED, "train", str(self.config(**LONG)), "--run",
                              str(self.folder / "run"), "--quiet"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (p.kill(), p.wait()))
        self.wait_for(self.has('"train"'), p)
        p.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        self.assertIsNone(p.poll())
        p.send_signal(signal.SIGTERM)
        self.assertEqual(p.wait(timeout=60), 143)


class Divergence(RunsTest):
    def test_it_stops_with_advice_that_works_and_leaves_good_checkpoints(self):
        run = "my run's"  # quoted in messages
        config = self.config(optimizer={"type": "sgd", "learning_rate": 0.01, "clip_norm": 0,
                                        "schedule": "constant", "warmup_steps": 0},
                             train__save_every=4, train__eval_every=4, model__norm="post")
        self.train(config, run, "--stop-at", 4)
        good = self.snapshot(run)
        r = self.resume(run, "--set", "optimizer.learning_rate=1e6", status=5)
        self.tells(r.err, ["diverged at step", "NaN or infinity in the", "learning rate 1.0e+06", "heed resume"])
        after = self.snapshot(run)
        self.assertEqual({name: after.get(name) for name in good if name.startswith("checkpoints")},
                         {name: data for name, data in good.items() if name.startswith("checkpoints")})
        self.assertEqual(self.metrics(run, "event")[-1]["event"], "diverged")
        # The two lines it prints.
        line = shlex.split(r.err[r.err.index("see it again: ") + 14:].split(";")[0])
        again = self.heed(*line[1:])
        self.assertEqual(again.status, 5)
        reason = lambda err: err[err.index("diverged at step"):].splitlines()[0]
        self.assertEqual(reason(again.err), reason(r.err))
        self.resume(run, "--set", "optimizer.learning_rate=0.001")
        self.assertEqual(self.link("last", run), 20)

    def test_ruined_weights_are_never_saved(self):
        # Finite for some steps, but useless: training can continue from every checkpoint.
        config = self.config(optimizer={"type": "sgd", "learning_rate": 20, "clip_norm": 0,
                                        "schedule": "constant", "warmup_steps": 0},
                             train__save_every=1, train__eval_every=0, train__keep_last=0,
                             train__max_steps=60)
        r = self.train(config, status=5, facts=said("diverged"))
        for step in self.steps():
            loss = json.loads(self.check("evaluate", self.folder / "run", "--checkpoint", f"step-{step}",
                                         "--json").out)["loss"]
            self.assertLess(loss, 40, step)  # held-out text; over 4 (ln 22 + sqrt 8) = 24 on training text is refused
        self.assertGreater(len(self.steps()), 0)
        for _ in range(5):  # its advice works, if not at once
            line = r.err.split("with a lower rate: ")[1].split(";")[0]
            r = self.heed(*shlex.split(line)[1:])
            if r.status == 0:
                break
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(self.link("last"), 60)

    def test_weights_that_overflow_where_nothing_uses_them_are_never_saved(self):
        self.train(self.config(optimizer={"type": "sgd", "learning_rate": 1e6, "clip_norm": 0,
                                          "warmup_steps": 0, "schedule": "constant"},
                               train__save_every=10, train__eval_every=0),
                   status=5, facts=[said("diverged"), "NaN"])
        self.assertEqual(self.steps(), [])


class Output(RunsTest):
    def test_the_log_file_has_all_that_is_shown_or_not_and_says_when_and_by_which_heed(self):
        r = self.train(self.config(), "run", "--quiet", "--stop-at", 10)
        self.assertEqual((r.out, r.err), ("", ""))
        time = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[-+]\d{4}"
        log = (self.folder / "run" / "train.log").read_text()
        self.assertRegex(log, rf"^{time} heed [\d.]+( on .+)?\n")
        for words in ("step      5/20 ", f"{said('saved', 10)}"):
            self.assertIn(words, log)
        self.assertRegex(log, rf"(?m)^{time}\nvalid    10 ")
        origin = json.loads((self.folder / "run" / "origin.json").read_text())
        self.assertRegex(origin["started"], f"^{time}$")
        self.assertRegex(self.out("--version"), f"^heed {re.escape(origin['version'])}\n")
        self.assertIn("processor", origin)

    def test_a_terminal_gets_a_progress_bar_with_and_without_colour(self):
        for env, colour in (({}, True), ({"NO_COLOR": "1"}, False)):
            out = subprocess.run(["script", "-qec", shlex.join([HEED, "train", str(self.config(data={"train": "a.txt", "valid": "a.txt"})), "--run",
                                  str(self.folder / ("c" + str(colour)))]), "/dev/null"],
                                 capture_output=True, stdin=subprocess.DEVNULL,
                                 env={**os.environ, "TERM": "xterm", **env}).stdout.decode()
            self.assertIn("\r", out)
            self.assertEqual("\x1b[3" in out, colour)

    def test_a_reader_that_goes_away_ends_nothing_and_prints_nothing(self):
        line = shlex.join([HEED, "train", str(self.config()), "--run", str(self.folder / "run")]) + \
               " 2>&1 | head -1; echo ${PIPESTATUS[0]}"
        r = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
        self.assertEqual(r.stdout.splitlines()[-1], "0")
        self.assertEqual(r.stderr, "")
        self.assertEqual(self.link("last"), 20)


if __name__ == "__main__":
    unittest.main()
