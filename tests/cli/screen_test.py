"""What a terminal of 60 or 80 columns shows: lines end between words, help has two columns, tables fit."""
import re
import unittest

from runs import SMALL, RunsTest, text
from terminal import CTRL_C, Terminal


class Screen(RunsTest):
    RUNS = {"run": {"family": "causal_lm", **SMALL}}

    def shown(self, *args, columns=60, status=0):
        t = Terminal(*args, cwd=self.folder, columns=columns, env={"NO_COLOR": "1"})
        self.addCleanup(t.close)
        exit, words = t.end()
        self.assertEqual(exit, status, words)
        return words

    def too_wide(self, words, columns):
        # A bar redraws its line; a command to copy stays whole.
        lines = [line.split("\r")[-1] for line in words.split("\n")]
        return [line for line in lines if len(line) > columns and not line.startswith("  heed ")]

    def test_help_has_two_columns_and_no_words_of_a_library(self):
        for command in ("train", "resume", "sample", "attend", "translate", "evaluate", "score"):
            for columns in (60, 80):
                words = self.shown(command, "--help", columns=columns)
                self.assertEqual(self.too_wide(words, columns), [], command)
                for foreign in ("INT", "UINT", "FLOAT", "REQUIRED", "Excludes", "{"):
                    self.assertNotIn(foreign, words)
            # The same words in a pipe.
            self.assertEqual(self.out(command, "--help").split(), words.split(), command)
        self.assertIn("\n  heed score RUN --file good --against bad\n", self.out("score", "--help"))
        self.assertIn("\n  --max-tokens N    how many tokens to write (default 200)\n", self.out("sample", "--help"))

    def test_a_training_an_evaluation_and_a_table_fit(self):
        (self.folder / "mine.txt").write_text(text(3000))
        self.config("c", **SMALL)
        for columns in (60, 80):
            words = self.shown("train", "mine.txt", "--stop-at", 4, "--force", "--verbose", columns=columns)
            self.assertEqual(self.too_wide(words, columns), [])
            self.assertEqual(words.count("gnorm: length of"), 1)
            for command in ("\n  heed train", "\n  heed resume runs/mine\n"):
                self.assertIn(command, words)
            for args in (("evaluate", "run"), ("inspect", "run"), ("sample", "nowhere"), ("ablate", "run"), ("--help",), ("runs", "."),
                         ("score", "run", "the old mill", "--tokens"), ("gradcheck", "c.json"), ("verify", "run"),
                         ("bench", "c.json", "--steps", 2), ("neighbors", "run", "a")):
                words = self.shown(*args, columns=columns, status=4 if "nowhere" in args else 0)
                self.assertEqual(self.too_wide(words, columns), [], args)
        self.assertIn("better than ", self.out("evaluate", "run"))

    def rows(self, words):
        lines = [line.split("\r")[-1] for line in words.split("\n")]  # a bar redraws its line
        return [line for line in lines if re.match(r" *\d+s \| +[\d.]+ \|( +[\d.-]+ \|)? ", line)]

    def test_a_training_is_a_row_for_each_tenth_however_long_it_is(self):
        tiny = {**SMALL, "family": "causal_lm", "train__save_every": 0, "train__log_every": 1}
        for name, steps, validates, rows in (("long", 200, True, 10), ("bare", 37, False, 10), ("short", 5, True, 5)):
            data = {"train": "a.txt", "valid_fraction": 0.1 * validates}
            config = self.config(name, **{**tiny, "train__max_steps": steps, "data": data})
            for columns in (60, 80):
                words = self.shown("train", config, "--run", name, "--force", columns=columns)
                self.assertEqual(self.too_wide(words, columns), [])
                self.assertLessEqual(words.count("\n"), 26 + 5 * (columns == 60), words)
                self.assertEqual(len(self.rows(words)), rows, words)
                self.assertEqual("held out" in words, validates)
                self.assertNotIn("gnorm", words)
            whole = self.shown("train", config, "--run", name, "--force", "--verbose", columns=200)
            self.assertEqual(whole.count("gnorm"), steps + 1)
            log = (self.folder / name / "train.log").read_text()
            self.assertEqual(log.count("\nstep "), steps)
            self.assertNotIn("what it writes", whole + log)
            self.assertNotIn("Ctrl-C stops", log)
        words = self.shown("resume", "long", "--more", 20, "--stop-at", 210)
        self.assertEqual(len(self.rows(words)), 5, words)

    def test_a_training_without_a_known_end_goes_by_its_minutes(self):
        config = self.config("c", **{**SMALL, "family": "causal_lm", "optimizer": {"schedule": "constant"}, "train__max_steps": 0,
                                     "train__max_minutes": 0.02})
        words = self.shown("train", config, "--run", "minutes")
        self.assertIn("time is up", words)
        self.assertIn(len(self.rows(words)), range(2, 12), words)

    def test_ctrl_c_shows_where_a_training_stands(self):
        config = self.config("c", **{**SMALL, "train__max_steps": 10**7})
        t = Terminal("train", config, "--run", "stopped", cwd=self.folder)
        self.addCleanup(t.close)
        t.until("heed resume")
        t.until("[")
        t.type(CTRL_C)
        status, words = t.end()
        self.assertEqual(status, 130, words)
        self.assertEqual(len(self.rows(words)), 1, words)
        self.assertIn("\n  heed resume stopped\n", words)

    def test_columns_leave_a_table_in_their_order_and_long_cells_are_cut(self):
        for columns, headings in ((120, "tensor norm moved cosine gradient update at start shape"),
                                  (80, "tensor norm moved cosine update"), (60, "tensor norm moved")):
            rows = self.shown("inspect", "run", columns=columns).splitlines()
            self.assertTrue([row for row in rows if row.split() == headings.split()], (columns, rows))
        for columns in (60, 80):
            rows = self.shown("score", "run", "the old mill", "--tokens", columns=columns).splitlines()
            self.assertEqual(rows[1].split(), ["log-prob.", "token", "rank", "entropy", "expected"])
            self.assertEqual(len(rows), 2 + len("the old mill"))
        for name, text in (("refs", "one two three four\n" * 40), ("hyps", "one two three three\n" * 40)):
            (self.folder / name).write_text("".join(f"{i} {line}" for i, line in enumerate(text.splitlines(True))))
        words = self.shown("bleu", "hyps", "refs", "--to", "refs", columns=60)
        self.assertEqual(self.too_wide(words, 60), [])
        self.assertIn("difference  95 % interval\n", words)


if __name__ == "__main__":
    unittest.main()
