"""Prompts: on a terminal, commands without a text ask for texts one by one; keys, signals and errors there."""
import json
import math
import os
import pty
import re
import signal
import subprocess
import unittest

from runs import HEED, SMALL, RunsTest
from terminal import BACKSPACE, CTRL_A, CTRL_C, CTRL_D, UP, Terminal

WORD = {"tokenizer": {"type": "word"}, **SMALL}
TEXT = {"family": "causal_lm", "objective__target_length": 16, **SMALL}
PAIRS = {"family": "seq2seq", **SMALL}


class Prompt(RunsTest):
    RUNS = {"text": TEXT, "masked": {"family": "masked_lm", **WORD}, "pairs": PAIRS}

    def terminal(self, *args, **kw):
        terminal = Terminal(*args, cwd=self.folder, **kw)
        self.addCleanup(terminal.close)
        return terminal

    def ends(self, terminal, status=0):
        self.assertEqual(terminal.end()[0], status, terminal.end()[1])

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
                prompt = command + "> "
                t = self.terminal(command, run, *options, env={"NO_COLOR": "1"})
                shown = t.until(prompt)
                self.assertIn("Ctrl-D ends", shown)
                for line in lines:
                    alone = self.check(command, run, *options, *([line] if command != "neighbors" else line.split()))
                    answer = t.answer(line, prompt)
                    if command == "attend":  # how others are chosen differs here, and what the model expects is added
                        answer, alone.out = (re.split("others: |expected ", x)[0] for x in (answer, alone.out))
                    self.assertEqual(answer.split(), (alone.out + alone.err).split())  # of another width
                t.type(CTRL_D)
                self.ends(t)

    def test_the_same_line_is_continued_in_another_way_with_the_next_seed(self):
        t = self.terminal("sample", "text", "--max-tokens", 30, "--seed", 5)
        t.until("sample> ")
        for seed in (5, 6, 7):
            self.assertEqual(t.answer("the", "sample> "), self.out("sample", "text", "the", "--max-tokens", 30, "--seed", seed))
        self.assertEqual(t.answer("", "sample> "), self.out("sample", "text", "", "--max-tokens", 30, "--seed", 8))

    def test_settings_change_between_answers(self):
        t = self.terminal("sample", "text", "--max-tokens", 30, env={"NO_COLOR": "1"})
        prompt = "sample> "
        t.until(prompt)
        self.assertIn(":temperature VALUE", t.answer(":help", prompt))
        self.assertEqual(t.answer(":temperature 0", prompt), "temperature: 0\n")
        self.assertEqual(t.answer(":max-tokens 5", prompt), "max-tokens: 5\n")
        greedy = self.out("sample", "text", "the", "--max-tokens", 5, "--temperature", 0)
        self.assertEqual(t.answer("the", prompt), greedy)
        self.assertIn("heed: error: ", t.answer(":temperature warm", prompt))
        self.tells(t.answer(":temprature 1", prompt), "temprature")
        self.assertNotIn("can be set", t.answer(":)", prompt))  # a text
        t.type(":q\r")
        self.ends(t)

    def test_a_head_is_chosen_at_the_prompt(self):
        t = self.terminal("attend", "pairs", env={"NO_COLOR": "1"})
        prompt = "attend> "
        t.until(prompt)
        t.answer(":kind cross", prompt)
        t.answer(":layer 0", prompt)
        t.answer(":head 1", prompt)
        target = " (--target for another)"
        alone = self.out("attend", "pairs", "the", "--kind", "cross", "--layer", 0, "--head", 1).replace(target, "")
        self.assertEqual(t.answer("the", prompt).split("expected ")[0].split(), alone.split())
        t.answer(":head 9", prompt)
        self.tells(t.answer("the", prompt), [":kind", "0 to 1"])
        self.assertIn("heed: error: ", t.answer(":head x", prompt))
        for setting, of_all in (("kind", "all"), ("layer", "-1"), ("head", "-1")):
            self.assertEqual(t.answer(f":{setting} {of_all}", prompt), f"{setting}: {of_all}\n")
        whole = t.answer("the", prompt).splitlines()
        every = self.out("attend", "pairs", "the").replace(target, "").splitlines()[:-1]
        self.assertEqual(" ".join(whole[:-2]).split(), " ".join(every).split())
        self.assertEqual(whole[-2], "others: :kind, :layer and :head; all: :html FILE")
        self.assertIn("heed: error: ", t.answer(":max-tokens all", prompt))
        self.assertIn("all, encoder, decoder,", t.answer(":help", prompt))
        t.type("exit\r")
        self.ends(t)
        t = self.terminal("attend", "text", env={"NO_COLOR": "1"})
        t.until(prompt)
        t.answer(":kind cross", prompt)
        self.assertIn("no such attention", t.answer("the", prompt))
        t.type("exit\r")
        self.ends(t)

    def test_each_text_is_told_what_the_model_expected_next(self):
        expected, = (line["alternatives"][-1] for line in self.json("score", "text", "the mill", "--tokens"))
        expected = ", ".join(f"“{e['token']}” {100 * math.exp(e['logprob']):.0f} %" for e in expected)
        for run, text, last in (("text", "the mil", "expected next: " + expected), ("pairs", "the old", "expected next: “"),
                                ("masked", "the [MASK]", "others: ")):  # heed fill says it
            t = self.terminal("attend", run, columns=200)
            t.until("attend> ")
            line = t.answer(text, "attend> ").splitlines()[-1]
            self.assertTrue(line.startswith(last), line)
            t.type(CTRL_D)
            self.ends(t)

    def test_a_page_follows_the_prompt(self):
        t = self.terminal("attend", "pairs", columns=200)
        prompt, page = "attend> ", self.folder / "page.html"
        t.until(prompt)
        for wrong in (":html -", ":html no/page.html"):
            t.answer(wrong, prompt)
            self.assertIn("heed: error: ", t.answer("the", prompt))
        t.answer(":html page.html", prompt)
        for text in ("the old miller", "the old"):
            self.assertIn("expected next: ", t.answer(text, prompt))
            data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.S).group(1))
            self.assertEqual((data["opening"]["text"], data["reloads"]), (text, True))
        t.type(CTRL_D)
        self.ends(t)
        self.check("attend", "pairs", "the", "--html", "page.html")
        self.assertIn('"reloads":false', page.read_text())

    def test_an_error_in_a_text_is_printed_and_the_next_text_is_asked_for(self):
        for command, run, wrong, words in (("sample", "text", "z\u00e9", "\u00e9"),
                                           ("fill", "masked", "the old", "has no [MASK]"),
                                           ("attend", "pairs", "\u00e9", "\u00e9"),
                                           ("neighbors", "masked", "the +", "analogy"),
                                           ("score", "pairs", "the old", "|||")):
            with self.subTest(command):
                t = self.terminal(command, run)
                t.until(command + "> ")
                answer = t.answer(wrong, command + "> ")
                self.assertIn("heed: error: ", answer)
                self.assertIn(words, answer)
                self.assertNotIn("heed ", answer)  # nothing that cannot be typed here
                said = t.answer(":help", command + "> ") + t.answer(":top-k x", command + "> ")
                self.assertNotIn("--", said)
                t.type(CTRL_D)
                self.ends(t)

    def test_an_empty_line_is_told_what_to_type(self):
        for command, run in (("score", "text"), ("attend", "pairs"), ("fill", "masked"), ("translate", "pairs")):
            with self.subTest(command):
                t = self.terminal(command, run)
                asked = t.until("\n")
                t.until(command + "> ")
                self.assertEqual(t.answer("", command + "> "), asked + "\n")

    def test_a_line_can_be_edited_and_is_remembered(self):
        for env in ({}, {"LC_ALL": "C", "LANG": "C"}):
            t = self.terminal("tokenize", "text", env=env)
            t.until("tokenize> ")
            self.assertEqual(t.answer("mull" + BACKSPACE * 3 + "ill" + CTRL_A + "a ", "tokenize> "), "a \u2581 m i l l\n")
            self.assertEqual(t.answer("old", "tokenize> "), "o l d\n")
            self.assertEqual(t.answer(UP + UP, "tokenize> "), "a \u2581 m i l l\n")
            # Whole characters, whatever the system's locale.
            self.assertEqual(t.answer("\u00e9\u6f22" + BACKSPACE * 2 + "he", "tokenize> "), "h e\n")
            self.tells(t.answer("\u6f22", "tokenize> "), ["1", "'\u6f22'"])

    def test_a_line_wider_than_the_terminal_is_read_whole(self):
        t = self.terminal("tokenize", "masked", columns=40)
        t.until("tokenize> ")
        line = "the old miller walked " * 8 + "home"
        t.type(line + "\r")
        self.assertTrue(t.until("unknown token: 'home'").endswith(line.replace("home", "<unk>") + "\nread as <unk>: 1 "))

    def test_a_signal_ends_it_while_it_asks_and_while_it_answers(self):
        for sent, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)):
            for text in ("", "the old mill"):
                t = self.terminal("sample", "text", "--max-tokens", 100_000_000)
                t.until("sample> ")
                if text:
                    t.type(text + "\r")
                    t.until(text + "\n" + text)
                t.type(CTRL_C) if sent == signal.SIGINT else os.kill(t.pid, sent)
                self.ends(t, status)

    def test_there_is_no_prompt_if_input_or_output_is_a_pipe(self):
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        self.addCleanup(os.close, follower)
        piped = subprocess.run([HEED, "sample", "text", "--max-tokens", "5"], stdin=follower, capture_output=True,
                               text=True, cwd=self.folder, timeout=60)
        self.assertEqual((piped.returncode, piped.stdout), (0, self.out("sample", "text", "", "--max-tokens", 5)))
        read = subprocess.run([HEED, "tokenize", "text"], stdin=subprocess.DEVNULL, stdout=follower, cwd=self.folder)
        self.assertEqual(read.returncode, 0)


