"""heed score: log-probabilities of lines."""
import json
import math
import unittest

from runs import SMALL, RunsTest, text

LINES = "the mill\nhe saw a river and he saw that\n\nwater\u00e9\n"


class Score(RunsTest):
    RUNS = {family: {"family": family, **SMALL}
            for family in ("causal_lm", "prefix_lm", "masked_lm", "span_corruption")}

    def test_a_line_is_the_sum_of_its_tokens_and_plain_lines_are_those_of_json(self):
        for family in self.RUNS:
            with self.subTest(family=family):
                found = self.json("score", family, "--file", "-", stdin=LINES, facts=["1", "é"])
                for line in found:
                    self.assertAlmostEqual(line["logprob"], sum(line["token_logprobs"]), places=9)
                    self.assertEqual((len(line["ids"]), line["bos_id"]), (len(line["token_logprobs"]), 1))
                plain = self.out("score", family, "--file", "-", stdin=LINES).splitlines()
                self.assertEqual((len(plain), plain), (4, [f"{line['logprob']:.6f}" for line in found]))
                tokens = self.out("score", family, "--file", "-", "--tokens", stdin=LINES)
                rows = [row.split("\t") for row in tokens.splitlines() if row.startswith("\t")]
                self.assertEqual([[row[1], *row[3:5]] for row in rows],
                                 [[f"{x:.6f}", str(r), f"{h:.3f}"] for line in found
                                  for x, r, h in zip(line["token_logprobs"], line["ranks"], line["entropies"])])

    def test_what_was_expected_in_the_place_of_a_token(self):
        for family in self.RUNS:
            with self.subTest(family=family):
                line, = self.json("score", family, "the mill", "--top-k", 1000)
                for place in zip(line["ids"], line["token_logprobs"], line["ranks"], line["entropies"], line["alternatives"]):
                    label, logprob, rank, entropy, best = place
                    p = [math.exp(a["logprob"]) for a in best]  # of every id
                    self.assertAlmostEqual(sum(p), 1, places=6)
                    self.assertAlmostEqual(entropy, -sum(x * math.log(x) for x in p), places=5)
                    self.assertEqual(p, sorted(p, reverse=True))
                    self.assertEqual(rank, 1 + sum(a["logprob"] > logprob + 1e-9 for a in best))
                    self.assertAlmostEqual(best[rank - 1]["logprob"], logprob, places=9)
                    self.assertIn(label, [a["id"] for a in best])
                for n in (0, 2):
                    some, = self.json("score", family, "the mill", "--top-k", n)
                    self.assertEqual(some["alternatives"], [best[:n] for best in line["alternatives"]])


class ScoreAgainst(RunsTest):
    RUNS = {"run": {"family": "causal_lm", **SMALL}, "masked": {"family": "masked_lm", **SMALL}, "pairs": {"family": "seq2seq", **SMALL}}

    def compare(self, run, good, bad, *args, **kw):
        for name, lines in (("good", good), ("bad", bad)):
            (self.folder / name).write_bytes(b"".join(line.encode("utf-8", "surrogateescape") + b"\n" for line in lines))
        return self.check("score", run, "--file", "good", "--against", "bad", *args, **kw)

    def test_it_counts_the_lines_that_are_more_probable(self):
        words = "the old miller walked to a river and saw that".split()
        good = [" ".join((words * 10)[:n]) for n in range(1, 91)]
        bad = [" ".join(reversed((words * 10)[:n])) for n in range(1, 91)]
        for run, sep in (("run", ""), ("masked", ""), ("pairs", "the ||| ")):
            with self.subTest(run=run):
                g, b = ([sep + line for line in lines] for lines in (good, bad))
                found = json.loads(self.compare(run, g, b, "--json").out)
                one, other = ([line["logprob"] for line in self.json("score", run, "--file", name)] for name in ("good", "bad"))
                better, ties = sum(x > y for x, y in zip(one, other)), sum(x == y for x, y in zip(one, other))
                self.assertEqual((found["lines"], found["better"], found["ties"], found["left_out"]), (90, better, ties, 0))
                self.assertGreaterEqual(ties, 1)  # of one word
                self.assertAlmostEqual(found["share"], (better + ties / 2) / 90)
        told = self.compare("run", good, good).out
        self.tells(told, ["50.00 %", "90", "39.88", "60.12"])  # R: prop.test(45, 90, correct = FALSE)

    def test_its_interval_is_wilsons(self):
        # R: prop.test(3, 3, correct = FALSE)
        good, bad = ["the"] * 3, ["the the the the the the" + " the" * n for n in range(3)]
        found = json.loads(self.compare("run", good, bad, "--json").out)
        self.assertEqual((found["share"], round(found["interval"][0], 4), found["interval"][1]), (1, 0.4385, 1))
        # Copies tell the same, in whatever numbers.
        found = json.loads(self.compare("run", good * 9, bad * 9, "--json").out)
        self.assertEqual((found["lines"], found["different"], round(found["interval"][0], 4)), (27, 3, 0.4385))
        found = json.loads(self.compare("run", good[:1] * 227 + good, bad[:1] * 227 + bad, "--json").out)
        self.assertEqual((found["lines"], found["different"], round(found["interval"][0], 2)), (230, 3, 0.21))  # as of one
        self.tells(self.compare("run", good[:1] * 400, bad[:1] * 400).out, ["400 lines", "1 different", "20.65"])
        for n in 2, 6, 11:  # the ends are no figures beside 0 and 1
            ends = [json.loads(self.compare("run", a * n, b * n, "--json").out)["interval"]
                    for a, b in ((["the"], bad[:1]), (bad[:1], ["the"]))]
            self.assertEqual((ends[0][1], ends[1][0]), (1, 0))

    def test_files_that_do_not_belong_together_and_lines_that_cannot_be_read(self):
        self.compare("run", ["the", "old"], ["the"], status=2, facts=["good", "2", "bad", "1"])
        self.compare("run", [], [], status=3)
        r = self.compare("run", ["the", "\udcff", "old"], ["a", "a", "a"], "--json", status=3, facts="good:2")
        self.assertEqual([json.loads(r.out)[key] for key in ("lines", "left_out")], [2, 1])
        r = self.compare("run", ["the", "\udcff", "old"], ["a", "a", "a"], status=3, facts="good:2")
        self.assertRegex(r.out, r"left out +1\n")
        found = json.loads(self.compare("run", ["the", "", "", "old"], ["the", "old", "", ""], "--json").out)
        self.assertEqual((found["lines"], found["ties"], found["left_out"]), (1, 1, 3))  # nothing is more probable than a text
        self.compare("pairs", ["the ||| old", "the ||| old"], ["the", "the ||| a"], status=3, facts="bad:1")
        both = self.check("score", "pairs", "--file", "good", "--target-file", "good", "--against", "bad", status=2, facts="its own targets")
        self.assertEqual(both.err.count("error"), 1)
        self.check("score", "run", "the", "--against", "bad", facts=["--against", "--file"])
        self.write("spaced", *(line + " " for line in (self.folder / "good").read_text().splitlines()))
        self.check("score", "run", "--file", "good", "--against", "spaced", facts=["white space", "spaced:1"])
        self.check("score", "run", "--file", "-", "--against", "-", status=2, facts=["standard input"])
        self.check("score", "run", "--file", "a.txt", "--against", "a.txt", "--tokens", facts="--tokens")

    def test_many_lines_have_the_scores_that_they_have_alone(self):
        lines = (text(20000).splitlines() + ["the mill", "", "water"])[-1300:]
        found = self.json("score", "run", "--file", "-", stdin="".join(line + "\n" for line in lines))
        self.assertEqual(len(found), len(lines))
        for i in (0, 255, 256, len(lines) - 1):
            self.near(self.json("score", "run", lines[i]), [found[i]])


