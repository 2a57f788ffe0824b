"""heed translate: one output line per input line, whatever the batch, tokenizer and pipe; scores of n-best lists."""
import json
import os
import select
import subprocess
import unittest

from runs import HEED, SMALL, RunsTest

PAIRS = {"family": "seq2seq", **SMALL}


class Translate(RunsTest):
    RUNS = {"run": {**PAIRS, "train__max_steps": 60, "model__decoder_layers": 2}}

    def setUp(self):
        super().setUp()
        self.lines = (self.folder / "a.source").read_text().splitlines()[:40]
        self.lines.insert(3, "")
        self.source = self.folder / "in"
        self.source.write_text("\ufeff" + "".join(l + "\n" for l in self.lines))

    def test_pipes_single_lines_and_json_give_the_same(self):
        one = self.out("translate", "run", "--file", self.source)
        self.assertEqual(one.count("\n"), len(self.lines))
        self.assertEqual(one.splitlines()[3], "")
        self.assertEqual(self.out("translate", "run", stdin=self.source.read_text()), one)
        each = [self.out("translate", "run", stdin=l + "\n") for l in self.lines[:5]]
        self.assertEqual("".join(each), "".join(l + "\n" for l in one.splitlines()[:5]))
        self.assertEqual([j["translation"] for j in self.json("translate", "run", "--file", self.source)],
                         one.splitlines())

