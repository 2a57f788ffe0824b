"""Full and read-only disks (where the tests may mount one)."""
import subprocess
import unittest

from runs import RunsTest

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

    def test_a_disk_that_fills_up(self):
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

    def test_a_full_disk_from_the_start(self):
        place = self.mount("disk", "size=64k")
        (place / "filler").write_bytes(b"x" * 56 * 1024)
        self.train(self.config(tokenizer={"type": "bpe", "vocab_size": 400}), "disk/run",
                   status=STORE, words="space")

    def test_a_read_only_folder(self):
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
