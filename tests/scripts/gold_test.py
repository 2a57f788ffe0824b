"""scripts/gold.py: links from gold files, scores and controls, on a stand-in for heed whose attention is uniform; and on
heed itself."""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEED = pathlib.Path(os.environ.get("HEED_BINARY", ROOT / "build" / "heed"))
sys.path.insert(0, str(ROOT / "scripts"))
import gold  # noqa: E402

PAIRS = {"objective": {"type": "seq2seq"}, "data": {"max_length": 64}, "model": {"max_length": 64}}
LM = {"objective": {"type": "causal_lm", "source_length": 64, "target_length": 64}, "model": {"decoder_layers": 1}}


def characters(line):
    return [[len(line[:i].encode()), len(line[:i + 1].encode())] for i in range(len(line))]


def words(line):
    return [[m.start(), m.end()] for m in re.finditer(r"\S+", line)]


class Uniform:
    """What heed prints of a model with one layer and two heads that look at all tokens alike. It notes what it reads."""

    def __init__(self, units, known=None):
        self.units, self.known, self.read = units, known, []

    def lines(self, command, run, *arguments):
        options = dict(zip(arguments[::2], arguments[1::2]))
        files = [options[name] for name in ("--file", "--target-file") if name in options]
        lines = list(zip(*(pathlib.Path(f).read_text().split("\n")[:-1] for f in files)))
        if command == "tokenize":
            for line, in lines:
                places = self.units(line)
                texts = [line.encode()[b:e].decode() for b, e in places]
                yield {"text": line, "bytes": places,
                       "ids": [7 if self.known is None or t in self.known else 0 for t in texts]}
            return
        self.read.append(lines)
        config = json.loads((run / "config.json").read_text())
        for line in lines:
            sizes = [len(self.units(side)) + 1 for side in line]  # with <s> or </s>
            if config["objective"]["type"] == "prefix_lm":
                sizes[0] = max(1, sizes[0] - 1)

            def even(queries, keys, causal):
                head = [[1 / (q + 1) if causal and k <= q else 0 if causal else 1 / keys for k in range(keys)]
                        for q in range(queries)]
                return [[head, head]]

            yield {"encoder": even(sizes[0], sizes[0], False), "decoder": even(sizes[-1], sizes[-1], True),
                   "cross": even(sizes[-1], sizes[0], False)}