class TranslateLongTargets(RunsTest):
    """Keys of one word with values of thirty, which are learnt by heart."""
    VALUES = {f"k{i:02}": " ".join(f"w{(7 * i + 11 * j + i * j * j) % 20}" for j in range(30)) for i in range(12)}
    RUNS = {"run": {"family": "seq2seq", "data": {"pairs": "keys.tsv", "valid_pairs": "keys.tsv"},
                    "tokenizer": {"type": "word"},
                    "model": {"d_model": 48, "n_heads": 2, "d_ff": 96, "encoder_layers": 1, "decoder_layers": 1,
                              "dropout": 0, "positions": "rotary"},
                    "optimizer": {"learning_rate": 0.01, "schedule": "constant", "warmup_steps": 10},
                    "train": {"batch_tokens": 400, "max_steps": 160, "eval_every": 80, "select_by": "bleu"}},
            "pieces": {"family": "seq2seq", "data": {"pairs": "keys.tsv", "valid_pairs": "keys.tsv"},
                       "tokenizer": {"type": "bpe", "vocab_size": 300}, **SMALL}}

    def texts(self):
        super().texts()
        (self.folder / "keys.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in self.VALUES.items()))

    def test_the_limit_is_that_of_the_targets_it_was_trained_on(self):
        keys = "".join(k + "\n" for k in self.VALUES)
        r = self.check("translate", "run", stdin=keys)
        self.assertEqual(r.out.splitlines(), list(self.VALUES.values()))
        self.assertNotIn("warning", r.err)
        self.assertEqual(self.json("evaluate", "run", "--bleu")[0]["exact_match"], 100)
        self.assertAlmostEqual(self.metrics(kind="valid")[-1]["bleu"], 100, places=9)

    def test_a_table_is_read_as_its_two_sides_are(self):
        for side, lines in (("s", self.VALUES), ("t", self.VALUES.values())):
            (self.folder / side).write_text("".join(line + "\n" for line in lines))
        both = [self.json("evaluate", "run", "--bleu", *files)[0]
                for files in (("--file", "keys.tsv"), ("--file", "s", "--target-file", "t"))]
        self.assertEqual(*[{**found, "data": ""} for found in both])
        self.assertEqual(self.out("translate", "run", "--file", "keys.tsv"), self.out("translate", "run", "--file", "s"))
        self.assertEqual(self.out("score", "run", "--file", "keys.tsv"), self.out("score", "run", "--file", "s", "--target-file", "t"))
        self.assertEqual(self.json("compare", "run", "pieces", "--file", "keys.tsv")[0]["figures"],
                         self.json("compare", "run", "pieces", "--file", "s", "--target-file", "t")[0]["figures"])
        self.check("evaluate", "run", "--file", "s", status=3, facts=["s:1", "--target-file"])
        (self.folder / "wide.tsv").write_text("k00\tw0\n" + "k01\tw1\tw2\n")
        answers = self.check("translate", "run", "--file", "wide.tsv", status=3, facts=["wide.tsv:2", "3 columns"]).out
        self.assertEqual(answers.splitlines(), [self.VALUES["k00"], ""])

    def test_token_errors_are_compared_in_the_same_tokens(self):
        found, = self.json("compare", "run", "pieces")
        for name, lines in (("t", self.VALUES.values()), ("h", [line["translation"] for line in self.json("evaluate", "pieces", "--bleu")[0]["lines"]])):
            (self.folder / name).write_text("".join(line + "\n" for line in lines))
        self.assertAlmostEqual(found["figures"]["token_errors"]["second"], self.json("bleu", "h", "t")[0]["token_errors"], places=9)
        self.assertEqual(found["figures"]["token_errors"]["unit"], "% token errors (words)")
        self.assertNotAlmostEqual(found["figures"]["token_errors"]["second"], self.json("evaluate", "pieces", "--bleu")[0]["token_errors"], places=3)

    def test_figures_of_lines_and_their_intervals(self):
        found, = self.json("evaluate", "run", "--bleu")
        self.assertEqual((found["exact"], found["token_errors"], found["intervals"]["exact"]), (100, 0, [100, 100]))
        self.assertEqual([line["translation"] for line in found["lines"]], list(self.VALUES.values()))
        worse, = self.json("evaluate", "pieces", "--bleu")
        self.assertEqual((found["token_unit"], worse["token_unit"]), ("tokens", "tokens"))
        errors = sum(line["token_errors"] for line in worse["lines"]), sum(line["tokens"] for line in worse["lines"])
        self.assertAlmostEqual(worse["token_errors"], 100 * errors[0] / errors[1], places=9)

    def test_a_table_is_no_file_of_sentences(self):
        (self.folder / "wide").write_text("a\tb c\n\td\n")
        (self.folder / "h").write_text("b c\nd\n")
        for files in (("h", "wide"), ("wide", "h"), ("h", "h", "--to", "wide")):
            self.check("bleu", *files, status=3, facts=["wide:1", "cut -f2 wide"])

    def test_what_does_not_end_is_said_and_marked(self):
        r = self.check("translate", "run", "--max-length", 20, "--json", stdin="k00\nk01\n",
                       facts=["2 of 2", "20", "--max-length", "1", "2"])
        self.assertEqual([json.loads(l)["ended"] for l in r.out.splitlines()], [False, False])
        self.assertEqual([j["ended"] for j in self.json("translate", "run", "--max-length", 30, "k00")], [True])
        r = self.check("evaluate", "run", "--bleu", "--beam-size", 1, "--max-length", 20, "--json",
                       facts=["12", "20", "--max-length"])
        self.assertEqual(json.loads(r.out)["not_ended"], 12)

    def test_rules_of_writing_hold_for_beams_greedy_and_samples(self):
        texts = {"beam": self.out("translate", "run", "--no-repeat", 2, "--prefix", "w3 w3 w5", "k00"),
                 "greedy": self.out("translate", "run", "--no-repeat", 2, "--beam-size", 1, "k00"),
                 "sample": self.out("sample", "run", "--no-repeat", 2, "k00")}
        for how, text in texts.items():
            two = list(zip(text.split(), text.split()[1:]))
            self.assertEqual(len(two), len(set(two)), how)
        self.assertTrue(texts["beam"].startswith("w3 w3 w5 "))
        for command in ("translate", "sample"):
            self.assertGreaterEqual(len(self.out(command, "run", "--min-tokens", 35, "k00").split()), 35, command)
        self.check("translate", "run", "--prefix", "w3 else", "k00", status=3, facts="'else'")
        self.check("translate", "run", "--prefix", "w3 w5 w3", "--max-length", 2, "k00", status=2, facts=["3", "--max-length 2"])
        # Where nothing may follow, the text has ended.
        words = self.check("translate", "run", "--no-repeat", 1, "--min-tokens", 90, "--max-length", 200, "k00")
        self.assertNotIn("--max-length", words.err)
        pieces = self.out("translate", "pieces", "--prefix", "w3 ", stdin="k00\nk01\n").splitlines()
        self.assertEqual([line[:3] for line in pieces], ["w3 "] * len(pieces))
        self.check("translate", "run", "--no-repeat", "-1", "k00", status=2, facts="0 to")
        self.check("evaluate", "run", "--no-repeat", 2, facts="--bleu")

    def test_blank_lines_stay_blank(self):
        r = self.check("translate", "run", stdin="k00\n \t\n\u00a0\u3000\n\nk03 k04 k05\nk03\n")
        lines = r.out.splitlines()
        self.assertEqual([lines[0], *lines[1:4], lines[5]],
                         [self.VALUES["k00"], "", "", "", self.VALUES["k03"]])

    def test_a_line_that_is_too_long_costs_itself_alone(self):
        long = "k01 " * 1_000_000
        r = self.check("translate", "run", stdin=f"k00\n{long}\nk03\n", status=3, facts=["2", "1000001"])
        self.assertEqual(r.out.splitlines(), [self.VALUES["k00"], "", self.VALUES["k03"]])
        self.train(self.config(**{**self.RUNS["run"], "model__positions": "learned", "model__max_length": 40,
                                  "data__max_length": 39, "train__max_steps": 2}), "learned")
        r = self.check("translate", "learned", stdin=f"k00\n{'k01 ' * 50}\nk03\n", status=3, facts=["2", "51"])
        self.assertEqual(r.out.splitlines()[1], "")
        self.assertEqual(len(r.out.splitlines()), 3)
        self.check("translate", "learned", "k01 " * 50, status=3, facts="51")


class TranslatePieces(RunsTest):
    RUNS = {"run": {**PAIRS, "tokenizer": {"type": "bpe", "vocab_size": 290}, "train__max_steps": 10}}
    ARGS = ("translate", "run", "--max-length", 6, "--n-best")

    def test_scores_of_n_best_are_those_of_their_texts(self):
        """A search over pieces may split a text differently from its tokenizer; the score is that of the text."""
        best = self.json(*self.ARGS, 5, "--file", "a.source")
        plain = [row.split(" ||| ") for row in self.out(*self.ARGS, 5, "--file", "a.source").split("\n")[:-1]]
        self.assertEqual(plain, [[str(i), t["translation"], f"{t['score']:.6f}"] for i, j in enumerate(best) for t in j["n_best"]])
        for j in best:
            scores = [t["score"] for t in j["n_best"]]
            self.assertEqual(scores, sorted(scores, reverse=True))
            self.assertEqual(len({t["translation"] for t in j["n_best"]}), len(scores))
        rows = [(j["source"], t) for j in best for t in j["n_best"] if t["translation"].isascii()]
        self.assertGreater(len(rows), 200)
        self.write("s", *(s for s, _ in rows))
        self.write("t", *(t["translation"] for _, t in rows))
        scored = self.json("score", "run", "--file", "s", "--target-file", "t")
        for (_, t), score in zip(rows, scored):
            self.assertAlmostEqual(t["logprob"], score["logprob"], delta=1e-4)
            self.assertAlmostEqual(t["score"], t["logprob"] / (len(t["ids"]) + 1), delta=1e-9)

    def test_a_translation_does_not_depend_on_its_neighbours_or_on_how_many_are_asked_for(self):
        best = self.json(*self.ARGS, 5, "--file", "a.source")
        first = self.json(*self.ARGS, 5, stdin="".join(j["source"] + "\n" for j in best[:7]))
        self.assertEqual(first, best[:7])  # to the last bit
        for n in (1, 2):
            fewer = self.json(*self.ARGS, n, "--file", "a.source")
            self.assertEqual([j["n_best"] for j in fewer], [j["n_best"][:n] for j in best])


class TranslateLines(RunsTest):
    RUNS = {"run": PAIRS}

    def test_lines_that_cannot_be_read_are_an_error(self):
        for command in (["translate", "run"], ["tokenize", "run"], ["score", "run", "--file", "-", "--target-file", "a.target"]):
            folder = os.open(self.folder, os.O_RDONLY)
            done = subprocess.run([HEED, *command], stdin=folder, capture_output=True, text=True, cwd=self.folder)
            os.close(folder)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.tells(done.stderr, "standard input")

    def test_a_line_in_a_pipe_is_answered_before_the_next(self):
        for command in ("translate", "tokenize"):
            p = self.spawn(command, "run", stdin=subprocess.PIPE)
            for line, half in (("the river", ""), ("", "the "), ("mill", "the end")):  # a line, and half of the next
                p.stdin.write(line + "\n" + half)
                p.stdin.flush()
                self.assertTrue(select.select([p.stdout], [], [], 60)[0], "no answer in a minute")
                self.assertTrue(p.stdout.readline().endswith("\n"))
            out, _ = p.communicate(timeout=60)
            self.assertEqual((out.count("\n"), p.returncode), (1, 0))

    def test_a_translation_is_one_line_whatever_the_tokenizer(self):
        """The weights of a text model, which writes newlines if it can."""
        self.write("n.txt", *["", "", "a b\r", " "] * 200)
        self.write("s", *["a", "b", "a b"] * 5)
        self.write("t", *["b", "a", "b a"] * 5)
        for kind in ("char", "byte", "word", "bpe"):
            tokenizer = {"type": kind, **({"vocab_size": 300} if kind == "bpe" else {})}
            self.train(self.config(data={"train": "n.txt"}, tokenizer=tokenizer, train__max_steps=40, model__max_length=40), kind + "1")
            config = self.config(family="seq2seq", data={"source": "s", "target": "t", "max_length": 39}, model__max_length=40,
                                 tokenizer=tokenizer, train__max_steps=1, optimizer__learning_rate=1e-9)
            self.train(config, kind, "--init-from", kind + "1")
            for beam in (1, 4):
                out = self.out("translate", kind, "--beam-size", beam, stdin="a\nb\na b\n")
                self.assertEqual((out.count("\n"), "\r" in out), (3, False), out)
            self.assertEqual(self.out("sample", kind, "a").count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
