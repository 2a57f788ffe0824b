"""heed init, and configs by name."""
import json
import shutil
import subprocess
import unittest

from runs import HEED, USAGE, RunsTest, text


class ConfigsByName(RunsTest):
    def test_a_shipped_config_is_found_by_name(self):
        shipped = self.out("config", "quickstart")
        self.assertIn("causal_lm", shipped)
        self.check("train", "quickstart", "--stop-at", 1, "--set", "train.eval_every=0",
                   facts=["report.html", "heed sample runs/quickstart"])
        self.assertTrue((self.folder / "runs/quickstart/config.json").exists())
        (self.folder / "configs").mkdir()
        shutil.copy(self.config("mine"), self.folder / "configs")
        self.assertIn("prefix_lm", self.out("config", "mine"))
        (self.folder / "kept.json").write_text(self.out("config", "mine"))  # its paths lead to the same files
        self.assertEqual(json.loads((self.folder / "kept.json").read_text())["data"]["train"],
                         str(self.folder / "configs" / "a.txt"))
        for command in ("bench", "gradcheck", "config"):
            self.check(command, "quikstart", status=USAGE, facts="quickstart")

    def test_where_configs_are_looked_for_is_named(self):
        (self.folder / "bin").mkdir()
        alone = shutil.copy(HEED, self.folder / "bin" / "heed")
        r = subprocess.run([alone, "train", "reverse"], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(r.returncode, USAGE)
        self.tells(r.stderr, [f"{self.folder}/configs", f"{self.folder}/share/heed/configs"])


class Init(RunsTest):
    def test_the_config_that_is_written_trains(self):
        (self.folder / "mine.txt").write_text(text(3000))
        for like in ("gpt", "prefix_lm", "BERT", "T5"):
            with self.subTest(like):
                self.check("init", "mine.txt", "--like", like, "--output", like + ".json", facts=like + ".json")
                self.assertIn("// ", (self.folder / (like + ".json")).read_text())
                self.check("train", like + ".json", "--stop-at", 1)
        self.check("init", "mine.txt", "--output", "gpt.json", status=USAGE, facts=["gpt.json", "--output"])
        self.check("init", "mine.txt", "--output", "gpt", status=USAGE, facts=["gpt", ".json"])

    def test_a_config_names_its_text_from_its_own_folder(self):
        (self.folder / "mine.txt").write_text(text(500))
        (self.folder / "sub").mkdir()
        self.check("init", "mine.txt", "--output", "sub/c.json")
        self.assertIn('"../mine.txt"', (self.folder / "sub/c.json").read_text())
        self.check("train", "sub/c.json", "--stop-at", 1)
        self.check("init", "mine.txt", facts=["mine.txt", "mine.json", "heed train mine.json"])
        self.assertIn('"mine.txt"', (self.folder / "mine.json").read_text())

    def test_a_table_of_pairs_gets_a_model_that_translates(self):
        (self.folder / "pairs").write_text("".join(f"a {i}\tb {i}\n" for i in range(200)))
        (self.folder / "three.tsv").write_text("".join(f"a {i}\tb {i}\tX\n" for i in range(200)))
        (self.folder / "torn.tsv").write_text("a\tb\n" * 200_000 + "c\n")
        small = ("--stop-at", 1, "--minutes", 0.01, "--set", "model.d_model=32")

        def kind(run):
            config = self.run_config("runs/" + run)
            return config["objective"]["type"], config["data"].get("columns")

        self.check("init", "pairs", facts="a source, a tab and a target")
        self.check("train", "pairs.json", "--stop-at", 1, "--run", "runs/init")
        self.check("train", "pairs", *small, facts=["--like gpt", "encoder-decoder"])
        self.check("train", "-", *small, "--run", "runs/piped", stdin=(self.folder / "pairs").read_text())
        self.check("verify", "runs/piped")
        self.check("train", "pairs", *small, "--like", "gpt", "--run", "runs/gpt")
        self.check("train", "three.tsv", *small, status=3, facts=["3 columns", "--columns", "cut -f1,2"])
        (self.folder / "semi.csv").write_text("text;label\n" + "a 1;b\n" * 200)
        found = self.check("train", "semi.csv", *small, "--like", "pairs", status=3, facts="semi.csv:1").err
        command = next(line for line in found.splitlines() if "python3 -c" in line)
        subprocess.run(command, shell=True, cwd=self.folder, check=True)
        self.assertEqual((self.folder / "table.tsv").read_text(), "a 1\tb\n" * 200)
        self.check("train", "three.tsv", *small, "--columns", "1,3:2", "--run", "runs/three")
        self.assertEqual([kind(run) for run in ("init", "pairs", "piped", "gpt", "three")],
                         [("seq2seq", None)] * 3 + [("causal_lm", None), ("seq2seq", "1,3:2")])
        self.check("init", "three.tsv", "--columns", "1,3:2", "--output", "three.json")
        self.assertEqual(json.loads(self.out("config", "three.json"))["data"]["columns"], "1,3:2")
        self.check("train", "pairs", "three.tsv", *small, "--run", "runs/both", status=USAGE, facts=["stands alone", "cat"])
        self.check("train", "torn.tsv", *small, "--run", "runs/torn", status=3, facts=["torn.tsv:200001", "--like gpt"])
        (self.folder / "early.tsv").write_text("a\tb\n" * 20 + "a\tb\tc\n" + "a\tb\n" * 20)
        self.check("train", "early.tsv", *small, "--run", "runs/torn", status=3, facts=["early.tsv:21", "3 columns"])
        (self.folder / "notes").mkdir()
        shutil.copy(self.folder / "pairs", self.folder / "notes/pairs.tsv")
        (self.folder / "notes/a.txt").write_text(text(300))
        self.check("train", "notes", *small)  # a table among texts is a text
        self.assertEqual(kind("notes"), ("causal_lm", None))

    def test_columns_are_never_without_effect(self):
        (self.folder / "three.tsv").write_text("".join(f"a {i}\tb {i}\tX\n" for i in range(200)))
        small = ("--stop-at", 1, "--minutes", 0.01, "--set", "model.d_model=32")
        for command in ("train", "init"):
            self.check(command, "three.tsv", "--like", "gpt", "--columns", "1:2", status=USAGE, facts=["--columns", "gpt"])
        self.check("init", "--columns", "2:1", "--output", "none.json")
        self.assertEqual(json.loads(self.out("config", "none.json"))["data"]["pairs"], "mine.txt")
        self.check("train", "three.tsv", *small, "--set", "data.columns=1,3:2", "--run", "set")
        self.assertEqual(self.run_config("set")["data"]["columns"], "1,3:2")
        self.check("translate", "set", stdin="a 1\tX\n", status=3, facts=["standard input:1", "2 columns", "1,3:2"])
        self.check("train", "three.tsv", "--for", "huggingface", "--init-from", "set", status=USAGE, facts="excludes")

    def test_a_model_that_opens_elsewhere_and_a_sorted_table(self):
        (self.folder / "pairs.tsv").write_text("".join(f"a {i}\tb {i}\n" for i in range(200)))
        small = ("--stop-at", 1, "--minutes", 0.01, "--set", "model.d_model=32")
        self.check("train", "pairs.tsv", *small, "--run", "rotary", facts="export: none (Pegasus with")
        self.check("export", "rotary", "none", status=USAGE, facts=["Pegasus", "--for huggingface"])
        self.check("evaluate", "rotary", "--file", "pairs.tsv", "--target-file", "pairs.tsv", status=3, facts=["is a table", "alone"])
        self.check("init", "pairs.tsv", "--output", "rotary.json")
        self.assertIn('export: none (Pegasus with model.positions="sinusoidal"', (self.folder / "rotary.json").read_text())
        told = self.check("train", "rotary.json", "--run", "again", "--stop-at", 1, facts="export: none (Pegasus with").err
        self.assertEqual(told.count("export:"), 1)
        self.check("train", "pairs.tsv", *small, "--run", "opens", "--for", "huggingface", facts="export: Pegasus")
        self.check("export", "opens", "hf")
        two = ("--set", "tokenizer.type=char", "--set", "tokenizer.target.type=word")
        self.check("train", "pairs.tsv", *small, *two, "--run", "two", "--for", "huggingface", facts="export: Marian")
        words = [str(i * 7919 % 1000) for i in range(600)]
        for name, order in ("sorted", sorted(words)), ("mixed", words):
            (self.folder / f"{name}.tsv").write_text("".join(f"{word}\tx {i * 31 % 17}\n" for i, word in enumerate(order)))
        self.check("train", "sorted.tsv", *small, facts=["sorted", "shuf"])
        self.assertNotIn("shuf", self.heed("train", "mixed.tsv", *small).err)
        self.check("init", "pairs.tsv", "--for", "huggingface")
        self.assertIn("export: Pegasus", (self.folder / "pairs.json").read_text())
        self.check("train", "pairs.json", "--run", "config", "--stop-at", 1, facts="export: Pegasus")
        (self.folder / "mine.txt").write_text(text(3000))
        self.check("train", "mine.txt", *small, "--like", "bert", "--for", "huggingface", status=USAGE, facts="--like gpt")


if __name__ == "__main__":
    unittest.main()
