"""TEXT, a file, standard input and the page give a text the same ids, and say the same of it."""
import json
import re
import unittest

from runs import DATA, SMALL, RunsTest, text

TYPES = {"char": {"type": "char"}, "byte": {"type": "byte"}, "word": {"type": "word"}, "bpe": {"type": "bpe", "vocab_size": 340},
         "unigram": {"type": "unigram", "vocab_size": 300}}
KEYS = {**SMALL, "train__max_steps": 2}


class OneReading(RunsTest):
    RUNS = {name: {"family": "causal_lm", "tokenizer": tokenizer, **KEYS, "objective__target_length": 32} for name, tokenizer in TYPES.items()}
    RUNS |= {"pairs_" + name: {"family": "seq2seq", "tokenizer": TYPES[name], **KEYS} for name in ("char", "word", "bpe")}
    RUNS["masked"] = {"family": "masked_lm", "tokenizer": TYPES["word"], **KEYS}
    TEXTS = ["the mill", "the mill ", "the mill  ", " the mill", "the\u00a0mill", "the mill\u00a0", "the\tmill", "the mill\t", "\ufeffthe mill",
             "the\ufeffmill", "the\u2028mill", "the mill\u2028", "the mill\r", "the \u017cebra", "the  mill", "the mill\u3000"]

    def texts(self):
        (self.folder / "a.txt").write_text(text(300))
        for side in ("a.source", "a.target"):
            (self.folder / side).write_text("the mill\nthe old mill\n" * 20)

    def ways(self, *command, whole=False):
        """Yields each text and what is printed of it as TEXT; a file and standard input print the same."""
        texts = [text for text in self.TEXTS if "\t" not in text or command[0] != "translate"]  # there it is a row of a table
        alone = [self.heed(*command, text) for text in texts]
        for end in ("\n", "\r\n"):
            lines = [text.removesuffix("\r") + end for text in texts]
            for content, asked in [([line], [r]) for line, r in zip(lines, alone)] if whole else [(lines, alone)]:
                (self.folder / "lines").write_bytes("".join(content).encode())
                for way in (["--file", "lines"], []):
                    r = self.heed(*command, *way, stdin="" if way else (self.folder / "lines").read_bytes().decode())
                    found = [r.out] if whole else [line + "\n" for line in r.out.split("\n")[:-1]]
                    self.assertEqual(len(content), len(found))
                    for one, line, out in zip(asked, content, found):
                        if one.status == 0:
                            told, wanted = (re.sub('"line":.*?,', "", x) for x in (out, one.out))
                            if command[0] == "score":
                                self.near(json.loads(told), json.loads(wanted), (command, way, line))
                            else:
                                self.assertEqual(told, wanted, (command, way, line))
                        else:
                            self.assertIn("nothing that the model knows", out + r.err, (command, way, line))
        return zip(texts, alone)

    def test_in_every_command(self):
        for name in TYPES:
            for command in ("tokenize", "score", "explain", "attend", "sample"):
                more = ["--max-tokens", 2, "--temperature", 0] if command == "sample" else []
                with self.subTest(name, command=command):
                    for text, r in self.ways(command, name, "--json", *more, whole=command == "sample"):
                        strange = name in ("char", "word") and any(c in text.removeprefix("\ufeff") for c in "\u00a0\ufeff\u2028\u017c\u3000")
                        lost = name == "word" and text in ("the\u00a0mill", "the\ufeffmill", "the\u2028mill")  # one word, unknown
                        self.assertEqual(r.status, DATA if lost and command != "tokenize" else 0, (text, r.err))
                        self.assertEqual("unknown" in r.err, strange or name == "char" and "\t" in text, (text, r.err))

    def test_in_translations_the_white_space_at_an_end_is_said(self):
        for name in ("char", "word", "bpe"):
            with self.subTest(name):
                for text, r in self.ways("translate", "pairs_" + name, "--json"):
                    bare = text.removeprefix("\ufeff").removesuffix("\r")
                    read = bare.strip(" \t") if name == "word" else bare  # words have no spaces
                    self.assertEqual("white space" in r.err, read != read.strip(), (text, r.err))

    def test_masks(self):
        for text in ("the [MASK]", "the [MASK] ", "the\u00a0[MASK]", "\ufeffthe ___", "the \u017cebra [MASK]"):
            (self.folder / "one").write_text(text + "\n")
            found = [self.out("fill", "masked", "--json", *way) for way in ([text], ["--file", "one"])]
            self.assertEqual(found[0], found[1])

    def test_what_is_all_unknown_costs_itself_alone(self):
        for command in (("score", "word"), ("explain", "word", "--json"), ("attend", "word", "--json"), ("sample", "word"), ("translate", "pairs_word")):
            with self.subTest(command):
                self.check(*command, "\u017cebra \u017cebra", status=DATA, facts="\u017cebra")
                r = self.check(*command, "the \u017cebra", facts="\u017cebra")
                self.assertNotIn("error", r.err)
                if command[0] != "sample":
                    r = self.check(*command, stdin="the\n\u017cebra\nthe \u017cebra\n", status=DATA, facts="standard input:2")
                    self.assertEqual(len(r.out.splitlines()), 3)
        self.check("translate", "pairs_word", "the", "--prefix", "the \u017cebra", status=DATA, facts=["1", "\u017cebra", "write"])

    def test_an_unknown_word_is_a_word(self):
        written = self.json("sample", "word", "the\n\u017cebra", "--max-tokens", 1, "--temperature", 0)[-1]["text"]
        self.assertTrue(written == "\n" or written.startswith(" "), written)

    def test_a_space_at_the_end_can_be_answered(self):
        for name in ("bpe", "unigram"):
            e, = self.json("explain", name, "the mill ")
            self.assertTrue(e["answer"]["token"].startswith("\u2581"), e["answer"])
            self.assertEqual([e["answer"]["id"]], self.json("sample", name, "the mill ", "--max-tokens", 1, "--temperature", 0)[-1]["ids"])
        e, = self.json("explain", "pairs_bpe", "the mill", "--target", "mill ")
        self.assertTrue(e["answer"]["token"].startswith("\u2581"), e["answer"])
        self.assertEqual(e["ids"], self.json("explain", "pairs_bpe", "the mill", "--target", "mill")[0]["ids"])

if __name__ == "__main__":
    unittest.main()
