"""scripts/measure.py, without a target and with one, in a small repository of its own, with configs that train in a moment."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from heed_runs import cpu_name  # noqa: E402

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
    "toy": {"data": {"train": "text.txt"}, "objective": {"type": "causal_lm", "target_length": 8},
            "model": {"d_model": 8, "n_heads": 2, "d_ff": 16, "encoder_layers": 0, "decoder_layers": 1},
            "train": {"batch_tokens": 100, "max_steps": 12, "eval_every": 2, "save_every": 2}},
}


def git(folder, *arguments):
    subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *arguments], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)


@unittest.skipUnless(shutil.which("git"), "git is not installed")
@unittest.skipUnless(HEED.exists(), f"{HEED} is not built")
class Repository(unittest.TestCase):
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

    def call(self, *arguments, status=0):
        done = subprocess.run([sys.executable, self.repository / "scripts" / "measure.py", "--heed", HEED,
                               "--threads", "1", *map(str, arguments)], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def measure(self, *arguments):
        """The row and the object it prints."""
        row, result = self.call(*arguments).stdout.splitlines()
        return row, json.loads(result)

    def heed(self, *arguments):
        done = subprocess.run([HEED, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class Measure(Repository):
    def test_a_clean_figure_is_that_of_evaluate_on_the_config_as_it_stands_and_names_its_origin(self):
        row, result = self.measure("text", "--keep", self.folder / "runs")
        run = self.folder / "runs" / "text-seed-3"
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=self.repository, capture_output=True, text=True).stdout
        self.assertTrue(result["clean"], result)
        self.assertTrue(commit.startswith(result["commit"]))
        self.assertEqual((result["config"], result["threads"], result["seeds"]), ("text.json", 1, [3]))
        self.assertEqual(json.loads((run / "config.json").read_text())["seed"], 3)
        shown = json.loads(self.heed("evaluate", run, "--json"))
        self.assertEqual(result["figures"], [{"held out": {key: shown[key] for key in ("loss", "perplexity", "bits_per_byte", "accuracy")}}])
        self.assertEqual((row.count(" | "), "not clean" in row), (4, False))
        for text in ("`text.json`", result["commit"], cpu_name(result), "1 thread |", result["date"],
                     f"loss {shown['loss']:.4f}, perplexity {shown['perplexity']:.3f}, {shown['bits_per_byte']:.4f} bits per byte, "
                     f"{100 * shown['accuracy']:.2f} % right"):
            self.assertIn(text, row)

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

    def test_what_is_appended_becomes_a_row_of_the_page(self):
        (self.repository / "scripts" / "dev").mkdir()
        for name in ("scripts/dev/measured_tables.py", "configs/MEASURED.md", "configs/measured.jsonl", "configs/speedruns.jsonl"):
            shutil.copy(ROOT / name, self.repository / name)
        self.commit()
        tables = [sys.executable, self.repository / "scripts/dev/measured_tables.py"]
        for seeds in ("2", "1"):
            row, result = self.measure("text", "--seeds", seeds, "--append")
            self.assertEqual(json.loads((self.repository / "configs/measured.jsonl").read_text().splitlines()[-1]), result)
            self.assertTrue(result["clean"], result)  # earlier results are not a change of the sources
            change = subprocess.run([*tables, "--check"], stdout=subprocess.PIPE, text=True)
            self.assertEqual(change.returncode, 1)
            self.assertIn(f"+{row}\n", change.stdout)
            subprocess.run(tables, check=True)
            page = (self.repository / "configs/MEASURED.md").read_text()
            self.assertEqual([line for line in page.splitlines() if "`text.json`" in line], [row])

    def not_clean(self, why, *arguments):
        row, result = self.measure(*arguments)
        self.assertFalse(result["clean"])
        self.assertIn(why, result["reasons"])
        self.assertIn("**not clean**: ", row)
        self.assertIn(why, row)
        return result

    def test_uncommitted_changes_other_configs_and_an_old_program_are_not_clean(self):
        shutil.copytree(self.repository / "configs", self.folder / "mine")
        self.not_clean("the config is not in the commit", self.folder / "mine" / "text.json")
        (self.repository / "notes.txt").write_text("new")
        self.not_clean("there are uncommitted changes", "text")
        (self.repository / "src").mkdir()
        (self.repository / "src" / "main.cpp").write_text("int main() {}\n")
        self.commit()
        self.not_clean("heed is older than its sources", "text")

    def test_a_resumed_run_is_not_clean_and_claims_no_minutes_and_one_of_another_config_is_refused(self):
        runs, train = self.folder / "runs", ("train", self.repository / "configs" / "text.json", "--quiet", "--run")
        self.heed(*train, runs / "text-seed-3", "--stop-at", "7")
        result = self.not_clean("the run was resumed", "text", "--keep", runs)
        self.assertIn("the run was not trained by this call", result["reasons"])
        self.assertEqual(result["minutes"], [])
        self.assertEqual(json.loads(self.heed("evaluate", runs / "text-seed-3", "--json"))["step"], 20)
        self.heed(*train, self.folder / "other" / "text-seed-3", "--set", "train.max_steps=4")
        self.assertIn("has another config", self.call("text", "--keep", self.folder / "other", status=1).stderr)


class Target(Repository):
    def setUp(self):
        super().setUp()
        (self.folder / "mine.txt").write_text("the old miller walked to the river and saw the mill . " * 40)

    def reach(self, *arguments, config="toy", status=0):
        return self.call(config, "--data", "train=mine.txt", "--target", *arguments, status=status)

    def reached(self, *arguments, **more):
        row, result = self.reach(*arguments, **more).stdout.splitlines()
        return row, json.loads(result)

    def test_every_seed_is_trained_to_the_end_and_measured_there(self):
        row, result = self.reached("loss", "<=", 9, "--seeds", 2, "--set", "train.max_steps=8", "--note", "shorter",
                                   "--keep", "runs")
        self.assertEqual((result["seeds"], result["steps"], result["reached"], result["clean"]), ([3, 4], [8, 8], True, True),
                         result)
        for seed, value in zip(result["seeds"], result["values"]):
            shown = self.heed("evaluate", self.folder / "runs" / f"toy-seed-{seed}", "--checkpoint", "last", "--json")
            self.assertEqual(value, json.loads(shown)["loss"])
        self.assertEqual(len(set(result["values"])), 2)
        self.assertGreater(min(result["seconds"]), 0)
        for text in ("`toy.json`", "`train.max_steps=8`", "shorter", "loss <= 9: yes", result["config_sha256"][:10],
                     result["commit"], f"{min(result['values']):.4f} to {max(result['values']):.4f}"):
            self.assertIn(text, row)

    def test_a_missed_target_is_kept_beside_the_others(self):
        self.reach("accuracy", ">=", 0, "--append", config="toy.json")
        row, second = self.reached("loss", "<=", 0.1, "--average", 3, "--append")
        self.assertIn("loss <= 0.1: no", row)
        self.assertIn("(average of the last 3)", row)
        first, kept = map(json.loads, (self.repository / "configs" / "speedruns.jsonl").read_text().splitlines())
        self.assertEqual(kept, second)
        self.assertEqual((first["reached"], second["reached"], second["average"]), (True, False, 3))
        self.assertEqual(second["steps"], [12])
        self.assertTrue(second["clean"], second)  # earlier results are not a change of the sources
        self.assertEqual(first["config_sha256"], second["config_sha256"])
        self.assertEqual(len(second["data_sha256"][0]), 64)

    def test_a_target_that_cannot_be_measured_is_refused_before_training(self):
        for target in (("los", "<=", "1"), ("loss", "<", "1"), ("loss", "<=", "low"), ("loss", "<=", "nan")):
            self.assertIn("expected --target", self.reach(*target, status=2).stderr)
        for options, reason in ((("bleu", ">=", 3), "bleu measures translations"),
                                (("loss", "<=", 9, "--average", 4), "only 3 saved"),
                                (("bits_per_byte", "<=", 9, "--set", "objective.type=masked_lm", "--set",
                                  "model.encoder_layers=1", "--set", "model.decoder_layers=0"), "does not score every byte"),
                                (("loss", "<=", 9, "--set", "data.valid_fraction=0"), "no file is held out")):
            error = self.reach(*options, status=2).stderr
            self.assertIn(reason, error)
            self.assertNotIn("training toy", error)

    def test_a_seed_that_diverges_is_kept_and_misses_the_target(self):
        _, result = self.reached("loss", "<=", 9, "--seeds", 2, "--set", "optimizer.type=sgd", "--set",
                                 "optimizer.learning_rate=1e6", "--set", "optimizer.clip_norm=0", "--set",
                                 "optimizer.warmup_steps=1")
        self.assertEqual((result["values"], result["mean"], result["reached"]), ([None, None], None, False))
        self.assertEqual((result["seconds"], result["steps"], result["mean_seconds"]), ([], [], None))


if __name__ == "__main__":
    unittest.main()
