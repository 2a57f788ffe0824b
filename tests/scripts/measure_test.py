#!/usr/bin/env python3
"""scripts/measure.py in a small repository of its own, with configs that train in a moment."""
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
MODEL = {"d_model": 8, "n_heads": 2, "d_ff": 16, "encoder_layers": 1, "decoder_layers": 1, "dropout": 0}
TRAIN = {"batch_tokens": 100, "max_steps": 20, "log_every": 5, "eval_every": 10, "save_every": 10}
PAIRS = {f"{valid}{side}": f"x.{valid.rstrip('_') or 'train'}.{side}"
         for valid in ("", "valid_") for side in ("source", "target")}
CONFIGS = {
    "text": {"data": {"train": "text.txt"}, "objective": {"type": "prefix_lm", "source_length": 6, "target_length": 8}},
    "masked": {"data": {"train": "text.txt"}, "model": {**MODEL, "decoder_layers": 0}, "tokenizer": {"type": "word"},
               "objective": {"type": "masked_lm", "source_length": 8}},
    "pairs": {"data": PAIRS, "tokenizer": {"type": "word"}, "objective": {"type": "seq2seq"},
              "train": {**TRAIN, "save_every": 2, "keep_last": 10}},
}


def git(folder, *arguments):
    subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *arguments], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)


