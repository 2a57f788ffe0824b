"""Full and read-only disks (if the tests may mount one), and odd files in a run folder."""
import contextlib
import os
import shutil
import subprocess
import unittest

from runs import STORE, RunsTest, said


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
        self.judge(self.limited("-f 4", "resume", "run"), ["resume"], STORE, "ulimit -f unlimited")
        for path, content in before.items():
            if path.startswith("checkpoints/step-"):
                self.assertEqual(self.snapshot()[path], content)
        self.resume()

    def test_too_little_room_for_a_checkpoint_is_said_at_the_start(self):
        place = self.mount("disk", "size=128k")
        self.train(self.config(model__d_model=64), "disk/run", status=STORE, facts=["disk/run", "128 KiB"])
        self.assertEqual(list(place.iterdir()), [])  # nothing to clean up, and --force has moved nothing
        self.remount(place, "size=8m")
        self.train(self.config(model__d_model=64), "disk/run", "--stop-at", 5)
        filler = place / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        before = self.snapshot("disk/run")
        self.resume("disk/run", status=STORE, facts=["disk/run", "0 B"])
        self.assertEqual(self.snapshot("disk/run"), before)
        filler.unlink()
        self.resume("disk/run")

    def test_the_log_is_not_written_through_links_or_pipes(self):
        self.train(self.config(), "run", "--stop-at", 5)
        log, victim = self.folder / "run" / "train.log", self.folder / "victim"
        victim.write_text("mine")
        log.unlink()
        log.symlink_to(victim)
        self.resume(status=STORE, facts="train.log")
        self.assertEqual(victim.read_text(), "mine")
        log.unlink()
        os.mkfifo(log)
        self.resume(status=STORE, facts="train.log")
        log.unlink()
        page = self.folder / "run/report.html"
        page.unlink(missing_ok=True)
        page.symlink_to(victim)
        self.check("report", "run", "--html", "run/report.html", status=STORE, facts="run/report.html")
        self.assertEqual(victim.read_text(), "mine")

    def test_a_copy_without_links_is_the_same_run(self):
        self.train(self.config(train__eval_every=4, optimizer__learning_rate=0.2))
        links = self.checkpoints() / "best", self.checkpoints() / "last"
        expected = {which: self.json("evaluate", "run", *which) for which in ((), ("--checkpoint", "best"), ("--checkpoint", "last"))}
        for kind, change in (("folders", None), ("missing", lambda link: shutil.rmtree(link)),
                             ("texts", lambda link: (shutil.rmtree(link), link.write_text("step-00000004")))):
            with self.subTest(kind):
                copy = self.folder / kind
                shutil.copytree(self.folder / "run", copy)  # makes folders of links
                for link in links:
                    if change:
                        change(copy / "checkpoints" / link.name)
                for which, result in expected.items():
                    self.assertEqual(self.json("evaluate", copy, *which), result)
                r = self.check("verify", copy, status=STORE, facts=["last", "best", f"heed resume {copy}"])
                self.tells(r.out, "heed resume")
                self.resume(kind, facts=[said("already", 20), *([] if kind == "missing" else ["best.old-1", "last.old-1"])])
                for link in links:
                    self.assertTrue((copy / "checkpoints" / link.name).is_symlink())
                self.check("verify", copy)
                self.resume(kind, "--more", 5)

    def test_a_line_that_cannot_be_written_ends_nothing(self):
        config = self.config(train__log_every=1, train__save_every=0)
        self.train(config, "whole")
        fault = ["-P", self.folder / "run/metrics.jsonl", "-e", "inject=write:error=ENOSPC:when=4..6"]
        r = self.faulty(fault, "train", config, "--run", "run")
        self.judge(r, ["train"], 0, "warning:")
        self.same_checkpoint("whole", "run", 20)
        self.assertEqual(len(self.metrics("run")), len(self.metrics("whole")) - 3)

    def test_lines_that_were_lost_are_told_if_the_save_after_them_fails_too(self):
        fault = ["-P", self.folder / "run/metrics.jsonl", "-e", "inject=write:error=ENOSPC:when=4+", "-e", "inject=fsync,fdatasync:error=EIO"]
        r = self.faulty(fault, "train", self.config(), "--run", "run")
        self.judge(r, ["train"], STORE, ["warning: a line is lost", "Input/output error"])

    def test_a_link_that_cannot_be_read_is_not_called_something_else(self):
        self.train(self.config())
        r = self.faulty(["-e", "inject=readlink,readlinkat:error=EIO"], "evaluate", "run")
        self.judge(r, ["evaluate"], STORE, "Input/output error")
        self.assertNotIn("not a symbolic link", r.err)

    def test_a_file_system_that_cannot_hold_a_run_is_named_at_the_start(self):
        for fault, words in (("flock:error=ENOLCK", "locks"), ("symlink:error=EPERM", "symbolic links")):
            r = self.faulty(["-e", "inject=" + fault], "train", self.config(), "--run", "new")
            self.judge(r, ["train"], STORE, words)
            self.assertFalse((self.folder / "new").exists())

    def test_a_disk_that_fills_up_leaves_whole_checkpoints_and_can_be_resumed(self):
        place = self.mount("disk", "size=128k")
        config = self.config(train__save_every=5, train__keep_last=0)
        self.train(config, "disk/run", status=STORE, facts="No space left on device")
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

    def test_a_read_only_run_can_be_inspected_but_not_resumed(self):
        place = self.mount("disk", "size=1m")
        config = self.config(train__max_steps=2)
        self.train(config, "disk/run")
        before = self.snapshot("disk/run")
        self.remount(place, "ro")
        self.train(config, "disk/new", status=STORE, facts="Read-only file system")
        self.resume("disk/run", "--more", 1, status=STORE, facts="Read-only file system")
        self.check("whence", "disk/run", "the", facts="this result is not kept")
        self.check("inspect", place / "run")
        self.assertEqual(self.snapshot("disk/run"), before)


if __name__ == "__main__":
    unittest.main()
