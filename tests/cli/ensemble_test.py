"""--with RUN: several runs predict as one, by the mean of their probabilities."""
import math
import unittest

from runs import SMALL, RunsTest


PAIRS = {"family": "seq2seq", **SMALL, "train__max_steps": 60}
GPT = {"family": "causal_lm", **SMALL, "train__max_steps": 40}


class Ensembles(RunsTest):
    RUNS = {**{f"p{seed}": {**PAIRS, "seed": seed} for seed in (1, 2, 3)},
            **{f"g{seed}": {**GPT, "seed": seed} for seed in (1, 2, 3)},
            "bert": {"family": "masked_lm", **SMALL}, "t5": {"family": "span_corruption", **SMALL},
            "other": {**PAIRS, "tokenizer": {"type": "char"}}, "longer": {**GPT, "objective__target_length": 12}}

    def together(self, command, runs, *args, **kw):
        more = [word for run in runs[1:] for word in ("--with", run)]
        return self.json(command, runs[0], *args, *more, **kw)

    def test_three_seeds_are_better_than_their_mean(self):
        for runs in ("p1", "p2", "p3"), ("g1", "g2", "g3"):
            each = [self.together("evaluate", [run])[0]["loss"] for run in runs]
            found, = self.together("evaluate", runs)
            self.assertLess(found["loss"], sum(each) / 3)
            self.assertEqual(found["with"], list(runs[1:]))
        self.tells(self.out("evaluate", "g1", "--with", "g2"), "g2")

    def test_a_score_is_the_mean_of_the_probabilities(self):
        texts = ["--file", "a.source", "--target-file", "a.target"]
        each = [self.together("score", [run], *texts) for run in ("p1", "p2", "p3")]
        for line, *three in zip(self.together("score", ["p1", "p2", "p3"], *texts), *each, strict=True):
            for found, *alone in zip(line["token_logprobs"], *(one["token_logprobs"] for one in three), strict=True):
                self.assertAlmostEqual(found, math.log(sum(map(math.exp, alone)) / 3), delta=1e-5)

    def test_translations_have_the_scores_that_score_gives(self):
        best = self.together("translate", ["p1", "p2"], "--file", "a.source", "--length-penalty", 0)[:20]
        self.write("s", *(j["source"] for j in best))
        self.write("t", *(j["translation"] for j in best))
        for j, scored in zip(best, self.together("score", ["p1", "p2"], "--file", "s", "--target-file", "t"), strict=True):
            self.assertAlmostEqual(j["logprob"], scored["logprob"], delta=1e-4)

    def test_a_run_with_itself_is_the_run(self):
        for command, run, *args in (("evaluate", "p1", "--bleu"), ("evaluate", "g1"), ("evaluate", "bert"),
                                    ("score", "g1", "--file", "a.txt"), ("score", "t5", "--file", "a.source"),
                                    ("translate", "p1", "--file", "a.source", "--n-best", 2),
                                    ("sample", "g1", "the old", "-n", 3), ("sample", "p1", "the old", "--temperature", 0),
                                    ("fill", "bert", "a [MASK]"), ("fill", "t5", "a [MASK]")):
            with self.subTest(command, run=run):
                all_three = self.together(command, [run, run, run], *args)
                [of.pop("with", None) for of in all_three]
                self.assertEqual(all_three, self.together(command, [run], *args))
        both = [self.out("translate", "p1", "--with", run, "--file", "a.source") for run in ("p2", "p1")]
        self.assertNotEqual(*both)

    def test_what_does_not_fit_is_named_by_its_key(self):
        for first, second, key in (("p1", "other", "tokenizer"), ("g1", "longer", "objective.target_length"),
                                   ("g1", "p1", "objective.type"), ("bert", "t5", "objective.type")):
            self.check("evaluate", first, "--with", second, status=2, facts=[second, key])
        self.check("evaluate", "g1", "--with", "none", status=4, facts="none")


if __name__ == "__main__":
    unittest.main()