@unittest.skipUnless(shutil.which("git"), "git is not installed")
@unittest.skipUnless(HEED.exists(), f"{HEED} is not built")
class Measure(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heed_test_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.repository = self.folder / "repository"
        scripts, configs = self.repository / "scripts", self.repository / "configs"
        scripts.mkdir(parents=True)
        configs.mkdir()
        for name in ("measure.py", "heed_runs.py"):
            shutil.copy(ROOT / "scripts" / name, scripts)
        (self.repository / ".gitignore").write_text("__pycache__/\n")
        for name, config in CONFIGS.items():
            (configs / f"{name}.json").write_text(json.dumps({"seed": 3, "model": MODEL, "train": TRAIN, **config}))
        (configs / "text.txt").write_text("the old miller walked to the river and saw the mill .\n" * 40)
        lines = [f"{a} {b} {c}\n" for a in "abcde" for b in "abcde" for c in "abcde"]
        for name, part in (("train", lines[:100]), ("valid", lines[100:]), ("test", lines[90:])):
            for side in ("source", "target"):
                (configs / f"x.{name}.{side}").write_text("".join(part))
        git(self.repository, "init", "--quiet")
        self.commit()

    def commit(self):
        git(self.repository, "add", "-A")
        git(self.repository, "commit", "--quiet", "--message", "Configs")

    def measure(self, *arguments):
        """The row and the object it prints."""
        done = subprocess.run([sys.executable, self.repository / "scripts" / "measure.py", "--heed", HEED,
                               "--threads", "1", *arguments], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        row, result = done.stdout.splitlines()
        return row, json.loads(result)

    def heed(self, *arguments):
        done = subprocess.run([HEED, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_clean_figure_names_commit_cpu_threads_and_date(self):
        row, result = self.measure("text")
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=self.repository, capture_output=True, text=True).stdout
        self.assertTrue(result["clean"], result)
        self.assertTrue(commit.startswith(result["commit"]))
        self.assertEqual((result["config"], result["threads"], result["seeds"]), ("text.json", 1, 1))
        self.assertEqual(row.count(" | "), 4)
        for text in ("`text.json`", result["commit"], result["cpu"], "1 thread |", result["date"]):
            self.assertIn(text, row)
        self.assertNotIn("not clean", row)

    def test_figures_are_those_of_evaluate_on_the_config_as_it_stands(self):
        row, result = self.measure("text", "--keep", self.folder / "runs")
        run = self.folder / "runs" / "text-seed-3"
        shown = json.loads(self.heed("evaluate", run, "--json"))
        self.assertEqual(result["figures"], [{"held out": {
            key: shown[key] for key in ("loss", "perplexity", "bits_per_byte", "accuracy")}}])
        self.assertIn(f"loss {shown['loss']:.4f}, perplexity {shown['perplexity']:.3f}, "
                      f"{shown['bits_per_byte']:.4f} bits per byte, {100 * shown['accuracy']:.2f} % right", row)
        self.assertEqual(json.loads((run / "config.json").read_text())["seed"], 3)

    def test_several_seeds_give_a_mean_with_its_spread(self):
        row, result = self.measure("text", "--seeds", "2")
        losses = [of["held out"]["loss"] for of in result["figures"]]
        self.assertEqual(len(set(losses)), 2)
        self.assertIn(f"loss {sum(losses) / 2:.4f} ({min(losses):.4f} to {max(losses):.4f})", row)
        self.assertIn("2 seeds", row)

    def test_masked_models_have_a_pseudo_perplexity(self):
        row, result = self.measure("masked")
        self.assertIn("pseudo-perplexity", row)
        self.assertNotIn("bits_per_byte", result["figures"][0]["held out"])

    def test_pairs_are_translated_by_the_best_the_last_and_the_average_of_ten(self):
        row, result = self.measure("pairs", "--tokenize", "none", "--keep", self.folder / "runs")
        figures, = result["figures"]
        self.assertEqual(list(figures), ["held out", "test", "test, last", "test, average of 10"])
        self.assertNotIn("bleu", figures["held out"])
        for where in list(figures)[1:]:
            for key in ("bleu", "chrf", "exact_match"):
                self.assertIsInstance(figures[where][key], float)
        files = ["--file", self.repository / "configs" / "x.test.source",
                 "--target-file", self.repository / "configs" / "x.test.target"]
        last = json.loads(self.heed("evaluate", self.folder / "runs" / "pairs-seed-3", *files, "--bleu", "--beam-size", "5",
                                    "--tokenize", "none", "--checkpoint", "last", "--json"))
        self.assertEqual(figures["test, last"]["loss"], last["loss"])
        self.assertIn("BLEU", row)
        self.assertIn("(none)", row)

    def test_without_test_files_the_held_out_pairs_are_translated(self):
        for side in ("source", "target"):
            (self.repository / "configs" / f"x.test.{side}").unlink()
        self.commit()
        _, result = self.measure("pairs")
        self.assertEqual(list(result["figures"][0]), ["held out", "held out, last", "held out, average of 10"])
        self.assertIn("bleu", result["figures"][0]["held out"])

    def not_clean(self, why, *arguments):
        row, result = self.measure(*arguments)
        self.assertFalse(result["clean"])
        self.assertIn(why, result["reasons"])
        self.assertIn("**not clean**: ", row)
        self.assertIn(why, row)
        return result

    def test_uncommitted_changes_are_not_clean(self):
        (self.repository / "notes.txt").write_text("new")
        self.not_clean("there are uncommitted changes", "text")

    def test_a_config_outside_the_commit_is_not_clean(self):
        shutil.copytree(self.repository / "configs", self.folder / "mine")
        self.not_clean("the config is not in the commit", self.folder / "mine" / "text.json")

    def test_a_program_older_than_its_sources_is_not_clean(self):
        (self.repository / "src").mkdir()
        (self.repository / "src" / "main.cpp").write_text("int main() {}\n")
        self.commit()
        self.not_clean("heed is older than its sources", "text")

    def test_a_resumed_run_is_not_clean_and_claims_no_minutes(self):
        runs = self.folder / "runs"
        self.heed("train", self.repository / "configs" / "text.json", "--run", runs / "text-seed-3", "--stop-at", "7",
                  "--quiet")
        result = self.not_clean("the run was resumed", "text", "--keep", runs)
        self.assertIn("the run was not trained by this call", result["reasons"])
        self.assertIsNone(result["minutes"])
        self.assertEqual(json.loads(self.heed("evaluate", runs / "text-seed-3", "--json"))["step"], 20)

    def test_a_kept_run_of_another_config_is_refused(self):
        runs = self.folder / "runs"
        self.heed("train", self.repository / "configs" / "text.json", "--run", runs / "text-seed-3", "--set",
                  "train.max_steps=4", "--quiet")
        done = subprocess.run([sys.executable, self.repository / "scripts" / "measure.py", "text", "--heed", HEED,
                               "--keep", runs], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has another config", done.stderr)


if __name__ == "__main__":
    unittest.main()
