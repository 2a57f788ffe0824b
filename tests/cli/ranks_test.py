"""Ranks under mpirun stop and fail as one. (That they write the bytes of one process: same_bytes_test.py.)"""
import json
import os
import shutil
import signal
import subprocess
import unittest

from runs import HEED, MPIRUN, RANKS_ENV, Result, RunsTest, said, text


def launched(ranks, *args):
    return [MPIRUN, "-np", str(ranks), HEED, *map(str, args)]


@unittest.skipUnless(MPIRUN, "there is no mpirun here")
class Ranks(RunsTest):
    def setUp(self):
        super().setUp()
        r = subprocess.run(launched(2, "--version"), capture_output=True, text=True, env=RANKS_ENV)
        if "built without MPI" in r.stderr:
            self.skipTest("heed was built without MPI")

    def ranks(self, n, *args, status=0, facts=()):
        done = subprocess.run(launched(n, *args), capture_output=True, text=True, cwd=self.folder, env=RANKS_ENV, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr)
        self.tells(done.stderr, facts)
        return Result(done)

    def start(self, n, *args):
        p = subprocess.Popen(launched(n, *args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             cwd=self.folder, env=RANKS_ENV)
        self.addCleanup(lambda: (p.kill(), p.communicate()) if p.poll() is None else None)
        return p

    def processes(self, p):
        """The ranks that a launcher has started, when the run has a checkpoint."""
        self.wait_for((self.checkpoints() / "last").exists, p)
        out = subprocess.run(["ps", "-o", "pid=", "--ppid", str(p.pid)], capture_output=True, text=True).stdout
        return [int(pid) for pid in out.split()]

    def test_a_text_and_first_weights(self):
        (self.folder / "mine.txt").write_text(text(3000))
        self.ranks(2, "train", "mine.txt", "--minutes", 0.05, "--run", "first")
        self.assertGreater(len(self.metrics("first", "valid")), 0)
        self.check("verify", "first")
        told = json.loads(self.ranks(2, "bench", "mine.txt", "--steps", 3, "--json").out)
        self.assertEqual((told["ranks"], told["bytes_per_step"]), (2, told["bytes_by_formula"]))

    def test_what_ranks_cannot_do_is_said(self):
        config = self.config()
        self.ranks(5, "train", config, "--run", "run", status=2, facts=["5", "train.shards", "4"])
        self.ranks(2, "config", config, status=2, facts="heed config")
        script = 'test "$OMPI_COMM_WORLD_RANK" = 0 || set -- "$@" --threads 1; exec "$@"'
        other = subprocess.run([MPIRUN, "-np", "2", "sh", "-c", script, "sh", HEED, "train", config],
                               capture_output=True, text=True, cwd=self.folder, env=RANKS_ENV, timeout=60)
        self.assertEqual(other.returncode, 2, other.stderr)
        self.assertRegex(other.stderr, "rank 1 on .*: this command is not the first rank's: heed train .*--threads 1; expected")
        self.assertNotIn("this program", other.stderr)
        r = self.ranks(2, "train", "nothing.json", status=2)
        self.assertEqual(r.err.count("heed: error:"), 1, r.err)
        self.assertFalse((self.folder / "run").exists())

    def test_a_divergence_is_said_once(self):
        config = self.config(optimizer__learning_rate=1e5, optimizer__clip_norm=0)
        r = self.ranks(2, "train", config, "--run", "run", status=5, facts="diverged")
        self.assertEqual(r.err.count("heed: error:"), 1, r.err)

    def test_a_save_that_fails_ends_the_job_and_a_time_limit_saves(self):
        config = self.endless()
        self.ranks(2, "train", config, "--run", "run", "--stop-at", 10)
        limited = ["sh", "-c", f"ulimit -f 4; exec {HEED} resume run --stop-at 20"]
        done = subprocess.run([MPIRUN, "-np", "2", *limited], capture_output=True, text=True, cwd=self.folder, env=RANKS_ENV, timeout=60)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertEqual(done.stderr.count("heed: error:"), 1, done.stderr)
        self.check("verify", "run")
        r = self.ranks(3, "resume", "run", "--set", "train.max_minutes=0.01", "--json")
        self.assertEqual(json.loads(r.out)["reason"], "time")
        self.train(config, "whole", "--stop-at", self.link("last"))
        for name in ("model", "training"):
            self.assertEqual(*((self.folder / run / f"checkpoints/last/{name}.safetensors").read_bytes()
                               for run in ("whole", "run")))

    def endless(self):
        return self.config(train__max_steps=10**6, train__save_every=50, train__eval_every=0, train__rank_timeout=6,
                           train__keep_last=1)

    def test_a_signal_to_the_launcher_or_to_any_rank_saves(self):
        for name in ("SIGUSR1 to mpirun", "SIGTERM to a rank"):
            with self.subTest(name):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                p = self.start(2, "train", self.endless(), "--run", "run")
                ranks = self.processes(p)
                if "mpirun" in name:
                    p.send_signal(signal.SIGUSR1)
                else:
                    os.kill(ranks[-1], signal.SIGTERM)
                _, err = p.communicate(timeout=60)
                self.assertEqual(p.returncode, 143, err)
                self.tells(err, said("saved"))
                step = self.link("last")
                config = self.endless()
                self.train(config, "whole", "--stop-at", step, "--force")
                self.same_checkpoint("whole", "run", step)

    def test_a_lost_rank_ends_the_job(self):
        for sign in (signal.SIGKILL, signal.SIGSTOP):
            with self.subTest(sign.name):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                p = self.start(3, "train", self.endless(), "--run", "run")
                os.kill(self.processes(p)[-1], sign)
                _, err = p.communicate(timeout=10 if sign == signal.SIGKILL else 40)
                self.assertNotEqual(p.returncode, 0)
                if sign == signal.SIGSTOP:
                    self.tells(err, "rank 2")  # all others wait too, and say so
                    self.assertNotIn("no message from rank 0", err)
                self.check("verify", "run")
                step = self.link("last") + 20
                self.ranks(2, "resume", "run", "--stop-at", step)
                self.train(self.endless(), "whole", "--stop-at", step, "--force")
                self.same_checkpoint("whole", "run", step)


if __name__ == "__main__":
    unittest.main()
