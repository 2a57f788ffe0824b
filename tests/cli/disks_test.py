"""Full and read-only disks (if the tests may mount one), and odd files in a run folder."""
import contextlib
import os
import shutil
import subprocess
import unittest

from runs import HEED, RunsTest

STORE = 4


class Disks(RunsTest):
    def mount(self, name, options):
        place = self.folder / name
        place.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)],
                              capture_output=True)
        if done.returncode != 0:
            self.skipTest("mounting needs root")
        self.addCleanup(subprocess.run, ["umount", str(place)])
        return place

    def remount(self, place, options):
        subprocess.run(["mount", "-o", "remount," + options, str(place)], check=True)

    def test_a_limit_on_the_size_of_files_is_named_and_loses_nothing(self):
        self.train(self.config(), "run", "--stop-at", 5)
        before = self.snapshot()
        r = self.limited("-f 4", "resume", "run")
        self.assertEqual(r.status, STORE, r.err)
        self.assertIn("ulimit -f unlimited", r.err)
        for path, content in before.items():
            if path.startswith("checkpoints/step-"):
                self.assertEqual(self.snapshot()[path], content)
        self.resume()

    def test_a_folder_that_is_no_run_is_left_alone(self):
        (self.folder / "run").mkdir()
        self.train(self.config(), status=2, words=["not a run of heed", "another folder"])
        (self.folder / "run" / "checkpoints").mkdir()
        self.resume(status=STORE, words=["neither a checkpoint nor a config.json"])
        self.train(self.config(), "run", "--force", status=STORE, words="not a run of heed")

    def test_too_little_room_for_a_checkpoint_is_said_at_the_start(self):
        place = self.mount("disk", "size=128k")
        self.train(self.config(model__d_model=64), "disk/run", status=STORE, words=["no room for a checkpoint", "are free"])
        self.assertEqual(list(place.iterdir()), [])  # nothing to clean up, and --force has moved nothing
        self.remount(place, "size=8m")
        self.train(self.config(model__d_model=64), "disk/run", "--stop-at", 5)
        filler = place / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        before = self.snapshot("disk/run")
        self.resume("disk/run", status=STORE, words=["no room for a checkpoint", "are free"])
        self.assertEqual(self.snapshot("disk/run"), before)
        filler.unlink()
        self.resume("disk/run")

    def test_the_log_is_not_written_through_links_or_pipes(self):
        self.train(self.config(), "run", "--stop-at", 5)
        log, victim = self.folder / "run" / "train.log", self.folder / "victim"
        victim.write_text("mine")
        log.unlink()
        log.symlink_to(victim)
        self.resume(status=STORE, words=["train.log", "a symbolic link"])
        self.assertEqual(victim.read_text(), "mine")
        log.unlink()
        os.mkfifo(log)
        self.resume(status=STORE, words=["train.log", "a pipe"])

    def test_a_pipe_in_place_of_the_metrics_blocks_nobody(self):
        self.train(self.config(), "run", "--stop-at", 5)
        metrics = self.folder / "run" / "metrics.jsonl"
        metrics.unlink()
        os.mkfifo(metrics)
        self.resume(status=STORE, words=["metrics.jsonl", "a pipe"], timeout=20)
        self.check("report", self.folder / "run", status=STORE, words="metrics.jsonl", timeout=20)

    def test_a_copy_without_links_says_how_to_mend_it(self):
        self.train(self.config())
        copy = self.folder / "copy"
        shutil.copytree(self.folder / "run", copy)
        self.check("evaluate", copy, status=STORE, words=["best", "remove it", "--checkpoint step-N"])
        self.resume("copy", "--more", 5, status=STORE, words="move the folder away")
        for link in ("best", "last"):
            shutil.rmtree(copy / "checkpoints" / link)
        self.resume("copy", "--more", 5)

    @unittest.skipUnless(shutil.which("strace"), "strace makes a call fail")
    def test_a_link_that_cannot_be_read_is_not_called_something_else(self):
        self.train(self.config())
        done = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=readlink,readlinkat:error=EIO",
                               HEED, "evaluate", "run"], cwd=self.folder, capture_output=True, text=True)
        if "ptrace" in done.stderr:
            self.skipTest("strace may not trace here")
        self.assertEqual(done.returncode, STORE, done.stderr)
        self.assertIn("cannot read the link", done.stderr)
        self.assertIn("Input/output error", done.stderr)

    def test_a_disk_that_fills_up_leaves_whole_checkpoints_and_can_be_resumed(self):
        place = self.mount("disk", "size=128k")
        config = self.config(train__save_every=5, train__keep_last=0)
        r = self.train(config, "disk/run", status=STORE, words=["space"])
        steps = self.steps("disk/run")
        self.assertTrue(steps)
        self.assertLess(steps[-1], 20)
        self.assertEqual(self.link("last", "disk/run"), steps[-1])
        self.check("inspect", self.folder / "disk/run", "--checkpoint", "last")
        self.remount(place, "size=8m")
        self.resume("disk/run")
        self.train(config, "whole")
        self.same_checkpoint("disk/run", "whole", 20)
        trains = [e["step"] for e in self.metrics("disk/run", "train")]
        self.assertEqual(trains, [5, 10, 15, 20])

    def test_a_disk_that_is_full_from_the_start_is_named(self):
        place = self.mount("disk", "size=64k")
        (place / "filler").write_bytes(b"x" * 56 * 1024)
        self.train(self.config(tokenizer={"type": "bpe", "vocab_size": 400}), "disk/run",
                   status=STORE, words="space")

    def test_a_read_only_run_can_be_inspected_but_not_resumed(self):
        place = self.mount("disk", "size=1m")
        config = self.config(train__max_steps=2)
        self.train(config, "disk/run")
        before = self.snapshot("disk/run")
        self.remount(place, "ro")
        self.train(config, "disk/new", status=STORE, words="Read-only")
        self.resume("disk/run", "--more", 1, status=STORE, words="Read-only")
        self.check("inspect", place / "run")
        self.assertEqual(self.snapshot("disk/run"), before)


if __name__ == "__main__":
    unittest.main()
