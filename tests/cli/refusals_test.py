"""What cannot be meant is refused in words: unknown words among known ones, stops that never match, two ends of a run,
models of other programs."""
import shutil
import unittest

from runs import SMALL, RunsTest

USAGE, DATA, STORE = 2, 3, 4


class Refusals(RunsTest):
    RUNS = {"run": {**SMALL, "family": "causal_lm", "tokenizer": {"type": "word"}}, "characters": SMALL}

    def test_neighbors_of_words_that_are_not_known_or_cancel_out(self):
        for words, status, facts in ((["the zzz"], DATA, "zzz"), (["the-river"], DATA, "the-river"),
                                    (["the", "-", "the"], DATA, ())):
            with self.subTest(words):
                self.check("neighbors", "run", *words, status=status, facts=facts)
        for command in ("neighbors", "tokenize"):
            self.check(command, "run", "the", "--side", "source", status=USAGE, facts="encoder")

    def test_what_a_refusal_proposes_works(self):
        for args in (["fill", "characters", "x"], ["translate", "run", "the"], ["ablate", "run", "--x"],
                     ["resume", "run", "--more", 1, "--max-steps", 30], ["train", "run"]):
            with self.subTest(args):
                self.works(self.check(*args, status=USAGE).err)

    def test_stops(self):
        hot = ["sample", "run", "the", "--temperature", 2, "--max-tokens", 60]
        plain, stopped = self.out(*hot), self.out(*hot, "--stop", "\\n")
        self.assertEqual(stopped.rstrip("\n"), plain.split("\n")[0])
        self.assertLess(len(stopped), len(plain))
        for run in self.RUNS:
            self.check("sample", run, "the", "--stop", "\u00e9", status=USAGE, facts=["--stop", "U+00E9"])

    def test_one_end_one_seed_one_folder(self):
        self.check("resume", self.folder / "run", "--more", 3, "--set", "train.max_steps=300", status=USAGE,
                   facts=["--more", "--set train.max_steps", "one of them"])
        self.check("sample", "run", "the", "--seed", 1, "--seed", 2, status=USAGE, facts=["--seed", "heed sample --help"])
        self.check("train", self.config(), "--run", "", status=USAGE, facts=["--run", "heed train --help"])
        for args in (["evaluate", "run", "--file"], ["score", "run", "--file"], ["train"], ["init"]):
            self.check(*args, "", status=USAGE, facts=f"heed {args[0]} --help")

    def test_a_path_that_looks_like_an_option(self):
        (self.folder / "-dash.txt").write_text("the river " * 50)
        for args in (["train", "-dash.txt"], ["init", "-dash.txt"], ["score", "run", "the", "-dash.txt"]):
            self.check(*args, status=USAGE, facts="./-dash.txt")
        self.check("train", self.config(), "--init-from", "", status=USAGE, facts=["--init-from", "heed train --help"])

    def test_models_of_other_programs(self):
        for name, files in (("hf", ["pytorch_model.bin", "config.json"]), ("new", ["model.safetensors", "generation_config.json"])):
            (self.folder / name).mkdir()
            for file in files:
                (self.folder / name / file).touch()
            self.check("sample", name, "the", status=STORE, facts=[name, files[0]])
        (self.folder / "hf/merges.txt").write_text("the mill\n" * 40)
        self.check("init", "hf", "--output", "-", status=3, facts="pytorch_model.bin")
        (self.folder / "hf/pytorch_model.bin").rename(self.folder / "hf/meta.pkl")  # as nanoGPT's data has
        (self.folder / "hf/config.json").write_text("{}")
        self.check("init", "hf", "--output", "-", facts="merges.txt")
        for name in ("x.pt", "x.pkl", "x.safetensors"):
            (self.folder / name).touch()
            self.check("evaluate", name, status=STORE, facts=name)
        shards = self.folder / "sharded"
        shards.mkdir()
        (shards / "model-00001-of-00002.safetensors").touch()
        self.check("sample", "sharded", "the", status=STORE, facts="model-00001-of-00002.safetensors")
        shutil.copytree(self.folder / "run/checkpoints/best", self.folder / "plain")
        self.check("sample", "plain", "the", "--max-tokens", 2)
        self.check("sample", "plain/model.safetensors", "the", status=STORE, facts=["plain/model.safetensors", "plain"])
        for file in ("state.json", "training.safetensors"):
            (self.folder / "plain" / file).unlink()
        self.check("sample", "plain", "the", status=STORE, facts="model.safetensors")
        (self.checkpoints() / "step-00000012/state.json").unlink()
        self.check("sample", "run/checkpoints/step-00000012", "the", status=STORE, facts="state.json")

    def test_a_context_longer_than_the_text(self):
        self.train(self.config("long", **{**SMALL, "family": "causal_lm", "objective__target_length": 5000,
                                          "model__positions": "learned"}), "long", "--stop-at", 1,
                   facts=["warning:", "5,000"])

    def test_markup_is_named(self):
        tiny = ["--minutes", 0.01, "--set", "train.max_steps=2"]
        for kind, content in (("JSON", '{"a": "text"}\n{"a": "more"}\n'), ("JSON", '[{"a":"x"},{"a":"y"}]'),
                              ("", "<User1> hello </3\n"), ("", "<3 you </3\n"), ("HTML", "\n<html>\n"),
                              ("HTML", "<!DOCTYPE html>\n<p>text</p>\n"), ("HTML or XML", "<div>\n<p>text</p>\n</div>\n"),
                              ("HTML or XML", "<p>Hello <b>you</b></p>\n"), ("PHP", "<?php echo 'river'; ?>\n"),
                              ("", "\tThe river\n\tand the mill.\n"), ("", "From the mill\nto the river.\n"),
                              ("RTF", "{\\rtf1 text}\n"), ("LaTeX", "\\documentclass{book}\ntext\n"),
                              ("", "a, b,\nand c.\n"), ("", '"A, b," he said.\nNo, c.\n')):
            with self.subTest(kind=kind, content=content):
                (self.folder / "x").write_text(content * 40)
                r = self.check("init", "x", "--output", "-")
                self.assertEqual("x looks like" in r.err, bool(kind), r.err)
                self.assertIn(f"x looks like {kind}, " if kind else "", r.err)
        (self.folder / "x").write_text("<!DOCTYPE html>\n<p>text</p>\n" * 40)
        (self.folder / "plain.txt").write_text("the river and the mill\n" * 40)
        self.check("train", "plain.txt", "x", *tiny, facts=["x", "HTML"])

    def test_pairs(self):
        """Empty pairs are left out and counted; init refuses what training would refuse; pairs named as text are told apart."""
        (self.folder / "p.tsv").write_text("a b\tc\n\n\tx\n" + "a\tb c\nb\ta\n" * 40)
        self.check("init", "p.tsv", facts=["2", "83", "p.tsv:2"])
        self.check("train", "p.json", "--stop-at", 1, facts=["2", "83", "p.tsv:2"])
        (self.folder / "none.tsv").write_text("\n\tx\n")
        self.check("init", "none.tsv", status=DATA, facts=["none.tsv:1", "2 of 2"])
        (self.folder / "long.tsv").write_text("\n\na\t" + "b " * 800 + "\n")
        self.train(self.config("v", **SMALL, family="seq2seq", model__positions="learned",
                               data={"pairs": "p.tsv", "valid_pairs": "long.tsv"}), "v",
                   status=DATA, facts="3")
        self.train(self.config("e", **SMALL, family="seq2seq", data={"pairs": "p.tsv", "valid_pairs": "none.tsv"}), "e",
                   status=DATA, facts=["none.tsv:1", "2 of 2"])
        (self.folder / "three.tsv").write_text("a\tb\tc\n" * 40)
        self.check("init", "three.tsv", status=DATA, facts=["three.tsv:1", "2", "cut -f1,2"])
        self.check("train", "p.tsv", "--run", "other", "--set", "objective.type=seq2seq", status=USAGE, facts=["seq2seq", "data.pairs"])

    def test_a_held_out_text_that_is_the_training_text(self):
        (self.folder / "same.txt").write_text("the river and the mill and the stone\n" * 40)
        self.train(self.config("same", **SMALL, data={"train": "same.txt", "valid": "same.txt"}), "same", "--stop-at", 1,
                   facts="warning:")
        (self.folder / "more.txt").write_text("the tree\n" * 40)
        self.train(self.config("both", **SMALL, data={"train": ["more.txt", "same.txt"], "valid": "same.txt"}), "both", "--stop-at", 1,
                   facts="warning:")


if __name__ == "__main__":
    unittest.main()
