#!/usr/bin/env python3
"""scripts/speedrun.py with a config that trains in a moment, in a repository of its own."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEED = pathlib.Path(os.environ.get("HEED_BINARY", ROOT / "build" / "heed"))
CONFIG = {
    "seed": 3, "data": {"train": "text.txt"}, "objective": {"type": "causal_lm", "target_length": 8},
    "model": {"d_model": 8, "n_heads": 2, "d_ff": 16, "encoder_layers": 0, "decoder_layers": 1},
    "train": {"batch_tokens": 100, "max_steps": 12, "eval_every": 2, "save_every": 2}}


@unittest.skipUnless(shutil.which("git"), "git is not installed")
@unittest.skipUnless(HEED.exists(), f"{HEED} is not built")
class Speedrun(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heed_test_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.repository = self.folder / "repository"
        for name in ("scripts", "configs"):
            (self.repository / name).mkdir(parents=True)
        for name in ("speedrun.py", "heed_runs.py"):
            shutil.copy(ROOT / "scripts" / name, self.repository / "scripts")
        (self.repository / ".gitignore").write_text("__pycache__/\n")
        (self.repository / "configs" / "toy.json").write_text(json.dumps(CONFIG))
        (self.folder / "mine.txt").write_text("the old miller walked to the river and saw the mill . " * 40)
        for line in (["init", "--quiet"], ["add", "-A"], ["commit", "--quiet", "--message", "Configs"]):
            subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *line], cwd=self.repository,
                           check=True)

    def speedrun(self, *arguments, config="toy", status=0):
        done = subprocess.run([sys.executable, self.repository / "scripts" / "speedrun.py", config, "--heed", HEED,
                               "--threads", "1", "--data", "train=mine.txt", *map(str, arguments)],
                              capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def results(self):
        return [json.loads(line) for line in (self.repository / "configs" / "speedruns.jsonl").read_text().splitlines()]

    def test_every_seed_is_trained_to_the_end_and_measured_there(self):
        row = self.speedrun("--target", "loss", "<=", 9, "--seeds", 2, "--set", "train.max_steps=8", "--note", "shorter").stdout
        result, = self.results()
        self.assertEqual((result["seeds"], result["steps"], result["reached"], result["clean"]), ([3, 4], [8, 8], True, True), result)
        for seed, value in zip(result["seeds"], result["values"]):
            run = self.folder / f"run{seed}"
            subprocess.run([HEED, "train", self.repository / "configs" / "toy.json", "--run", run, "--threads", "1", "--quiet",
                            "--set", f"data.train={self.folder}/mine.txt", "--set", f"seed={seed}", "--set", "train.max_steps=8"],
                           check=True)
            shown = subprocess.run([HEED, "evaluate", run, "--checkpoint", "last", "--json"], capture_output=True, check=True)
            self.assertEqual(value, json.loads(shown.stdout)["loss"])
        self.assertEqual(len(set(result["values"])), 2)
        self.assertGreater(min(result["seconds"]), 0)
        for text in ("`toy.json`", "`train.max_steps=8`", "shorter", "loss <= 9: yes", result["config_sha256"][:10],
                     result["commit"], f"{min(result['values']):.4f} to {max(result['values']):.4f}"):
            self.assertIn(text, row)

    def test_a_missed_target_is_kept_beside_the_others(self):
        self.speedrun("--target", "accuracy", ">=", 0, "--seeds", 1, config="toy.json")
        row = self.speedrun("--target", "loss", "<=", 0.1, "--seeds", 1, "--average", 3).stdout
        self.assertIn("loss <= 0.1: no", row)
        self.assertIn("(average of the last 3)", row)
        first, second = self.results()
        self.assertEqual((first["reached"], second["reached"], second["average"]), (True, False, 3))
        self.assertEqual(second["steps"], [12])
        self.assertTrue(second["clean"], second)  # earlier results are not a change of the sources
        self.assertEqual(first["config_sha256"], second["config_sha256"])
        self.assertEqual(len(second["data_sha256"][0]), 64)

    def test_a_target_that_cannot_be_measured_is_refused_before_training(self):
        for target in (("los", "<=", "1"), ("loss", "<", "1"), ("loss", "<=", "low"), ("loss", "<=", "nan")):
            self.assertIn("expected --target", self.speedrun("--target", *target, status=2).stderr)
        for options, reason in ((("bleu", ">=", 3), "bleu measures translations"),
                                (("loss", "<=", 9, "--average", 4), "only 3 saved"),
                                (("loss", "<=", 9, "--average", 3, "--set", "train.max_steps=4"), "only 2 saved"),
                                (("loss", "<=", 9, "--average", 2, "--set", "train.save_every=0"), "only 1 saved"),
                                (("bits_per_byte", "<=", 9, "--set", "objective.type=masked_lm", "--set",
                                  "model.encoder_layers=1", "--set", "model.decoder_layers=0"), "does not score every byte"),
                                (("bits_per_byte", "<=", 9, "--set", "data.lowercase=true"), "data.lowercase"),
                                (("loss", "<=", 9, "--set", "data.valid_fraction=0"), "no file is held out"),
                                (("loss", "<=", 9, "--results", "nowhere/results.jsonl"), "No such file")):
            error = self.speedrun("--target", *options, status=2).stderr
            self.assertIn(reason, error)
            self.assertNotIn("training toy", error)

    def test_steps_are_those_that_were_done(self):
        self.speedrun("--target", "loss", "<=", 9, "--seeds", 1, "--set", "train.patience=1", "--set",
                      "optimizer.learning_rate=1e-30", "--set", "optimizer.warmup_steps=0")
        self.assertLess(self.results()[0]["steps"][0], 12)

    def test_a_seed_that_diverges_is_kept_and_misses_the_target(self):
        self.speedrun("--target", "loss", "<=", 9, "--seeds", 2, "--set", "optimizer.type=sgd", "--set",
                      "optimizer.learning_rate=1e6", "--set", "optimizer.clip_norm=0", "--set", "optimizer.warmup_steps=1")
        result, = self.results()
        self.assertEqual((result["values"], result["mean"], result["reached"]), ([None, None], None, False))
        self.assertEqual((result["seconds"], result["steps"], result["mean_seconds"]), ([], [], None))


if __name__ == "__main__":
    unittest.main()
