"""Prompts: on a terminal, commands without a text ask for texts one by one; keys, signals and errors there."""
import math
import os
import pty
import re
import signal
import subprocess
import unittest

from runs import HEED, SMALL, RunsTest
from terminal import BACKSPACE, CTRL_A, CTRL_C, CTRL_D, UP, Terminal

TEXT = {"family": "causal_lm", "objective__target_length": 16, **SMALL}


class Asking(Terminal):
    """A command on a terminal that asks for texts. `shown`: what it says before it asks for the first."""

    def __init__(self, test, command, *args, **kw):
        super().__init__(command, *args, cwd=test.folder, **kw)
        test.addCleanup(self.close)
        self.test, self.prompt = test, command + "> "
        self.shown = self.until(self.prompt)

    def tell(self, line):
        """What is shown between this line and the next question."""
        return self.answer(line, self.prompt)

    def ends(self, keys=CTRL_D, status=0):
        self.type(keys)
        self.test.assertEqual(self.end()[0], status, self.end()[1])


class Prompt(RunsTest):
    RUNS = {"text": TEXT, "masked": {"family": "masked_lm", "tokenizer": {"type": "word"}, **SMALL}, "pairs": {"family": "seq2seq", **SMALL}}

    def test_every_answer_is_that_of_the_same_text_as_an_argument(self):
        for command, run, options, lines in (
                ("sample", "text", ["--max-tokens", 30], ["the old"]),
                ("translate", "pairs", [], ["the old miller", "the mill"]),
                ("fill", "masked", ["--top-k", 2], ["the [MASK] saw", "[MASK]"]),
                ("attend", "masked", [], ["the old [MASK]", "mill"]),
                ("attend", "text", ["--layer", 0], ["the mill"]),
                ("neighbors", "masked", ["--top-k", 3], ["the - old + mill", "river"]),
                ("score", "text", ["--tokens", "--json"], ["the old", "he saw"]),
                ("score", "pairs", [], ["the old ||| old the"]),
                ("tokenize", "masked", [], ["the [MASK] old", "mill"]),
                ("tokenize", "text", ["--json"], ["the"])):
            with self.subTest(f"{command} {run}"):
                t = Asking(self, command, run, *options, env={"NO_COLOR": "1"})
                self.assertIn("Ctrl-D ends", t.shown)
                for line in lines:
                    alone = self.check(command, run, *options, *([line] if command != "neighbors" else line.split()))
                    answer = t.tell(line)
                    if command == "attend":  # how others are chosen differs here, and what the model expects is added
                        answer, alone.out = (re.split("others: |expected ", x)[0] for x in (answer, alone.out))
                    self.assertEqual(answer.split(), (alone.out + alone.err).split())  # of another width
                t.ends()

    def test_the_same_line_is_continued_in_another_way_with_the_next_seed(self):
        t = Asking(self, "sample", "text", "--max-tokens", 30, "--seed", 5)
        for line, seed in (("the", 5), ("the", 6), ("the", 7), ("", 8)):
            self.assertEqual(t.tell(line), self.out("sample", "text", line, "--max-tokens", 30, "--seed", seed))

    def test_settings_change_between_answers(self):
        t = Asking(self, "sample", "text", "--max-tokens", 30, env={"NO_COLOR": "1"})
        self.assertIn(":temperature VALUE", t.tell(":help"))
        self.assertEqual(t.tell(":temperature 0"), "temperature: 0\n")
        self.assertEqual(t.tell(":max-tokens 5"), "max-tokens: 5\n")
        self.assertEqual(t.tell("the"), self.out("sample", "text", "the", "--max-tokens", 5, "--temperature", 0))
        self.assertIn("heed: error: ", t.tell(":temperature warm"))
        self.tells(t.tell(":temprature 1"), "temprature")
        self.assertNotIn("can be set", t.tell(":)"))  # a text
        t.ends(":q\r")

    def test_a_head_is_chosen_at_the_prompt(self):
        t = Asking(self, "attend", "pairs", env={"NO_COLOR": "1"})
        for setting in (":kind cross", ":layer 0", ":head 1"):
            t.tell(setting)
        target = " (--target for another)"
        alone = self.out("attend", "pairs", "the", "--kind", "cross", "--layer", 0, "--head", 1).replace(target, "")
        self.assertEqual(t.tell("the").split("expected ")[0].split(), alone.split())
        t.tell(":head 9")
        self.tells(t.tell("the"), [":kind", "0 to 1"])
        self.assertIn("heed: error: ", t.tell(":head x"))
        for setting, of_all in (("kind", "all"), ("layer", "-1"), ("head", "-1")):
            self.assertEqual(t.tell(f":{setting} {of_all}"), f"{setting}: {of_all}\n")
        whole = t.tell("the").splitlines()
        every = self.out("attend", "pairs", "the").replace(target, "").splitlines()[:-1]
        self.assertEqual(" ".join(whole[:-2]).split(), " ".join(every).split())
        self.assertEqual(whole[-2], "others: :kind, :layer and :head; all: :html FILE")
        self.assertIn("heed: error: ", t.tell(":max-tokens all"))
        self.assertIn("all, encoder, decoder,", t.tell(":help"))
        t.ends("exit\r")
        t = Asking(self, "attend", "text", env={"NO_COLOR": "1"})
        t.tell(":kind cross")
        self.assertIn("no such attention", t.tell("the"))

    def test_each_text_is_told_what_the_model_expected_next(self):
        expected, = (line["alternatives"][-1] for line in self.json("score", "text", "the mill", "--tokens"))
        expected = ", ".join(f"“{e['token']}” {100 * math.exp(e['logprob']):.0f} %" for e in expected)
        for run, text, last in (("text", "the mil", "expected next: " + expected), ("pairs", "the old", "expected next: “"),
                                ("masked", "the [MASK]", "others: ")):  # heed fill says it
            line = Asking(self, "attend", run, columns=200).tell(text).splitlines()[-1]
            self.assertTrue(line.startswith(last), line)

    def test_a_page_follows_the_prompt(self):
        t, page = Asking(self, "attend", "pairs", columns=200), self.folder / "page.html"
        for wrong in (":html -", ":html no/page.html"):
            t.tell(wrong)
            self.assertIn("heed: error: ", t.tell("the"))
        t.tell(":html page.html")
        for text in ("the old miller", "the old"):
            self.assertIn("expected next: ", t.tell(text))
            data = self.page(page.read_text())
            self.assertEqual((data["opening"]["text"], data["reloads"]), (text, True))
        t.ends()
        self.check("attend", "pairs", "the", "--html", "page.html")
        self.assertIn('"reloads":false', page.read_text())

    def test_an_error_in_a_text_is_printed_and_the_next_text_is_asked_for(self):
        """And an empty line is told what to type."""
        for command, run, wrong, words in (("sample", "text", "z\u00e9", "\u00e9"), ("fill", "masked", "the old", "has no [MASK]"),
                                           ("attend", "pairs", "\u00e9", "\u00e9"), ("neighbors", "masked", "the +", "analogy"),
                                           ("score", "pairs", "the old", "|||")):
            with self.subTest(command):
                t = Asking(self, command, run)
                if command not in ("sample", "neighbors"):
                    self.assertEqual(t.tell(""), t.shown.partition("\n")[0] + "\n")
                answer = t.tell(wrong)
                self.assertIn("heed: error: ", answer)
                self.assertIn(words, answer)
                self.assertNotIn("heed ", answer)  # nothing that cannot be typed here
                self.assertNotIn("--", t.tell(":help") + t.tell(":top-k x"))
                t.ends()

    def test_a_line_can_be_edited_and_is_remembered(self):
        for env in ({}, {"LC_ALL": "C", "LANG": "C"}):
            t = Asking(self, "tokenize", "text", env=env)
            for keys, shown in (("mull" + BACKSPACE * 3 + "ill" + CTRL_A + "a ", "a \u2581 m i l l\n"), ("old", "o l d\n"),
                                (UP + UP, "a \u2581 m i l l\n"),
                                ("\u00e9\u6f22" + BACKSPACE * 2 + "he", "h e\n")):  # whole characters, whatever the system's locale
                self.assertEqual(t.tell(keys), shown)
            self.tells(t.tell("\u6f22"), ["1", "'\u6f22'"])

    def test_a_line_wider_than_the_terminal_is_read_whole(self):
        t = Asking(self, "tokenize", "masked", columns=40)
        line = "the old miller walked " * 8 + "home"
        t.type(line + "\r")
        self.assertTrue(t.until("unknown token: 'home'").endswith(line.replace("home", "<unk>") + "\nread as <unk>: 1 "))

    def test_a_signal_ends_it_while_it_asks_and_while_it_answers(self):
        for sent, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)):
            for text in ("", "the old mill"):
                t = Asking(self, "sample", "text", "--max-tokens", 100_000_000)
                if text:
                    t.type(text + "\r")
                    t.until(text + "\n" + text)
                if sent != signal.SIGINT:
                    os.kill(t.pid, sent)
                t.ends(CTRL_C if sent == signal.SIGINT else "", status)

    def test_there_is_no_prompt_if_input_or_output_is_a_pipe(self):
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        self.addCleanup(os.close, follower)
        piped = subprocess.run([HEED, "sample", "text", "--max-tokens", "5"], stdin=follower, capture_output=True,
                               text=True, cwd=self.folder, timeout=60)
        self.assertEqual((piped.returncode, piped.stdout), (0, self.out("sample", "text", "", "--max-tokens", 5)))
        read = subprocess.run([HEED, "tokenize", "text"], stdin=subprocess.DEVNULL, stdout=follower, cwd=self.folder)
        self.assertEqual(read.returncode, 0)

    def test_words_need_no_quotes_and_options_may_stand_among_them(self):
        for command, run, text, *options in (("translate", "pairs", "the old mill", "--beam-size", 2), ("tokenize", "text", "the old mill", "--ids"),
                                             ("attend", "text", "the old mill", "--layer", 0), ("fill", "masked", "[MASK] old [MASK]", "--top-k", 2)):
            quoted = self.out(command, run, text, *options)
            first, *others = text.split()
            self.assertEqual(self.out(command, run, first, *options, *others), quoted)
            self.assertEqual(self.out(command, *options, run, "--", first, *others), quoted)
        self.assertEqual(self.out("tokenize", "masked", "the", "--", "-x").split(), ["the", "<unk>"])


if __name__ == "__main__":
    unittest.main()
