"""Parts of texts, normalisation and splitting, existing vocabularies, marks."""
import gzip
import json
import shutil
import unittest

from runs import DATA, SMALL, RunsTest


class PartsOfTexts(RunsTest):
    def test_typed_text_is_normalised_as_the_data_was(self):
        (self.folder / "a.txt").write_text("le café était fermé\n" * 50)
        self.train(self.config(data__normalize="nfc", train__max_steps=4))
        plain = self.out("tokenize", "run", "--ids", stdin="café\n")
        self.assertEqual(self.out("tokenize", "run", "--ids", stdin="cafe\u0301\n"), plain)
        self.assertNotIn("bits_per_byte", self.json("evaluate", "run")[0])
        self.check("sample", "run", "cafe\u0301")  # all of it is known
        self.check("neighbors", "run", "e\u0301")


class Vocabularies(RunsTest):
    def test_a_run_can_take_the_vocabulary_of_another(self):
        self.train(self.config(tokenizer={"type": "bpe", "vocab_size": 300}, train__max_steps=4), "first")
        model = self.checkpoints("first") / "last" / "tokenizer.model"
        shutil.copy(model, self.folder / "v.model")
        config = self.config("d", family="masked_lm", tokenizer={"type": "bpe", "file": "v.model"})
        self.train(config, "second", "--stop-at", 7, facts="v.model")
        (self.folder / "v.model").unlink()
        self.resume("second")  # the checkpoint has it
        for line in ("the river", "a mill."):
            self.assertEqual(*[self.out("tokenize", run, stdin=line + "\n") for run in ("first", "second")])
        self.train(config, "third", status=DATA, facts="v.model")


class Marks(RunsTest):
    """A byte order mark at the start of a text or a list is no part of it, and one of UTF-16 tells how to read it; UTF-16
    without one and NULs are refused everywhere."""
    RUNS = {"run": SMALL}
    COMMANDS = (("score", "run", "--file"), ("sample", "run", "--temperature", 0, "--max-tokens", 9, "--json", "--file"), ("evaluate", "run", "--json", "--file"))

    def test_a_mark_changes_nothing_and_utf_16_with_one_is_read_as_the_same_text(self):
        plain, marked = self.folder / "plain", self.folder / "marked"
        plain.write_text("the\nmill\n")
        for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
            content = "\ufeffthe\nmill\n".encode(encoding)
            for packed in (content, gzip.compress(content)):
                marked.write_bytes(packed)
                for command in self.COMMANDS:
                    with self.subTest(command[0], encoding=encoding):
                        r = [self.out(*command, path).replace(str(path), "") for path in (plain, marked)]
                        self.assertEqual(r[0], r[1])
        self.check("evaluate", "run", "--file", marked, facts=["marked", "UTF-16"])
        whole = self.folder / "a.txt"
        config = self.config(**SMALL)
        config.write_text("\ufeff" + config.read_text())  # a config may begin with a mark, too
        self.train(config, "utf8")
        (self.folder / "wide").write_bytes(whole.read_text().encode("utf-16"))
        self.train(self.config(**SMALL, data__train="wide"), "utf16", facts=["wide", "UTF-16"])
        self.assertEqual(self.state(12, "utf8")["data_hash"], self.state(12, "utf16")["data_hash"])

    def test_a_line_that_cannot_be_read_costs_itself_alone(self):
        path = self.folder / "odd"
        path.write_bytes(b"the\nth\xffe\nmi\0ll\nmill\n" + b"\xff\n" * 20)
        for command in (("score", "run", "--file"), ("tokenize", "run", "--file"), ("attend", "run", "--json", "--file")):
            with self.subTest(command[0]):
                r = self.check(*command, path, status=DATA, facts=["odd:2", "UTF-8", "odd:3", "value 0"])
                self.assertEqual(r.err.count("error: "), 22)
                lines = r.out.splitlines()
                self.assertEqual(len(lines), 24)
                whole = self.out(*command, "-", stdin="the\nmill\n").splitlines()
                self.assertEqual([lines[0], lines[3]], whole)
                if "--json" not in command:
                    self.assertEqual({lines[i] for i in (1, 2, 23)}, {""})
                    lines = self.check(*command[:2], "--json", "--file", path, status=DATA).out.splitlines()
                refused = [json.loads(lines[i]) for i in (1, 2, 23)]
                self.assertEqual([set(r.values()) - {None} == {r["error"]} for r in refused], [True] * 3)
                self.tells(refused[0]["error"], "odd:2")
        self.check("attend", "run", "--json", "--file", "-", stdin="the\n" + "mill" * 9 + "\nmill\n", status=DATA, facts=["2", "36"])
        r = self.check("score", "run", "--file", path, "--target-file", path, status=DATA, facts=["odd:2"])
        self.assertEqual(len([line for line in r.out.splitlines() if line]), 2)


if __name__ == "__main__":
    unittest.main()