class Gold(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heed_test_"))
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def options(self, config, links, source, target=None, limit=None):
        self.file("config.json", json.dumps(config))
        text = links if isinstance(links, str) else "".join(json.dumps(x) + "\n" for x in links)
        arguments = [self.folder, "--gold", self.file("g", text), "--file", self.file("s", source)]
        arguments += ["--target-file", self.file("t", target)] if target is not None else []
        return gold.parse([*map(str, arguments), *(["--limit", str(limit)] if limit else [])])

    def pairs(self, units, *files, heed=None, **options):
        chosen = self.options(PAIRS, *files, **options)
        return gold.pair_sets(chosen, chosen.gold.read_text().splitlines(), heed or Uniform(units), PAIRS)[0]

    def pronouns(self, config, *files, heed=None):
        chosen = self.options(config, *files)
        return gold.pronoun_sets(chosen, chosen.gold.read_text().splitlines(), heed or Uniform(words), config)

    def score(self, config, units, *files):
        return gold.scores(Uniform(units), self.options(config, *files))

    # Characters of "ab c" are 0 a, 1 b, 2 space, 3 c; words are 0 "ab", 1 "c".
    def test_units_become_tokens_and_rows_predict_their_token(self):
        found = self.pairs(characters, [{"line": 0, "unit": "token", "alignment": [[1], [0]]},
                                        {"line": 1, "unit": "char", "alignment": [[], [1, 0]]}], "ab c\néy\n", "d ab\nzé\n")
        self.assertEqual(found.kind, "cross")
        first, second = found.examples
        # Row 0 predicts "d" (gold "c"), rows 2 and 3 predict "a" and "b" (gold "ab"); row 1 the space.
        self.assertEqual([(x.query, x.keys) for x in first.links], [(0, [3]), (2, [0, 1]), (3, [0, 1])])
        self.assertEqual([x.distractors for x in first.links], [[[0, 1]], [[3]], [[3]]])
        # The last token is predicted, not read.
        self.assertEqual((first.rows, first.source, first.target), (4, "ab c", "d a"))
        self.assertEqual([(x.query, x.keys) for x in second.links], [(1, [0, 1])])

    def test_uniform_heads_score_what_uniform_attention_does(self):
        links = [{"line": 0, "unit": "token", "alignment": [[2], [0, 1]]}]
        kind, = self.score(PAIRS, words, links, "a b c\n", "c a\n")
        self.assertEqual((kind["links"], len(kind["heads"])), (2, 2))
        # 4 keys with </s>: one gold key, then two. 1 - 2 (1/4 + 2/4) / (2 + 3) = 0.7
        for score in (kind["uniform"], kind["heads"][0]["trained"], kind["heads"][1]["untrained"]):
            for figure, value in (("mass", 0.375), ("accuracy", 0.375), ("aer", 0.7)):
                self.assertAlmostEqual(score[figure]["value"], value)
            self.assertIsNone(score["mass"]["low"])  # one line says nothing about others
            self.assertNotIn("any_mass", score)
        self.assertIn("no intervals: fewer than 10 lines", kind["notes"])
        # The gold of the other row: two keys, then one.
        self.assertAlmostEqual(kind["heads"][0]["shuffled"]["mass"]["value"], 0.375)
        self.assertEqual(gold.verdict(kind), "no head has learnt the links: best 37.5 %, untrained 37.5 %, even 37.5 %")

    def test_pronouns_look_back_at_their_noun(self):
        config = {"objective": {"type": "prefix_lm", "source_length": 4, "target_length": 5}, "model": {"decoder_layers": 1}}
        links = [{"story": [0, 28], "pronoun": [20, 23, "she"], "noun": [[12, 15, "cat"]]},
                 {"story": [0, 28], "pronoun": [20, 23, "she"], "noun": [[2, 5, "fox"]]}]
        encoder, decoder = self.pronouns(config, links, "A fox saw a cat and she ran.\n")
        # Words: A fox saw a cat and she. The encoder has room for "a cat and she".
        example, = encoder.examples
        self.assertEqual((example.source, example.target), ("a cat and she", ""))
        self.assertEqual([(x.query, x.keys) for x in example.links], [(3, [1])])
        self.assertEqual(encoder.notes, ["1 pronouns left out: their noun is farther back than the model reads"])
        # The decoder reads "<s> a cat and she" after "A fox saw".
        example, = decoder.examples
        self.assertEqual((example.source, example.target), ("A fox saw", "a cat and she"))
        self.assertEqual([(x.query, x.keys) for x in example.links], [(4, [2])])

    def test_an_encoder_alone_reads_the_story_after_its_beginning(self):
        config = {"objective": {"type": "masked_lm", "source_length": 4, "target_length": 4}, "model": {"decoder_layers": 0}}
        found, = self.pronouns(config, [{"story": [0, 28], "pronoun": [20, 23], "noun": [[12, 15]]}],
                               "A fox saw a cat and she ran.\n")
        self.assertEqual((found.kind, found.examples[0].source, found.examples[0].target), ("encoder", "a cat and she", None))
        self.assertEqual([(x.query, x.keys) for x in found.examples[0].links], [(4, [2])])  # row 0 is <s>

    def test_intervals_need_ten_lines_and_decoys_may_be_missing(self):
        # The first line has one link, and so no gold of another position to mistake it for.
        links = [{"line": i, "unit": "token", "alignment": [[1], [0]] if i else [[0], []]} for i in range(10)]
        kind, = self.score(PAIRS, words, links, "a b\n" * 10, "b a\n" * 10)
        self.assertAlmostEqual(kind["uniform"]["mass"]["low"], 1 / 3)
        self.assertEqual((kind["links"], kind["heads"][0]["shuffled"]["links"]), (19, 18))
        self.assertIsNone(kind["heads"][0]["shuffled"]["mass"]["low"])  # nine lines
        text = gold.table(kind)
        self.assertIn("18 links\n", text)
        self.assertNotIn("19 links\n", text)

    # "it" is the fox, named twice; the cat is the only wrong answer.
    def test_other_mentions_of_the_referent_are_right_answers(self):
        story = "A fox saw a cat and it hid so the fox ran and it sat and she ate\n"
        links = [{"story": [0, 64], "pronoun": [20, 22], "noun": [[2, 5]], "mentions": [[2, 5]]},
                 {"story": [0, 64], "pronoun": [46, 48], "noun": [[34, 37]], "mentions": [[2, 5], [34, 37]]},
                 {"story": [0, 64], "pronoun": [57, 60], "noun": [[12, 15]], "mentions": [[12, 15]]}]
        found, = self.pronouns(LM, links, story)
        example, = found.examples  # all three: what is after a row does not change it
        self.assertEqual(example.target, story.strip())
        self.assertEqual((example.links[1].keys, example.links[1].right), ([11], [2, 11]))  # row 0 is <s>
        self.assertEqual([sorted(x.distractors) for x in example.links], [[(5,)], [(5,)], [(2,), (11,)]])
        kind, = self.score(LM, words, links, story)
        noun = (1 / 8 + 1 / 15 + 1 / 18) / 3  # of the rows in sight
        for score in (kind["uniform"], kind["heads"][1]["trained"]):
            self.assertAlmostEqual(score["mass"]["value"], noun)
            self.assertAlmostEqual(score["any_mass"]["value"], noun + 1 / 15 / 3)
            self.assertIn("any_accuracy", score)
        self.assertIn("mass on any", gold.table(kind))

    def test_long_lines_are_left_out_and_unknown_tokens_are_noted(self):
        links = [{"line": 0, "unit": "token", "alignment": [[0]]}, {"line": 1, "unit": "token", "alignment": [[1], [0]]}]
        many = "a b " * 40
        found = self.pairs(words, links, many + "\na b\n", many + "\nb a\n", heed=Uniform(words, {"a"}))
        self.assertEqual(len(found.examples), 1)
        self.assertEqual(found.notes, ["1 lines left out: longer than the model reads",
                                       "1 inputs have tokens unknown to the model"])

    def test_what_does_not_fit_is_an_error(self):
        for links, message in (
                ("nonsense", ":1: this is not JSON"),
                ('{"line":0,"unit":"token","alignment":[[0],[1]]}\n{}', "has 2 lines, but"),
                ('{"line":1,"unit":"token","alignment":[[0],[1]]}', '"line" must be'),
                ('{"line":0,"unit":"token","alignment":[[0]]}', "is about 1 target positions"),
                ('{"line":0,"unit":"token","alignment":[[0],[2]]}', "must be a whole number below 2"),
                ('{"line":0,"unit":"token","alignment":[[],[]]}', "leaves nothing to score")):
            with self.subTest(links), self.assertRaises(SystemExit) as failed:
                self.score(PAIRS, words, links, "a b\n", "b a\n")
            self.assertIn(message, str(failed.exception))
        pronoun = {"story": [0, 9], "pronoun": [4, 6, "he"], "noun": [[0, 3]]}
        for config, links, target, message in (
                (PAIRS, [pronoun], "x\n", "this model was trained on pairs"),
                (PAIRS, [{"alignment": []}], None, "expected --target-file"),
                (LM, [pronoun], None, 'is "he", but the text has "it" there'),
                (LM, [{**pronoun, "story": [4, 9]}], None, "lies outside its story")):
            with self.subTest(message), self.assertRaises(SystemExit) as failed:
                self.score(config, words, links, "cat it is\n", target)
            self.assertIn(message, str(failed.exception))


@unittest.skipUnless(HEED.exists(), f"{HEED} is not built")
class OnHeed(unittest.TestCase):
    """A model that copies letters is trained in a moment; a head finds what it copies."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="heed_test_"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        draw = random.Random(1)
        lines = [draw.sample("abcdefgh", draw.randint(3, 6)) for _ in range(400)]
        (cls.folder / "s").write_text("".join(" ".join(x) + "\n" for x in lines))
        links = [{"line": i, "unit": "token", "alignment": [[t] for t in range(len(x))]} for i, x in enumerate(lines)]
        (cls.folder / "g").write_text("".join(json.dumps(x) + "\n" for x in links))
        (cls.folder / "c.json").write_text(json.dumps({
            "data": {"source": "s", "target": "s", "valid_fraction": 0.1}, "tokenizer": {"type": "word"},
            "objective": {"type": "seq2seq"},
            "model": {"d_model": 32, "n_heads": 2, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 1, "norm": "pre",
                      "tie": "none", "dropout": 0},
            "optimizer": {"learning_rate": 0.01, "warmup_steps": 20}, "train": {"batch_tokens": 1000, "max_steps": 150}}))
        cls.heed("train", "c.json", "--run", "run", "--quiet")
        cls.heed("train", "c.json", "--run", "second", "--init-from", "run", "--set", "train.max_steps=1", "--quiet")

    @classmethod
    def heed(cls, *arguments):
        return subprocess.run([HEED, *arguments], cwd=cls.folder, check=True, stdout=subprocess.PIPE, text=True).stdout

    def gold(self, run, *arguments):
        command = [ROOT / "scripts/gold.py", run, "--gold", "g", "--file", "s", "--target-file", "s", "--heed", HEED]
        return subprocess.run([*command, *arguments], cwd=self.folder, check=True, stdout=subprocess.PIPE, text=True).stdout

    def test_the_last_line_is_the_verdict(self):
        text = self.gold("run", "--limit", "50")
        self.assertRegex(text.splitlines()[-1], r"^layer 0, head [01] has learnt the links: \d+\.\d %, untrained \d+\.\d %, "
                                                r"even \d+\.\d %$")
        self.assertEqual(text, self.gold("run", "--limit", "50"))
        self.assertIn(" links of 50 lines, 95 % intervals\n", text)
        text = self.gold("run", "--limit", "50", "--checkpoint", "initial")
        self.assertIn("no head has learnt the links: ", text.splitlines()[-1])

    def test_untrained_is_what_the_run_began_with(self):
        first, second = (json.loads(self.gold(run, "--limit", "20", "--json"))["kinds"][0] for run in ("run", "second"))
        self.assertEqual([h["trained"] for h in first["heads"]], [h["untrained"] for h in second["heads"]])
        self.assertNotEqual([h["trained"] for h in first["heads"]], [h["untrained"] for h in first["heads"]])
        self.assertIn("those of \"", second["notes"][0])
        folder = self.folder / "run" / "checkpoints" / "best"
        self.assertEqual(self.gold("run", "--limit", "20"), self.gold(folder, "--limit", "20"))


if __name__ == "__main__":
    unittest.main()