class TextArgument(RunsTest):
    RUNS = {"text": TEXT, "masked": {"family": "masked_lm", **WORD}, "pairs": PAIRS}

    def test_words_need_no_quotes_and_options_may_stand_among_them(self):
        for command, run, text, *options in (("sample", "text", "the old mill", "--max-tokens", 9),
                                             ("translate", "pairs", "the old mill", "--beam-size", 2),
                                             ("tokenize", "text", "the old mill", "--ids"),
                                             ("score", "text", "the old mill", "--tokens"),
                                             ("attend", "text", "the old mill", "--layer", 0),
                                             ("fill", "masked", "[MASK] old [MASK]", "--top-k", 2)):
            with self.subTest(command):
                quoted = self.out(command, run, text, *options)
                first, *others = text.split()
                self.assertEqual(self.out(command, run, first, *options, *others), quoted)
                self.assertEqual(self.out(command, *options, run, "--", first, *others), quoted)

    def test_it_is_what_a_line_of_a_file_or_of_a_pipe_gives(self):
        (self.folder / "line").write_text("the old\n")
        (self.folder / "masks").write_text("[MASK] old\n")
        for command, run, text, file in (("sample", "text", "the old", "line"), ("translate", "pairs", "the old", "line"),
                                         ("score", "text", "the old", "line"), ("tokenize", "text", "the old", "line"),
                                         ("attend", "text", "the old", "line"), ("neighbors", "masked", "the old", "line"),
                                         ("fill", "masked", "[MASK] old", "masks")):
            with self.subTest(command):
                alone = self.out(command, run, text)
                self.assertEqual(self.out(command, run, "--file", file), alone)
                self.assertEqual(self.out(command, run, "--file", "-", stdin=text + "\n"), alone)
                self.assertEqual(self.out(command, run, stdin=text + "\n"), alone)
                self.check(command, run, text, "--file", file, status=2, facts=["TEXT", "--file"])

    def test_a_pair_is_scored_as_from_files(self):
        (self.folder / "s").write_text("the old\n")
        (self.folder / "t").write_text("old the\n")
        self.assertEqual(self.json("score", "pairs", "the old ||| old the"),
                         self.json("score", "pairs", "--file", "s", "--target-file", "t"))
        self.assertEqual(self.json("score", "pairs", stdin="the old ||| old the\n"),
                         self.json("score", "pairs", "the old", "--target", "old the"))

    def test_what_looks_like_an_option_may_be_a_text(self):
        self.assertEqual(self.out("tokenize", "masked", "the", "--", "-x").split(), ["the", "<unk>"])


if __name__ == "__main__":
    unittest.main()
