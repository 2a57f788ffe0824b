"""Limits of the system on memory, addresses, threads and open streams: an exit code and advice, immediately."""
import os
import resource
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from runs import HEED, MEMORY, SMALL, Result, RunsTest


class Limits(RunsTest):
    RUNS = {"run": {"family": "causal_lm", **SMALL}}

    def setUp(self):
        super().setUp()
        self.skip_under_a_sanitizer()

    def test_too_few_addresses_or_data_end_every_command_at_once_with_advice(self):
        config = self.config()
        for limit in ("-v 150000", "-d 20000", "-d 100000"):
            for args in (["train", config, "--run", "new"], ["evaluate", "run"], ["sample", "run"],
                         ["attend", "run", "the"], ["gradcheck", config], ["bench", config]):
                with self.subTest(f"{limit} {args[0]}"):
                    r = self.limited(limit, *args)
                    self.assertEqual(r.status, MEMORY, r.err)
            self.assertFalse((self.folder / "new").exists())
        self.judge(self.limited("-d 100000", "evaluate", "run"), ["evaluate"], MEMORY, ["OpenBLAS", "ulimit -v", "ulimit -d", "--threads"])

    def test_only_the_memory_that_the_threads_need_is_required(self):
        self.assertEqual(self.limited("-v 400000", "--version").status, 0)
        # For two buffers of 128 MiB: newer OpenBLAS takes one when it is loaded.
        for limit in ("-v 500000", "-d 400000"):
            r = self.limited(limit, "evaluate", "run", "--threads", 1)
            self.assertEqual(r.status, 0, r.err)
            self.judge(self.limited(limit, "evaluate", "run", "--threads", 9), ["evaluate"], MEMORY, "9")

    def test_a_model_too_large_for_the_limit_ends_with_advice(self):
        config = self.config("large", model={"d_model": 512, "n_heads": 8, "d_ff": 2048, "encoder_layers": 6, "decoder_layers": 6})
        self.judge(self.limited("-v 600000", "train", config, "--run", "large", "--threads", 1), ["train"], MEMORY, "try:")

    def test_threads_that_cannot_start_are_named_and_others_are_not_missed(self):
        one = self.config("one")
        pieces = self.config("pieces", tokenizer={"type": "bpe", "vocab_size": 400})
        for args, status, words in (
                (["config", one], 0, []),  # libraries start none of their own
                (["evaluate", "run", "--file", "a.txt", "--threads", 1], 0, []),
                (["train", one, "--run", "one", "--threads", 1], 0, []),
                (["evaluate", "run", "--file", "a.txt", "--threads", 2], MEMORY, ["cannot start 2 threads"]),
                (["train", one, "--run", "two", "--threads", 3], MEMORY, ["cannot start 3 threads"]),
                (["train", pieces, "--run", "pieces", "--threads", 1], MEMORY, ["cannot start a thread"])):
            with self.subTest(" ".join(map(str, args))):
                # As a user who may start no more processes or threads; root has no such limit.
                r = self.as_nobody(*args, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (1, 1)))
                self.assertEqual(r.status, status, r.err)
                for word in words + (["ulimit -u", "pids.max"] if words else []):
                    self.assertIn(word, r.err)
        self.assertTrue((self.folder / "one").exists())
        for refused in ("two", "pieces"):
            self.assertFalse((self.folder / refused).exists())

    def test_a_processor_that_is_too_old_for_the_build_is_told_so(self):
        if shutil.which("qemu-x86_64") is None:
            self.skipTest("qemu-user, which stands in for it, is not installed")
        if "x86-64-v3" not in self.out("--version"):
            self.skipTest("heed was built for this processor alone")
        old, new = (subprocess.run(["qemu-x86_64", "-cpu", cpu, HEED, "--version"], text=True, capture_output=True) for cpu in ("Nehalem", "Haswell"))
        self.assertEqual((old.returncode, old.stdout, new.returncode), (2, "", 0), old.stderr)
        self.assertIn("-DHEED_NATIVE=ON", old.stderr)

    def in_a_group(self, megabytes, command):
        """A shell command in a control group (version 1 or 2) with so much memory."""
        first = Path("/sys/fs/cgroup/memory").exists()
        group = Path("/sys/fs/cgroup/memory" if first else "/sys/fs/cgroup") / f"heed-test-{os.getpid()}"
        try:
            group.mkdir()
            (group / ("memory.limit_in_bytes" if first else "memory.max")).write_text(f"{megabytes}M")
            (group / "cgroup.procs").read_text()
        except OSError as e:
            if group.exists():
                group.rmdir()
            self.skipTest(f"no control group may be made here: {e}")
        try:
            return Result(subprocess.run(["bash", "-c", f"echo $$ > {group}/cgroup.procs && {command}"], text=True,
                                         capture_output=True, cwd=self.folder, timeout=120))
        finally:
            while (group / "cgroup.procs").read_text():  # the rest of the pipe
                time.sleep(0.01)
            group.rmdir()

    def test_data_that_does_not_fit_is_refused_before_the_kernel_kills(self):
        with (self.folder / "big.txt").open("w") as f:
            for _ in range(80):
                f.write("the fox ran home\n" * 60000)
        config = self.config(data={"train": "big.txt"})
        for command in (f"yes the fox | '{HEED}' train - --minutes 0.01 --run piped; exit ${{PIPESTATUS[1]}}",
                        f"yes the fox | '{HEED}' evaluate run --file -; exit ${{PIPESTATUS[1]}}",
                        f"yes abc | tr -d '\\n' | '{HEED}' tokenize run; exit ${{PIPESTATUS[2]}}",
                        f"yes abc | tr -d '\\n' | '{HEED}' score run; exit ${{PIPESTATUS[2]}}",
                        f"'{HEED}' train {config} --run new"):
            with self.subTest(command):
                r = self.in_a_group(150, command)
                self.assertEqual(r.status, MEMORY, r.err)
        for refused in ("new", "piped"):
            self.assertFalse((self.folder / refused).exists())

    def test_a_validation_that_does_not_fit_is_refused_before_training(self):
        (self.folder / "pairs.tsv").write_text("".join(f"a{i % 7} b{i % 5}\tc{i % 7} d{i % 5}\n" for i in range(200)))
        config = self.config("p", family="seq2seq", tokenizer={"type": "char"}, data={"pairs": "pairs.tsv", "valid_pairs": "valid.tsv"},
                             train={"max_steps": 6, "eval_every": 3, "save_every": 0, "batch_tokens": 500},
                             model={"d_model": 32, "n_heads": 2, "d_ff": 64, "positions": "rotary"})
        (self.folder / "valid.tsv").write_text("a b\tc d\n" + "x" * 9000 + "\ty\n")
        self.judge(self.limited("-v 1000000", "train", config, "--run", "new"), ["train"], MEMORY, "data.max_length")
        self.assertFalse((self.folder / "new").exists())
        (self.folder / "valid.tsv").write_text("x" * 300000 + "\ty\n")
        self.train(config, "other", status=MEMORY, facts="data.max_length")

    def test_no_unrequested_thread_is_started(self):
        """Counts its threads while it waits for input from an idle pipe."""
        p = self.spawn("tokenize", "run", stdin=subprocess.PIPE)
        p.stdin.write("the\n")
        p.stdin.flush()
        p.stdout.readline()
        self.assertEqual(len(os.listdir(f"/proc/{p.pid}/task")), 1)
        self.assertEqual(os.sched_getaffinity(p.pid), os.sched_getaffinity(0))


if __name__ == "__main__":
    unittest.main()