class ScorePairs(RunsTest):
    RUNS = {"run": {"family": "seq2seq", **SMALL}}

    def test_a_side_longer_than_all_training_pairs_is_warned_of(self):
        facts = ["301", "257"]
        self.tells(self.check("score", "run", "the ||| " + "the " * 300).err, facts)
        self.tells(self.check("score", "run", "the " * 300 + " ||| the").err, facts)
        self.assertEqual(self.check("score", "run", "the ||| the").err, "")

    def test_a_pair_that_is_too_long_costs_itself_alone(self):
        c = self.config("short", family="seq2seq", **{**SMALL, "model__positions": "learned", "model__max_length": 12, "data__max_length": 10})
        self.train(c, "short")
        lines = ["the old ||| old the", "the " * 40 + "||| old", "the mill ||| mill the"]
        alone = [float(self.out("score", "short", line)) for line in (lines[0], lines[2])]
        r = self.check("score", "short", stdin="\n".join(lines) + "\n", status=3, facts=["2", "41"])
        self.near([line and float(line) for line in r.out.split("\n")], [alone[0], "", alone[1], ""])
        r = self.check("score", "short", "--json", stdin="\n".join(lines) + "\n", status=3)
        self.assertEqual([json.loads(line)["logprob"] is None for line in r.out.splitlines()], [False, True, False])
        r = self.check("score", "short", stdin=lines[0] + "\nno bar\n", status=3, facts="2")
        self.near(float(r.out), alone[0])
        # So it is in evaluate.
        for name, at in (("s", 0), ("t", 1)):
            self.write(name, *(line.split("||| " if at else " |||")[at] for line in lines))
            self.write(name + "2", *(line.split(" ||| ")[at] for line in (lines[0], lines[2])))
        r = self.check("evaluate", "short", "--file", "s", "--target-file", "t", "--json", "--bleu", status=3, facts=["s:2", "41", "1"])
        found, wanted = json.loads(r.out), self.json("evaluate", "short", "--file", "s2", "--target-file", "t2", "--bleu")[0]
        self.assertEqual((found["left_out"], found["tokens"]), (1, wanted["tokens"]))
        self.near(found["loss"], wanted["loss"])
        for key in ("bytes", "bleu", "exact_match"):
            self.assertEqual(found[key], wanted[key])
        self.assertNotIn("left_out", wanted)


class ASpaceAtTheEnd(RunsTest):
    RUNS = {"run": {"tokenizer": {"type": "bpe", "vocab_size": 340}, **SMALL}}

    def test_it_is_read_with_what_follows(self):
        want, = self.json("score", "run", "a river", "--target", " was near")
        self.assertEqual(self.json("score", "run", "a river ", "--target", "was near"), [want])
        self.assertEqual(want["tokens"][0][0], "\u2581")
        looked = [self.json("attend", "run", text, "--target", next)[0]
                  for text, next in (("a river", " was near"), ("a river ", "was near"))]
        self.assertEqual(looked[0], looked[1])
        self.assertEqual(*[self.json("attend", "run", text)[0]["source_tokens"] for text in ("a river", "a river ")])
        # What is scored for itself keeps it.
        self.assertEqual(self.json("score", "run", "a river ")[0]["tokens"][-1], "\u2581")


if __name__ == "__main__":
    unittest.main()
