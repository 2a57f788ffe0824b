"""heed compare: two runs, or groups of seeds, on the same text."""
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
            **{f"chrf{n}": {"family": "seq2seq", "seed": n, **STEPS, "train__select_by": "chrf"} for n in (1, 2)},
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
                self.assertEqual(set(found["figures"]), wanted | ({"bleu", "chrf", "cer", "token_errors", "exact"} if pairs else set()))
                for figure in found["figures"].values():
                    self.assertAlmostEqual(figure["difference"], figure["second"] - figure["first"])
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
        for other in ("word", "masked_lm", "seq2seq"):
            self.check("compare", "causal_lm", other, status=2, facts=["causal_lm", other])

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
        self.assertRegex(self.compare("causal_lm2", "seed3")["sentence"], "seed alone: this is the luck of a seed.*--to")
        self.assertRegex(self.compare("chrf1", "chrf2")["sentence"], "seed alone.*chrF2")
        table = self.out("compare", "causal_lm2", "seed3").splitlines()
        self.assertEqual((table[0].split()[-1], table[1].split()[0]), ("p", "accuracy"))

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
        self.write("few.txt", *["the mill"] * 5)
        (self.folder / "more").rename(self.folder / "moved")
        self.tells(self.check("compare", "byte", "tuned", "--file", "c.txt").err, ["tuned", "more"])
        (self.folder / "moved").rename(self.folder / "more")
        runs = [self.folder / run for run in ("byte", "tuned")]  # in any folder
        self.check("compare", *runs, "--file", self.folder / "b.txt", status=2, facts=["tuned", "%"], cwd="/")
        self.check("compare", "byte", "more", "--file", "-", status=3, facts="/dev/stdin", stdin="the mill\n")
        found = self.compare("seq2seq", "seq2seq2", "--file", "a.source", "--target-file", "a.target")  # both were trained on it
        self.assertEqual(found["units"], 300)
        for command in (("causal_lm", "causal_lm2", "--file", "c.txt", "--target-file", "a.target"), ("causal_lm",)):
            self.check("compare", *command, status=2)
        few = self.compare("seq2seq", "seq2seq2", "--file", "few.txt", "--target-file", "few.txt")
        self.assertEqual((few["units"], few["figures"]["loss"]["interval"]), (5, [None, None]))

    def test_a_run_that_changes_what_it_reads(self):
        self.train(self.config("lower", family="seq2seq", **STEPS, data__lowercase=True), "lower")
        (self.folder / "s").write_text("The mill\n" * 9)
        self.check("compare", "seq2seq", "lower", "--file", "s", "--target-file", "s", status=2, facts=["lower", "data.lowercase"])

    def test_what_has_one_config_and_what_is_one_model(self):
        for other in ("causal_lm", "causal_lm/checkpoints/last"):
            self.assertIn("configs are the same", self.compare("causal_lm", other)["sentence"])
        self.train(self.config("copy", family="causal_lm", seed=2, **{**STEPS, "train__max_steps": 16, "train__log_every": 1}), "copy")
        self.check("compare", "causal_lm2", "copy", "--to", "causal_lm", "prefix_lm", status=2, facts=["causal_lm2", "copy", "same model"])

    def test_one_model_under_two_names_is_said(self):
        shutil.copytree(self.folder / "causal_lm", self.folder / "copy", symlinks=True)
        (self.folder / "link").symlink_to("causal_lm")
        for other in ("copy", "link", "causal_lm"):
            for command in (("compare", "causal_lm", other), ("report", "causal_lm", other, "--html", self.folder / "x.html")):
                self.assertIn(f"causal_lm and {other} are the same model", self.check(*command).err)
        self.assertNotIn("same model", self.check("compare", "causal_lm", "causal_lm2").err)


if __name__ == "__main__":
    unittest.main()
