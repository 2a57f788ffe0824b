"""heed compare: two runs, or groups of seeds, on the same text."""
import json
import math
import shutil
import unittest

from runs import SMALL, RunsTest, text

STEPS = {**SMALL, "train__save_every": 0}
FAMILIES = ("causal_lm", "masked_lm", "span_corruption", "seq2seq")


class Compare(RunsTest):
    RUNS = {**{family: {"family": family, **STEPS} for family in FAMILIES},
            **{family + "2": {"family": family, "seed": 2, **STEPS, "train__max_steps": 16} for family in FAMILIES},
            "prefix_lm": {"family": "prefix_lm", **STEPS},
            "byte": {"family": "causal_lm", "tokenizer": {"type": "byte"}, **STEPS},
            "word": {"family": "causal_lm", "tokenizer": {"type": "word"}, **STEPS},
            "seed3": {"family": "causal_lm", "seed": 3, **STEPS, "train__max_steps": 16}}

    def texts(self):
        (self.folder / "a.txt").write_text(text(12000) + "\n")
        self.pairs(300)

    def compare(self, *args):
        found, = self.json("compare", *args)
        return found

    def test_the_figures_are_those_of_evaluate(self):
        for family in FAMILIES:
            with self.subTest(family=family):
                found = self.compare(family, family + "2")
                pairs = family == "seq2seq"
                for side, run in (("first", family), ("second", family + "2")):
                    if run in ("masked_lm2", "span_corruption2"):
                        continue  # evaluate has its own masks
                    wanted, = self.json("evaluate", run, *["--bleu"] * pairs)
                    for key, figure in found["figures"].items():
                        self.assertAlmostEqual(figure[side], wanted[key], 5, (key, side))
                wanted = {"loss", "accuracy"} | ({"bits_per_byte"} if "lm" != family[-2:] or family == "causal_lm" else set())
                wanted -= {"bits_per_byte"} if family == "span_corruption" else set()
                self.assertEqual(set(found["figures"]), wanted | ({"bleu", "chrf"} if pairs else set()))
                for figure in found["figures"].values():
                    low, high = figure["interval"]
                    self.assertAlmostEqual(figure["difference"], figure["second"] - figure["first"])
                    self.assertLessEqual(low, figure["difference"] + 1e-9)
                    self.assertLessEqual(figure["difference"], high + 1e-9)
                    for p in ("p_bootstrap", "p_randomization"):
                        self.assertTrue(0 < figure[p] <= 1)
                self.assertIn("needs seeds", found["sentence"])

    def test_the_units_are_pairs_and_blocks_of_lines(self):
        found = self.compare("seq2seq", "seq2seq2")
        self.assertEqual((found["unit"], found["units"], len(found["most_different"])), ("pair", 30, 10))
        by = [abs(unit["difference"]) for unit in found["most_different"]]
        self.assertEqual(by, sorted(by, reverse=True))
        for unit in found["most_different"][:3]:
            for side, run in (("first", "seq2seq"), ("second", "seq2seq2")):
                score, = self.json("score", run, unit["text"])
                self.assertAlmostEqual(unit[side], -score["logprob"], 3)
        found = self.compare("causal_lm", "causal_lm2")
        for unit in found["most_different"]:
            self.assertGreaterEqual(len(unit["text"]), 256)
            self.assertTrue(unit["text"].endswith("\n") and unit["text"] in (self.folder / "a.txt").read_text())

    def test_the_same_by_any_number_of_threads_and_a_model_with_itself(self):
        one, three = (self.out("compare", "causal_lm", "causal_lm2", "--json", "--threads", n) for n in (1, 3))
        self.assertEqual(one, three)
        found = self.compare("causal_lm", "causal_lm")
        for figure in found["figures"].values():
            self.assertEqual((figure["difference"], figure["interval"], figure["p_bootstrap"], figure["p_randomization"]), (0, [0, 0], 1, 1))

    def test_other_tokens_compare_by_bits_per_byte_alone(self):
        found = self.compare("causal_lm", "byte")
        self.assertEqual(list(found["figures"]), ["bits_per_byte"])
        self.assertEqual(len(self.compare("causal_lm", "prefix_lm")["figures"]), 3)
        texts = [self.compare(*runs)["most_different"] for runs in (("causal_lm", "byte"), ("byte", "causal_lm"))]
        self.assertEqual(*[{unit["line"]: unit["text"] for unit in units} for units in texts])
        self.check("compare", "causal_lm", "word", status=2, facts=["causal_lm", "word"])
        self.check("compare", "causal_lm", "masked_lm", status=2, facts=["causal_lm", "masked_lm"])
        self.check("compare", "causal_lm", "seq2seq", status=2, facts=["causal_lm", "seq2seq"])

    def test_groups_of_seeds(self):
        found = self.compare("causal_lm", "prefix_lm", "--to", "causal_lm2", "seed3")
        self.assertEqual((found["first"], found["second"]), (["causal_lm", "prefix_lm"], ["causal_lm2", "seed3"]))
        self.check("compare", "--to", "causal_lm2", "seed3", "causal_lm", "prefix_lm", status=2, facts="RUN")
        figure = found["figures"]["loss"]
        self.assertEqual(len(figure["first_runs"]), 2)
        self.assertAlmostEqual(figure["second"], sum(figure["second_runs"]) / 2)
        (a, b), (c, d) = figure["first_runs"], figure["second_runs"]
        half = (figure["interval"][1] - figure["interval"][0]) / 2
        self.assertGreater(half, 4.302652 * math.sqrt(((a - b) ** 2 + (c - d) ** 2) / 4))  # t of 2; and the units
        self.assertNotIn("p_randomization", figure)
        self.check("compare", "causal_lm", "causal_lm", "--to", "causal_lm2", "seed3", status=2, facts="seed")
        (self.folder / "link").symlink_to("causal_lm2")  # one run in both groups
        self.check("compare", "causal_lm", "causal_lm2", "--to", "link", "seed3", status=2, facts=["causal_lm2", "link"])
        told = self.check("compare", "causal_lm", "prefix_lm", "--to", "causal_lm2", "seed3")
        self.tells(told.err, ["objective.type"])
        self.tells(told.out, ["2", "seeds", f"{figure['difference']:.4f}"])
        three = self.json("compare", "causal_lm", "causal_lm2", "seed3")
        self.assertEqual([(c["first"], c["second"]) for c in three], [(["causal_lm"], ["causal_lm2"]), (["causal_lm"], ["seed3"])])
        self.assertIn("seed alone", self.compare("causal_lm2", "seed3")["sentence"])

    def test_what_one_was_trained_on_is_refused(self):
        lines = text(4000, seed=9) + "\n"
        (self.folder / "b.txt").write_text(lines)
        (self.folder / "ab.txt").write_text((self.folder / "a.txt").read_text() + lines)
        for name, data in (("more", {"train": "ab.txt", "valid_fraction": 0}), ("tail", {"train": "a.txt", "valid_fraction": 0.05})):
            self.train(self.config(name, family="causal_lm", **STEPS, data=data, tokenizer={"type": "byte"}), name)
        self.check("compare", "byte", "more", "--file", "b.txt", status=2, facts=["more", "%"])
        self.check("compare", "byte", "tail", status=2, facts=["tail", "--file"])
        self.check("compare", "byte", "more", status=2, facts=["more", "--file"])
        (self.folder / "c.txt").write_text(text(2000, seed=11) + "\n")
        found = self.compare("byte", "more", "--file", "c.txt")
        self.assertEqual((found["data"], len(found["figures"])), ("c.txt", 3))
        self.train(self.config("tuned", family="causal_lm", **STEPS, tokenizer={"type": "byte"}), "tuned", "--init-from", "more")
        self.check("compare", "byte", "tuned", "--file", "b.txt", status=2, facts=["tuned", "%"])
        (self.folder / "more").rename(self.folder / "moved")
        self.tells(self.check("compare", "byte", "tuned", "--file", "c.txt").err, ["tuned", "more"])
        (self.folder / "moved").rename(self.folder / "more")
        runs = [self.folder / run for run in ("byte", "tuned")]  # in any folder
        self.check("compare", *runs, "--file", self.folder / "b.txt", status=2, facts=["tuned", "%"], cwd="/")
        self.check("compare", "byte", "more", "--file", "-", status=3, facts="/dev/stdin", stdin="the mill\n")
        shutil.copy(self.folder / "a.source", self.folder / "s")
        shutil.copy(self.folder / "a.target", self.folder / "t")
        found = self.compare("seq2seq", "seq2seq2", "--file", "s", "--target-file", "t")  # both were trained on it
        self.assertEqual(found["units"], 300)
        self.check("compare", "seq2seq", "seq2seq2", "--file", "s", status=2, facts="--target-file")
        self.check("compare", "causal_lm", "causal_lm2", "--file", "c.txt", "--target-file", "t", status=2)
        self.check("compare", "causal_lm", status=2)

    def test_a_run_that_changes_what_it_reads(self):
        self.train(self.config("lower", family="seq2seq", **STEPS, data__lowercase=True), "lower")
        (self.folder / "s").write_text("The mill\n" * 9)
        self.check("compare", "seq2seq", "lower", "--file", "s", "--target-file", "s", status=2, facts=["lower", "data.lowercase"])

    def test_models_that_are_asked_in_few_units(self):
        """Spans are asked of a tile, which here has several units; and three runs need not be asked in the same ones."""
        for name, length in (("wide", 600), ("wide2", 600), ("narrow", 16), ("narrow2", 16)):
            self.train(self.config(name, family="span_corruption", seed=len(name), **STEPS, objective__source_length=length), name)
        alone = self.compare("wide", "wide2")
        self.assertLess(alone["units"], self.compare("narrow", "narrow2")["units"])
        first, second = self.json("compare", "wide", "wide2", "seq2seq", status=2), self.json("compare", "wide", "wide2", "narrow", status=2)
        self.assertEqual((first, second), ([alone], [alone]))
        (self.folder / "short.txt").write_text("a")  # not masked with this seed
        self.check("compare", "masked_lm2", "masked_lm", "--file", "short.txt", status=3, facts="no token to predict")

    def test_what_has_one_config_and_what_is_one_model(self):
        for other in ("causal_lm", "causal_lm/checkpoints/last"):
            self.assertIn("configs are the same", self.compare("causal_lm", other)["sentence"])
        self.train(self.config("copy", family="causal_lm", seed=2, **{**STEPS, "train__max_steps": 16, "train__log_every": 1}), "copy")
        self.check("compare", "causal_lm2", "copy", "--to", "causal_lm", "prefix_lm", status=2, facts=["causal_lm2", "copy", "same model"])

    def test_copies_are_one_unit(self):
        sides = [(self.folder / side).read_text().splitlines(keepends=True) for side in ("a.source", "a.target")]
        def compare(*order):
            for name, lines in zip("st", sides):
                (self.folder / name).write_text("".join(lines[i] for i in order))
            return self.compare("seq2seq", "seq2seq2", "--file", "s", "--target-file", "t")
        once, thrice = compare(*range(20)), compare(*[*range(20)] * 3)
        self.assertEqual([[c[key] for key in ("units", "different")] for c in (once, thrice)], [[20, 20], [60, 20]])
        for key in ("loss", "accuracy", "bits_per_byte", "chrf"):  # BLEU is smoothed by the number of n-grams
            figure = once["figures"][key]
            for of in ("first", "difference", "p_bootstrap", "p_randomization"):
                self.assertAlmostEqual(thrice["figures"][key][of], figure[of], 9)
            for of in ("interval", "second_interval"):
                self.assertEqual([round(x, 9) for x in thrice["figures"][key][of]], [round(x, 9) for x in figure[of]])
        one = compare(*[3] * 400)
        self.assertEqual((one["units"], one["different"], one["figures"]["loss"]["interval"]), (400, 1, [None, None]))
        self.tells(one["sentence"], ["400", "1", "different"])

    def test_one_model_under_two_names_is_said(self):
        shutil.copytree(self.folder / "causal_lm", self.folder / "copy", symlinks=True)
        (self.folder / "link").symlink_to("causal_lm")
        for other in ("copy", "link", "causal_lm"):
            for command in (("compare", "causal_lm", other), ("report", "causal_lm", other, "--html", self.folder / "x.html")):
                self.assertIn(f"causal_lm and {other} are the same model", self.check(*command).err)
        self.assertNotIn("same model", self.check("compare", "causal_lm", "causal_lm2").err)

    def test_unknown_characters_stand_in_the_text(self):
        (self.folder / "strange.txt").write_text("\u0436\u0437\u0438 \u043a\n" * 500)
        told = self.check("compare", "causal_lm", "prefix_lm", "--file", "strange.txt", "--json")
        found = json.loads(told.out)
        self.assertGreater(found["units"], 8)
        self.assertIn("\ufffd", found["most_different"][0]["text"])
        self.tells(told.err, "unknown")

    def test_nats_of_other_tokens_are_not_compared(self):
        self.train(self.config("rare", family="seq2seq", **STEPS, tokenizer={"type": "word", "vocab_size": 9}), "rare")
        found = self.compare("seq2seq", "rare")
        self.assertEqual((set(found["figures"]), found["most_different"]), ({"bleu", "chrf"}, []))

    def test_too_few_units_tell_nothing(self):
        (self.folder / "few.txt").write_text(text(300, seed=5))
        found = self.compare("causal_lm", "prefix_lm", "--file", "few.txt")
        self.assertLess(found["units"], 8)
        self.assertEqual(found["figures"]["loss"]["interval"], [None, None])
        (self.folder / "few.txt").write_text(text(300, seed=5) + "\r\n")
        told = self.check("compare", "causal_lm", "prefix_lm", "--file", "few.txt")
        self.tells(told.out, str(found["units"]))
        self.tells(told.err, "1 carriage return")


if __name__ == "__main__":
    unittest.main()
