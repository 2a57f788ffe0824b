"""Checks the tasks and the texts of lessons in data/ and the scripts that make them; run by ctest, or as `python3 tests/data_test.py`."""

import collections
import datetime
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "data"
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
WEEKDAYS = "Mon Tue Wed Thu Fri Sat Sun".split()


def run(*command):
    return subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True)


def lines(path):
    return pathlib.Path(path).read_text("ascii").splitlines()


def make(task, folder, *options):
    """The output of make_task.py: (source, target, gold) for each line."""
    prefix = pathlib.Path(folder) / task
    result = run(ROOT / "scripts/make_task.py", task, "--out", prefix, *options)
    assert result.returncode == 0, result.stderr
    gold = [json.loads(line) for line in lines(f"{prefix}.gold.jsonl")]
    source, target = lines(f"{prefix}.source"), lines(f"{prefix}.target")
    assert len(source) == len(target) == len(gold)
    assert [g["line"] for g in gold] == list(range(len(gold)))
    return list(zip(source, target, gold))


class Shipped(unittest.TestCase):
    def test_every_file_is_what_its_command_in_the_readme_makes(self):
        commands = re.findall(r"`(scripts/make_\w+\.py[^`]*)`", (DATA / "README.md").read_text())
        with tempfile.TemporaryDirectory() as folder:
            for command in commands:
                script, *options = command.replace("data/", folder + "/").split()
                if "--out" not in options:
                    options += ["--out", folder + "/fables"]
                result = run(ROOT / script, *options)
                self.assertEqual(result.returncode, 0, result.stderr)
            made = {p.name: p.read_bytes() for p in pathlib.Path(folder).iterdir()}
        for name, content in made.items():
            if name != "fables.gold.jsonl":  # is made when it is asked for
                self.assertTrue((DATA / name).read_bytes() == content, f"{name} is not as made")
        for name in ("fables.txt", "fables.gold.jsonl", "copy.train.source", "reverse.train.source",
                     "dates.train.source", "dates.test.gold.jsonl", "induction.txt", "noun.gold.jsonl"):
            self.assertIn(name, made)

    def test_the_second_half_of_a_line_repeats_the_first(self):
        for line in lines(DATA / "induction.txt"):
            tokens = line.split()
            self.assertEqual(tokens[:len(tokens) // 2], tokens[len(tokens) // 2:])

    def test_a_pronoun_stands_for_the_one_noun_of_its_kind_which_always_does_the_same(self):
        text, does = (DATA / "noun.txt").read_text("ascii"), {}
        gold = [json.loads(line) for line in lines(DATA / "noun.gold.jsonl")]
        self.assertEqual(len(gold), len(lines(DATA / "noun.txt")) // 12)
        self.assertEqual(gold[-1]["story"][1], len(text) - 1)
        for g in gold:
            (begin, end, pronoun), [(first, last, noun)] = g["pronoun"], g["noun"]
            self.assertEqual((text[begin:end], text[first:last]), (pronoun, noun))
            self.assertTrue(noun.endswith({"she": "a", "he": "o", "it": "us"}[pronoun]))
            verb = text[end:].split()[0]
            self.assertEqual(does.setdefault(noun, verb), verb)


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


def answer(task, tokens):
    """What a task makes of tokens, and from where each of the answer's tokens is."""
    n = len(tokens)
    if task == "sort":
        ordered = sorted(tokens, key=int)
        return ordered, [[i for i in range(n) if tokens[i] == x] for x in ordered]
    if task == "recall":
        known, asked = (" ".join(tokens).split(" ? ")[i].split() for i in (0, 1))
        keys, values = known[::2], known[1::2]
        return [values[keys.index(key)] for key in asked], [[2 * keys.index(key) + 1] for key in asked]
    order = {"copy": [*range(n)], "reverse": [*range(n)][::-1], "shift": [*range(1, n), 0]}[task]
    return [tokens[i] for i in order], [[i] for i in order]


def check_task(test, task, source, target, gold):
    if task == "dates":
        return check_date(test, source, target, gold)
    test.assertEqual((target.split(), gold["alignment"], gold["unit"]), (*answer(task, source.split()), "token"))


def check_date(test, source, target, gold):
    year, month, day = map(int, target.split("-"))
    test.assertEqual(target, datetime.date(year, month, day).isoformat())
    test.assertEqual((gold["unit"], len(gold["alignment"])), ("char", 10))
    picked = ["".join(source[i] for i in at) for at in gold["alignment"]]
    test.assertEqual("".join(picked[:4]), target[:4])
    test.assertEqual([picked[4], picked[7]], ["", ""])
    for word in re.findall("[A-Z][a-z]+", source):
        if word[:3] in WEEKDAYS:
            test.assertEqual(datetime.date(year, month, day).weekday(), WEEKDAYS.index(word[:3]))
        else:
            test.assertEqual(MONTHS.index(word[:3]) + 1, month)
            test.assertEqual(picked[5:7], [word, word])
    for first, number in ((5, month), (8, day)):
        if picked[first].isdigit():
            test.assertEqual("".join(picked[first:first + 2]), f"{number:02}" if number > 9
                             else f"{number}{number}")
            at = [i for p in gold["alignment"][first:first + 2] for i in p]
            test.assertRegex(source[min(at):max(at) + 1], rf"^{number}$")
            test.assertFalse(source[max(at) + 1:max(at) + 2].isdigit())
    used = [i for at in gold["alignment"] for i in at]
    test.assertTrue(all(at == sorted(at) for at in gold["alignment"]))
    test.assertTrue({i for i, c in enumerate(source) if c.isdigit()} <= set(used))


class Tasks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_every_task_has_true_alignments(self):
        for task, *options in (["copy"], ["reverse"], ["dates"], ["sort", "--alphabet", 9], ["shift"], ["recall"]):
            for line in make(task, self.folder.name, "--lines", 300, *options):
                check_task(self, task, *line)

    def test_addition_depends_on_its_alignment_alone(self):
        generator = random.Random(5)
        for source, target, gold in make("addition", self.folder.name, "--lines", 300):
            self.assertEqual(sum(map(int, source.split("+"))), int(target))
            self.assertEqual(len(gold["alignment"]), len(target))
            for place, at in enumerate(gold["alignment"]):
                self.assertEqual(at, sorted(set(at)))
                for _ in range(5):  # changing other digits must not change this one
                    changed = "".join(c if c == "+" or i in at else generator.choice("0123456789")
                                      for i, c in enumerate(source))
                    total = str(sum(map(int, changed.split("+")))).zfill(len(target))
                    self.assertEqual(total[place - len(target)], target[place], (source, changed))

    def test_lengths_alphabet_and_parts_are_as_requested(self):
        make_task, prefix = ROOT / "scripts/make_task.py", pathlib.Path(self.folder.name) / "r"
        run(make_task, "reverse", "--lines", 400, "--valid", 100, "--test", 100, "--min-length", 2,
            "--max-length", 5, "--test-max-length", 9, "--alphabet", 7, "--out", prefix)
        parts = {p: lines(f"{prefix}.{p}.source") for p in ("train", "valid", "test")}
        self.assertEqual({p: len(s) for p, s in parts.items()},
                         {"train": 400, "valid": 100, "test": 100})
        self.assertEqual(len(set(sum(parts.values(), []))), 600)
        spread = {p: {len(s.split()) for s in sources} for p, sources in parts.items()}
        self.assertEqual(spread["train"], {2, 3, 4, 5})
        self.assertEqual(spread["test"], set(range(2, 10)))
        self.assertLessEqual({t for s in parts["train"] for t in s.split()}, set("0123456"))
        self.assertFalse(pathlib.Path(f"{prefix}.train.gold.jsonl").exists())

    def test_impossible_requests_are_refused(self):
        prefix = pathlib.Path(self.folder.name) / "x"
        for options in (["copy", "--lines", 9, "--max-length", 2, "--alphabet", 2],
                        ["copy", "--min-length", 5, "--max-length", 4], ["copy", "--min-length", 0],
                        ["copy", "--lines", -1], ["knit"]):
            result = run(ROOT / "scripts/make_task.py", *options, "--out", prefix)
            self.assertNotEqual(result.returncode, 0, options)
            self.assertNotIn("Traceback", result.stderr)


class Splits(unittest.TestCase):
    """make_splits.py: what is tested on is put together otherwise than what is trained on."""

    def made(self, folder, *arguments):
        prefix = pathlib.Path(folder) / "x"
        result = run(ROOT / "scripts/make_splits.py", *arguments, "--out", prefix, "--valid", 50)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {part: [tuple(line.split("\t")) for line in lines(f"{prefix}.{part}.tsv")] for part in ("train", "valid", "test")}

    def test_own_commands_mean_what_they_say_and_no_test_line_is_trained_on(self):
        with tempfile.TemporaryDirectory() as folder:
            for kind in ("simple", "length-9", "jump"):
                parts = self.made(folder, "own", kind)
                learnt = parts["train"] + parts["valid"]
                self.assertEqual(len(parts["valid"]), 50)
                self.assertFalse(set(learnt) & set(parts["test"]))
                self.assertEqual(parts, self.made(folder, "own", kind))
                longest = max(len(target.split()) for _, target in learnt)
                if kind == "length-9":
                    self.assertEqual(longest, 9)
                    self.assertEqual(min(len(target.split()) for _, target in parts["test"]), 10)
                    self.assertEqual(dict(learnt)["wave east thrice"], "EAST WAVE EAST WAVE EAST WAVE")
                    self.assertEqual(dict(learnt)["rest west once done with spin again"], "SPIN SPIN WEST")
                if kind == "jump":
                    self.assertEqual({source for source, _ in learnt if "knock" in source}, {"knock"})
                    self.assertTrue(all("knock" in source for source, _ in parts["test"]))

    def test_public_files_are_read_and_others_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            scan, cogs = pathlib.Path(folder) / "tasks.txt", pathlib.Path(folder) / "cogs.tsv"
            scan.write_text("".join(f"IN: run {i} OUT: I_RUN I_RUN {i}\n" for i in range(100)))
            cogs.write_text("".join(f"A cat {i} .\tcat ( x {i} )\tkind{i % 3}\n" for i in range(100)))
            self.assertIn(("run 7", "I_RUN I_RUN 7"), sum(self.made(folder, "scan", scan, "simple").values(), []))
            self.assertEqual(self.made(folder, "cogs", cogs, cogs)["test"][4], ("A cat 4 .", "cat ( x 4 )"))
            self.assertEqual((pathlib.Path(folder) / "x.test.kinds").read_text().split()[:4], ["kind0", "kind1", "kind2", "kind0"])
            for arguments in (("scan", cogs, "simple"), ("cogs", scan, scan), ("scan", scan, "long"), ("own", "length-x"), ("scan", "none", "simple"),
                              ("scan", scan, "simple", "--valid", 999), ("scan", scan, "length-1")):
                result = run(ROOT / "scripts/make_splits.py", *arguments, "--out", pathlib.Path(folder) / "y")
                self.assertNotEqual(result.returncode, 0, arguments)
                self.assertNotIn("Traceback", result.stderr)
            self.assertEqual(list(pathlib.Path(folder).glob("y.*")), [])


if __name__ == "__main__":
    unittest.main()
