"""Checks data/fables.txt and the gold of its pronouns; run by ctest, or as `python3 tests/fables_test.py`."""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLASSES = {"he": "he him his himself", "she": "she her herself", "it": "it its itself",
           "they": "they them their themselves"}
CLASS_OF = {word: c for c, words in CLASSES.items() for word in words.split()}
SPEECH = set("i me my mine you your yours we us our ours".split())


class Fables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = (ROOT / "data" / "fables.txt").read_bytes().decode("ascii")
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder) / "fables"
            subprocess.run([sys.executable, ROOT / "scripts" / "make_fables.py", "--out", made], check=True)
            cls.gold = [json.loads(line) for line in made.with_suffix(".gold.jsonl").read_text("ascii").splitlines()]

    def test_the_text_is_well_formed(self):
        self.assertTrue(300_000 <= len(self.text) <= 450_000)
        stories = self.text.rstrip("\n").split("\n\n")
        self.assertEqual(len(stories), len(set(stories)))
        self.assertEqual(self.text, "\n\n".join(stories) + "\n")
        for story in stories:
            self.assertRegex(story, r'^[A-Z"][^\n]*[.!?]"?$')
            self.assertNotRegex(story, r"  |\s[.,!?]|[^A-Za-z0-9 .,!?'\"]")
            self.assertEqual(story.count('"') % 2, 0, story)
            self.assertNotRegex(story, r"[.!?] [a-z]", story)
            for article, word in re.findall(r"\b([Aa]n?) (\w+)", story):
                self.assertEqual(article[1:] == "n", word[0] in "aeiou" or word == "hour", story)
            self.assertNotRegex(story, r"\b(\w+) \1\b(?<!that that)(?<!had had)", story)

    def test_every_pronoun_is_listed_once_with_true_offsets(self):
        words = set(CLASS_OF) | SPEECH
        found = [[m.start(), m.end(), m[0]] for m in re.finditer(r"[A-Za-z]+", self.text)
                 if m[0].lower() in words]
        self.assertEqual(found, [g["pronoun"] for g in self.gold])
        for g in self.gold:
            first, last = g["story"]
            begin = g["pronoun"][0]
            self.assertNotIn("\n", self.text[first:last])
            self.assertIn(self.text[first - 2:first], ("", "\n\n"))
            self.assertEqual(self.text[last], "\n")
            for b, e, word in g["noun"] + [g["nearest"]]:
                self.assertEqual(self.text[b:e], word)
                self.assertTrue(first <= b < e < begin)
            latest = max(b for b, _ in g["mentions"])
            self.assertIn(latest, [b for b, _, _ in g["noun"]])
            self.assertTrue(all(b <= g["nearest"][0] for b, _ in g["mentions"]))
            self.assertTrue({(b, e) for b, e, _ in g["noun"]} <= {(b, e) for b, e in g["mentions"]})

    def test_gender_and_number_agree(self):
        classes = collections.defaultdict(collections.Counter)
        for g in self.gold:
            word = g["pronoun"][2].lower()
            if word in CLASS_OF and len(g["noun"]) == 1:
                classes[g["noun"][0][2]][CLASS_OF[word]] += 1
            if len(g["noun"]) == 2:
                self.assertIn(CLASS_OF.get(word, word), ("they", "we", "us", "our", "you"))
        for noun, seen in classes.items():
            self.assertEqual(len(seen), 1, f"{noun}: {seen}")
        for c, nouns in {"he": "king man boy prince fox Tom", "she": "queen woman girl hen cat Anna",
                         "it": "ring cheese lamp", "they": "boots coins sheep"}.items():
            for noun in nouns.split():
                self.assertEqual(list(classes[noun]), [c], noun)

    def test_betting_on_the_nearest_noun_mostly_fails(self):
        third = [g for g in self.gold if g["pronoun"][2].lower() in CLASS_OF]
        right = sum(g["nearest"] in g["noun"] for g in third)
        self.assertTrue(0.15 < right / len(third) < 0.5, right / len(third))


if __name__ == "__main__":
    unittest.main()
