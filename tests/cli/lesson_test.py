"""docs/lesson.md is right to its last digit: its models are trained by its own commands, and what they show stands in its text.

`heed train mine.txt`, which depends on time, is left out. The model of the fables takes two minutes, so it is looked into only
if HEED_FABLES names its run: HEED_FABLES=runs/quickstart HEED_BINARY=build/heed python3 tests/cli/lesson_test.py"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from runs import HEED, RunsTest

ROOT = Path(__file__).resolve().parents[2]
LESSON = (ROOT / "docs/lesson.md").read_text()
NODE = shutil.which("node") or shutil.which("nodejs")
FABLES = os.environ.get("HEED_FABLES")
TEXT = " ".join(LESSON.split())
TRAINED = ("heed train reverse --run runs/film", "heed train reverse --run runs/even --set model.attention.cross.uniform=true",
           "heed train noun", "heed train induction")
GOLD = "scripts/gold.py runs/noun --file data/noun.txt --gold data/noun.gold.jsonl | tail -n 1"


def percent(share):
    return f"{100 * share:.0f}"


class OfTheLesson(RunsTest):
    """A test has all runs that the lesson trains, in its folder."""
    trained = None  # the folder in which they were trained

    def setUp(self):
        super().setUp()
        shutil.copytree(self.trained or self.train_all(), self.folder, symlinks=True, dirs_exist_ok=True)

    def train_all(self):
        folder = Path(tempfile.mkdtemp(prefix="heed_test_"))
        unittest.addModuleCleanup(shutil.rmtree, folder)
        for name in ("configs", "data", "scripts"):
            (folder / name).symlink_to(ROOT / name)
        (folder / "bin").mkdir()
        (folder / "bin/heed").symlink_to(Path(shutil.which(HEED)).resolve())
        for command in TRAINED:
            self.shown(command, folder)
        if FABLES:
            (folder / "runs/quickstart").symlink_to(Path(FABLES).resolve())
        OfTheLesson.trained = folder
        return folder

    def shown(self, command, folder=None):
        """What a command of the lesson prints."""
        self.assertIn(f"\n{command}\n", LESSON)
        bin = (folder or self.folder) / "bin"
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=bin.parent, capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{bin}:{os.environ['PATH']}", "HEED_BINARY": str(bin / "heed")})
        self.assertEqual(done.returncode, 0, done.stderr)
        return " ".join(done.stdout.split())


class Lesson(OfTheLesson):
    def setUp(self):
        super().setUp()
        if "portable arithmetic: available" not in self.out("--version"):
            self.skipTest("portable arithmetic is not available here")

    def says(self, *sentences):
        for sentence in sentences:
            with self.subTest(sentence):
                self.assertTrue(sentence in TEXT, "docs/lesson.md does not say so")

    def shows(self, command, *quotes):
        """A command prints words that the lesson quotes."""
        shown = self.shown(command)
        for quote in quotes:
            self.assertIn(quote, shown)
            self.says(quote)

    def film(self, run):
        """What the page of a run shows: {step: frame}, and, for each step, what the model wrote after the text that the lesson
        quotes; and the right answer."""
        data = self.page((self.folder / run / "report.html").read_text())
        frames = {frame["step"]: frame for frame in data["frames"]}
        quoted, = [n for n, prompt in enumerate(data["prompts"]) if f"For `{prompt.strip()}` it writes" in TEXT]
        return frames, {step: frame["written"][quoted] for step, frame in frames.items()}, data["expected"][quoted]

    def test_1_a_model_learns_to_look(self):
        frames, wrote, right = self.film("runs/film")
        begins = {step: " ".join(words.split()[:4]) for step, words in wrote.items()}
        self.says(f"it writes `{begins[0]}` and so on before training, `{begins[8]}` at step 8, and at step 128 `{wrote[128]}`, which is right")
        self.assertEqual(wrote[128], right)
        wrong = [str(step) for step in wrote if step > 128 and wrote[step] != right]
        self.says(f"(at step{'s' * (len(wrong) > 1)} {' and '.join(wrong)} it errs once more)")
        looks = {step: re.findall(r"the word it is about to write in this text \((\d\.\d\d)", " ".join(frames[step]["words"]["cross"]))
                 for step in (64, 200, 1000)}
        early, later, end = [" and ".join(percent(float(share)) for share in looks[step]) for step in looks]
        self.says(f"with {early} % of their attention at step 64 (the page writes {looks[64][0]}), with {later} % at step 200, and "
                  f"with {end} % at the end")
        self.shows("heed attend runs/film 3 17 9 12 5", "mostly the word it is about to write, 99 % (17 %)")

    def test_2_take_the_choice_away(self):
        exact = [float(re.search(r"exact match ([\d.]+) %", self.shown(f"heed evaluate runs/{run} --bleu | grep exact"))[1])
                 for run in ("film", "even")]
        self.says("{:g} % are exact with the choice, {:g} % without it".format(*exact))
        self.assertEqual(self.shown("heed translate runs/film 11 12 13 14 15 16 17 18 19"), "19 18 17 16 15 14 13 12 11")
        long = self.shown("heed translate runs/even 11 12 13 14 15 16 17 18 19")
        self.says(f"Of `11 12 13 14 15 16 17 18 19` it makes `{long}`: it begins well and then mixes two numbers up")
        self.assertEqual(self.shown("heed translate runs/even 3 17 9 12 5"), "5 12 9 17 3")
        self.assertIn("cross, layer 0, head 0: spread widely, 17 % (17 %)", self.shown("heed attend runs/even 3 17 9 12 5"))
        self.says("faint grey everywhere, 17 % each")

    def near(self, words):
        """The tokens nearest to words, with their likeness, as the lesson writes them."""
        rows = self.shown(f"heed neighbors runs/quickstart {words}").removeprefix(words).split()
        return [f"{word.removeprefix('▁')} {likeness}" for likeness, word in zip(rows[::2], rows[1::2])]

    @unittest.skipUnless(FABLES, "no run of quickstart is given")
    def test_3_neighbours_and_what_heads_of_the_fables_do(self):
        fox, mother, he, queen = map(self.near, ("fox", "mother", "he", "king - man + woman"))
        self.says(f"*fox*: {', '.join(fox[:5])}. *mother*: {mother[0]}, and then nothing (the next has {mother[1].split()[1]}). "
                  f"*he*: {he[0]}. *king - man + woman*: {', '.join(queen[:2])}.")
        heads = self.shown("heed attend runs/quickstart The fox ate quickly, but the stork could only wet his long beak.")
        every, drawn = heads.split("the map of one:")
        nothing = ["Eight", "Nine", "Ten", "Eleven", "Twelve"][every.count("no simple pattern") - 8]
        (word, share), = re.findall(r"often one token, “▁(\w+)”, (\d+) %", drawn)
        self.says(f'{nothing} of the 16 heads there follow "no simple pattern"; the one that is drawn has {share} % on *{word}*')

    def test_4_who_is_he(self):
        line = "Alana , Belino and Aletus met by the river . at noon he"
        for noun, word in ("Belino", "he"), ("Alana", "she"):
            self.assertIn("decoder, layer 0, head 1: no simple pattern", self.shown(f"heed attend runs/noun {line[:-2]}{word} --layer 0 --head 1"))
            look, = self.json("attend", "runs/noun", line[:-2] + word, "--layer", 0, "--head", 1)
            row = look["decoder"][0][0][-1]
            self.assertEqual(look["target_tokens"][row.index(max(row))], noun)
            self.says(f"below *{noun}*")
        self.shows(f'echo "{line} painted ." | heed score runs/noun --tokens', "painted 100%")
        for pronoun, verb in ("he", "painted"), ("she", "sang"), ("it", "danced"):
            rows = self.out("score", "runs/noun", f"{line[:-2]}{pronoun} {verb} .", "--tokens")
            guessed = re.search(r"he \d+%  it \d+%  she \d+%", rows)[0].replace("  ", ", ")
            self.says(f'Before the pronoun: "{guessed}"', f'"{verb} 100%"')
            self.assertIn(f"{verb} 100%", rows)
        verdict = self.shown(GOLD)
        head, learnt, before = re.search(r"(layer \d, head \d) has learnt the links: ([\d.]+) %, untrained ([\d.]+) %", verdict).groups()
        self.assertEqual(head, "layer 0, head 1")
        self.says(f"the head has {float(learnt):.0f} % of its attention on the right noun, and had {float(before):.0f} % before training")
        if NODE:
            self.shown(f"heed explain noun {line} --html noun.html")
            asked = {"text": line, "target": "", "written": [], "row": None, "answer": None, "against": None, "temperature": 1}
            lines = [json.dumps(["answer", {**asked, "off": off}]) for off in ([], ["decoder.0.1"], ["decoder.0.0"])]
            done = subprocess.run([NODE, ROOT / "tests/cli/live_model.js", self.folder / "noun.html"], input="\n".join(lines),
                                  capture_output=True, text=True, check=True)
            whole, without, other = [json.loads(answer)["next"] for answer in done.stdout.splitlines()]
            self.says(f"The page expects *{whole[0]['piece']}* with {100 * whole[0]['p']:.1f} %",
                      "switch it off: " + ", ".join(f"*{word['piece']}* {100 * word['p']:.1f} %" for word in without[:3]))
            self.assertEqual(other[0]["piece"], "painted")

    def test_5_this_i_have_seen_before(self):
        rows = self.out("score", "runs/induction", *"5 17 9 33 41 12 50 7 5 17 9 33 41 12 50 7".split(), "--tokens").splitlines()[1:]
        best = [re.split(r"\t| {2,}", row.strip())[4].split() for row in rows]
        guesses = [int(share.rstrip("%")) for _, share in best]
        self.says(f"its best guess has {min(guesses[:8])} to {max(guesses[:8])} %",
                  "{} with {} %, {} with {} %, {} with {} %, {} with {} %".format(*(x for row in best[9:13] for x in (row[0], row[1][:-1]))))
        self.shows("heed attend runs/induction 5 17 9 33 41 5 17 9 33 41 --names", "mostly the token after an earlier copy")
        frames = {frame["step"]: frame for frame in self.page((self.folder / "runs/induction/report.html").read_text())["frames"]}
        heads = {step: sum(head["name"] == "induction" for head in frame["heads"]) for step, frame in frames.items()}
        first = min(step for step in heads if heads[step])
        before = max(step for step in heads if step < first)
        self.says(f"at step {before} there are none, at step {first} {['one', 'two', 'three', 'four'][heads[first] - 1]}")
        writes = {step: frame["written"][0].split() for step, frame in frames.items()}
        self.says("at step 128 with any numbers, `{}`".format(" ".join(writes[128][:4])),
                  "at step 200 with `{}`".format(" ".join(writes[200][:7])), "at the end with `{}`".format(" ".join(writes[400][:8])))


class Handout(unittest.TestCase):
    def test_commands_stay_open_and_pictures_do_not(self):
        sys.path.insert(0, str(ROOT / "scripts"))
        import lesson
        page = lesson.folded("<p><strong>What one sees.</strong> A line.</p><figure><svg>drawn</svg></figure>"
                             "<p>And now:</p>\n<pre>heed sample</pre><p><strong>Question.</strong> <em>Why?</em> Because.</p><h2>Next</h2>")
        shut = re.findall("<details.*?</details>", page, re.S)
        self.assertIn("<svg>drawn</svg></figure></details>", shut[0])
        self.assertIn("<em>Why?</em></summary><p>Because.</p></details>", shut[1])
        self.assertEqual(re.sub("<.*?>", "", re.sub('(?s)<details.*?</details>|<div class="blank">.*?</div>', "", page)).split(),
                         "And now: heed sample Next".split())
        self.assertRegex(page, 'class="blank">.*<svg>drawn</svg></div>')  # whose cells the style empties
        self.assertRegex(lesson.LOOK, r"\.blank \.cell \{ fill: none;")


class Learnt(OfTheLesson):
    """On any machine."""

    def test_reversing_is_learnt_and_who_he_is(self):
        found, = self.json("evaluate", "runs/film", "--file", ROOT / "data/reverse.test.source", "--target-file",
                           ROOT / "data/reverse.test.target", "--bleu", "--beam-size", 1)
        self.assertGreater(found["exact_match"], 99)
        self.assertIn("has learnt the links", self.shown(GOLD))

    def test_heads_get_names_as_they_learn_induction(self):
        shutil.copytree(self.folder / "runs/induction", self.folder / "run", symlinks=True)
        frames = self.film()[1]
        self.assertEqual(frames[0]["heads"], [])  # untrained
        last = frames[-1]["heads"]
        for name, layer in ("previous token", 0), ("induction", 1):
            self.assertEqual({h["layer"] for h in last if h["name"] == name}, {layer})
        for head in last:
            self.assertGreaterEqual(head["score"], 0.3)
            for control in ("untrained", "shuffled"):
                self.assertGreater(head["score"], head[control] + 0.1)
        attend = ["attend", "run", "--checkpoint", "last", "5 17 9"]
        a, = self.json(*attend, "--names")
        self.assertEqual((a["named_at"], a["head_names"]), (frames[-1]["step"], last))
        self.assertNotIn("head_names", self.json(*attend)[0])
        self.assertRegex(self.out(*attend, "--names"), r"decoder, layer 1, head \d +induction( +0\.\d+){3}")
        for layer, head in (0, None), (1, last[-1]["head"]):
            chosen, = self.json(*attend, "--names", "--layer", layer, *([] if head is None else ["--head", head]))
            self.assertEqual(chosen["head_names"], [h for h in last if h["layer"] == layer and head in (None, h["head"])])
        self.out("report", "run", "--html", "page.html")
        data = self.page((self.folder / "page.html").read_text())
        self.assertEqual([h["name"] for h in data["frames"][-1]["heads"]], [h["name"] for h in last])
        film = self.folder / "run" / "film.jsonl"
        lines = film.read_text().splitlines()
        broken = {**json.loads(lines[-1]), "heads": [{}]}
        film.write_text("\n".join([*lines[:-1], json.dumps(broken)]) + "\n")
        self.assertIn("film.jsonl", self.check("verify", "run", status=4).out)
        self.out(*attend, "--names")
        film.unlink()
        self.assertIn("no record", self.out(*attend, "--names"))


if __name__ == "__main__":
    unittest.main()
