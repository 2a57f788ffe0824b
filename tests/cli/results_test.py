"""Files that commands write for the user, terminals, hostile sizes, and another type of CPU."""
import os
import pty
import subprocess
import time
import unittest

from runs import HEED, SMALL, STORE, RunsTest


class Results(RunsTest):
    RUNS = {"run": SMALL, "byte": {**SMALL, "tokenizer": {"type": "byte"}, "family": "causal_lm"}}
    # Every command that writes a file for the user, without its FILE.
    WRITERS = {"report": ("report", "run", "--html"), "attend": ("attend", "run", "mill", "--html")}

    def test_a_result_is_written_whole_or_the_old_one_stays(self):
        for name, command in self.WRITERS.items():
            path = self.folder / name
            path.write_text("old")
            r = self.limited("-f 1", *command, path)
            self.assertEqual((r.status, path.read_text(), list(self.folder.glob(".tmp*"))), (STORE, "old", []), r.err)
            self.check(*command, path)
            self.assertGreater(path.stat().st_size, 1024)

    def test_a_result_touches_no_other_file_and_keeps_the_mode_of_the_old_one(self):
        for name, command in self.WRITERS.items():
            path, own = self.folder / name, self.folder / f".tmp-{name}"
            path.write_text("old")
            path.chmod(0o600)
            own.write_text("the user's")
            self.check(*command, path)
            self.assertEqual((path.stat().st_mode & 0o777, own.read_text()), (0o600, "the user's"))
            own.unlink()
            path.unlink()
            self.check(*command, path)
            (self.folder / "plain").touch()
            self.assertEqual(path.stat().st_mode, (self.folder / "plain").stat().st_mode)
            self.check(*command, "n" * 252)

    def test_a_result_may_go_to_a_stream(self):
        """(To a link: options_test.py.)"""
        for command in self.WRITERS.values():
            self.check(*command, "plain")
            for stream in ("-", "/dev/stdout"):
                self.assertEqual(self.out(*command, stream).encode(), (self.folder / "plain").read_bytes())

    def test_a_terminal_gets_no_control_character_of_a_text_but_a_pipe_does(self):
        args = [HEED, "sample", "byte", "\x1b[31m \xc2\x9b", "--max-tokens", "2", "--seed", "1"]
        piped = subprocess.run(args, cwd=self.folder, capture_output=True, check=True).stdout
        self.assertTrue(piped.startswith("\x1b[31m \xc2\x9b".encode()))
        leader, follower = pty.openpty()
        subprocess.run(args, cwd=self.folder, stdout=follower, check=True)
        os.close(follower)
        shown = os.read(leader, 1 << 16)
        os.close(leader)
        self.assertTrue(shown.startswith(b"<0x1B>[31m "), shown)
        self.assertNotIn(b"\x1b", shown)

    def test_sparse_files_of_absurd_size_are_refused_at_once(self):
        model = self.step(12) / "model.safetensors"
        os.truncate(model, 1 << 40)
        begin = time.monotonic()
        self.check("verify", "run", status=STORE, facts="step-00000012")
        self.check("evaluate", "run", "--checkpoint", "last", status=STORE, facts="model.safetensors")
        os.truncate(self.folder / "run/metrics.jsonl", 1 << 40)
        self.check("report", "run", status=STORE, facts=["run/metrics.jsonl", "16777216"])
        self.assertLess(time.monotonic() - begin, 30)

    def test_another_cpu_type_is_reported_when_a_run_is_resumed(self):
        other = {"OPENBLAS_CORETYPE": "Nehalem"}
        here, there = (self.out("--version", env=env).split("core type: ")[1].split()[0] for env in ({}, other))
        if here == there:
            self.skipTest("OpenBLAS has one core type only")
        self.assertIn(f'"core_type": "{here}"', (self.folder / "run/origin.json").read_text())
        self.assertEqual(self.metrics()[0]["core_type"], here)
        r = self.resume("run", "--more", 2)
        self.assertNotIn(here, r.err)
        self.resume("run", "--more", 2, env=other, facts=[here, there])
        events = self.metrics(kind="event")
        self.assertEqual([e["event"] for e in events], ["start", "resume"])
        self.assertEqual((events[1]["step"], events[1]["core_type"]), (14, there))
        self.resume("run", "--more", 2, env=other)
        self.resume("run", "--more", 2, facts=[there, here])  # back where it began
        self.assertEqual([(e["step"], e["core_type"]) for e in self.metrics(kind="event")],
                         [(0, here), (14, there), (18, here)])


if __name__ == "__main__":
    unittest.main()
