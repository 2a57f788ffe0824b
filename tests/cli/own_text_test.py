"""heed train TEXT: training without a config."""
import subprocess
import unittest
from pathlib import Path

from runs import DATA, HEED, USAGE, RunsTest, said, text
from terminal import CTRL_D, Terminal

# A tiny model, so that a start takes no time.
TINY = ["--minutes", 0.02, "--threads", 1, "--set", "model.d_model=16", "--set", "model.n_heads=2",
        "--set", "model.d_ff=16"]


class OwnText(RunsTest):
    def put(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def start(self, *args, status=0, **kw):
        return self.check("train", *args, *TINY, status=status, **kw)

    def test_a_text_trains_at_once_and_ends_with_a_sample_a_page_and_commands(self):
        self.put("mine.txt", text(2000))
        r = self.start("mine.txt", facts=["mine.txt", "gpt", "runs/mine", "runs/mine/report.html", "heed sample runs/mine", "heed resume runs/mine"])
        self.assertIn(f"--more {self.steps('runs/mine')[-1] // 2}\n", r.err)
        self.assertIn("</html>", (self.folder / "runs/mine/report.html").read_text())
        log = (self.folder / "runs/mine/train.log").read_text()
        for line in ("text: mine.txt", "steps: "):
            self.assertIn(line, log)
        c = self.run_config("runs/mine")
        self.assertEqual((c["objective"]["type"], c["tokenizer"]["type"]), ("causal_lm", "char"))
        self.assertEqual(c["train"]["patience"], 0)  # the rate falls at the end, which helps
        self.assertLessEqual(c["optimizer"]["warmup_steps"], c["train"]["max_steps"] / 10)

    def test_the_command_it_prints_repeats_the_bytes(self):
        self.put("mine.txt", text(2000))
        with open(self.put("other.txt", text(1500, seed=3))) as piped:
            for args, run, stdin in ((["mine.txt"], "runs/mine", None), (["-"], "runs/stdin", piped)):
                r = subprocess.run([HEED, "train", *args, *map(str, TINY), "--stop-at", "30"], stdin=stdin,
                                   capture_output=True, text=True, cwd=self.folder)
                self.assertEqual(r.returncode, 0, r.stderr)
                again = r.stderr.split("to repeat it byte for byte:\n  heed ")[1].splitlines()[0].split()
                self.check(*again, "--stop-at", 30, "--threads", 2)
                self.same_checkpoint(run, run + "-again", self.steps(run)[-1])

    def test_a_run_on_standard_input_moves_with_its_text(self):
        r = self.start("-", "--stop-at", 5, stdin=text(1000))
        self.assertEqual((self.folder / "runs/stdin/text.txt").read_text(), text(1000))
        (self.folder / "runs/stdin").rename(self.folder / "moved")
        self.resume("moved", facts=said("resuming", 5))
        self.check("verify", "moved")
        (self.folder / "best_model").symlink_to("moved/checkpoints/last")
        self.check("evaluate", "best_model")
        r = subprocess.run([HEED, "train", "-", "--run", "bad", "--set", "tokenizer.type=char"],
                           input=b"caf\xe9", capture_output=True, cwd=self.folder)
        self.tells(r.stderr.decode(errors="replace"), ["standard input:1", "UTF-8"])
        self.check("train", "-", status=DATA, facts="standard input")
        for command in (["train", "-", "a.txt"], ["init", "-"]):
            self.check(*command, status=USAGE, facts="heed train")

    def test_a_terminal_is_told_how_its_text_ends(self):
        t = Terminal("train", "-", *TINY, "--stop-at", 1, cwd=self.folder, columns=200)
        t.until("type or paste the text; Ctrl-D")
        t.type(text(40) + "\n" + CTRL_D)
        t.until("text: standard input")
        self.assertEqual(t.end()[0], 0)
        t.close()

    def test_each_family_trains_on_a_text(self):
        self.put("mine.txt", text(1500))
        for like, objective in (("prefix_lm", "prefix_lm"), ("bert", "masked_lm"), ("t5", "span_corruption")):
            with self.subTest(like):
                self.start("mine.txt", "--like", like, "--run", like, facts=like)
                self.assertEqual(self.run_config(like)["objective"]["type"], objective)
        pieces = ["--set", "tokenizer.type=bpe", "--set", "tokenizer.vocab_size=320"]
        for like, run, options in (("bert", "pieces", pieces), ("bert", "characters", []), ("t5", "spans", pieces)):
            r = self.start("mine.txt", "--like", like, "--run", run, *options, facts=["›so‹", f"heed fill {run}"] if like == "bert" else "›so‹")
            filled = r.err.split("›so‹ in its masks:\n")[1].split("the whole story")[0]
            for wrong in ("\u2581", "<s>", "[MASK]", "<extra_id"):
                self.assertNotIn(wrong, filled)
            self.assertRegex(filled, "›[^›‹]*‹" if like == "t5" else "›[^›‹]+‹")  # t5 may write nothing for a span
            best, = (frame for frame in self.film(run)[1] if frame["step"] == self.link("best", run))
            self.assertIn(filled.splitlines()[0].removeprefix("  | ").strip(), best["filled"])  # from a word on
        self.start("mine.txt", "--like", "gtp", status=USAGE, facts=["--like", "prefix_lm"])

    def test_texts_of_every_kind_train(self):
        for name, content, tokenizer in [
            ("tiny", "To be, or not to be: that is the question. Whether 't", "char"),
            ("one_line", text(300).replace("\n", " "), "char"),
            ("latin1", b"caf\xe9 au lait, deux caf\xe9s\n" * 50, "byte"),
        ]:
            with self.subTest(name):
                self.put(name + ".txt", content)
                r = self.start(name + ".txt", "--set", "train.max_steps=2")
                self.assertEqual(self.run_config("runs/" + name)["tokenizer"]["type"], tokenizer)
                self.assertEqual("not valid UTF-8: latin1.txt:1 (offset 3 in the file)" in r.err, tokenizer == "byte")

    def test_folders_and_several_texts_are_read_in_order(self):
        for name in ("b.txt", "a.txt", ".hidden"):
            self.put("texts/" + name, text(300, seed=len(name)))
        self.put("texts/deep/d.txt", "deep")
        self.put("texts/c.png", b"\x89PNG")
        self.put("more.txt", "\ufeff" + text(300, seed=9))
        self.start("texts", "more.txt", "--stop-at", 1, facts=["texts/a.txt", "texts/b.txt", "more.txt", "3", "texts/c.png", "texts/deep/"])
        names = [Path(p).name for p in self.run_config("runs/texts")["data"]["train"]]
        self.assertEqual(names, ["a.txt", "b.txt", "more.txt"])

    def test_what_several_texts_are_read_as_is_said(self):
        self.put("tr.en", text(300))
        self.put("tr.de", "".join("ein Wort\n" for _ in text(300).splitlines()))
        self.start("tr.en", "tr.de", "--stop-at", 1, facts=["paste", "heed train pairs.tsv"])
        r = self.start("tr.en", "a.txt", "tr.de", "--stop-at", 1, "--run", "three")
        self.assertNotIn("paste", r.err)

    def test_folders_without_texts_are_named(self):
        for name in ("nested/one/a.txt", "tf/saved_model.pb", "hf/model.safetensors", "hf/config.json", "hf/vocab.txt", "gpt2.gguf"):
            self.put(name, b"GGUF\0" if name.endswith((".pb", "tensors", "gguf")) else "{}")
        for name, fact in (("tf", "saved_model.pb"), ("hf", "model.safetensors"), ("gpt2.gguf", "gpt2.gguf")):
            self.start(name, status=DATA, facts=[name, fact])
        self.check("sample", "tf", "x", status=4, facts="saved_model.pb")

    def test_files_may_have_odd_names(self):
        for i, name in enumerate(("a b'c.txt", "--odd.txt", "quickstart", "naïve.txt", "new\nline.txt")):
            with self.subTest(name):
                self.put(name, text(300))
                self.check("train", *TINY, "--stop-at", 1, "--run", f"run{i}", "--", name)
                self.assertEqual(self.run_config(f"run{i}")["data"]["train"], str(self.folder / name))

    def test_a_plan_counts_with_what_the_user_has_set(self):
        self.put("mine.txt", text(2000))
        r = self.start("mine.txt", "--set", "train.max_epochs=1", "--run", "first")
        # It does not fall straight after the warm-up.
        self.assertRegex(r.err, r"learning rate \(wsd\): .*?(\S+) at step \d+, \1 at step [1-9]\d*, \S+ at step [1-9]")
        self.tells(r.err, "1 times")
        self.works(self.start("mine.txt", "--run", "first", status=USAGE, facts=["first", "--run", "--force"]).err)
        self.start("mine.txt", "--run", "part", "--set", "train.max_steps=1", facts=said("finished", 1))
        self.start("mine.txt", "--init-from", "first", "--stop-at", 1, facts=["--run", "runs/mine-again", "--init-from"])
        self.assertNotIn("tokens: ", (self.folder / "runs/mine/train.log").read_text())
        self.start("mine.txt", "--set", "optimizer.type=adam", "--stop-at", 1, "--run", "adam")
        decays = [self.run_config(run)["optimizer"].get("weight_decay") for run in ("first", "runs/mine", "adam")]
        self.assertEqual(decays, [3, 0.01, None])  # strong for little text, but not with --init-from
        for change, facts in (("data.train=a.txt", "data.train"), ("train.max_steps=0", ["train.max_steps=0", "1"]),
                              ("model.d_modle=8", "model.d_model")):
            # Before the (empty) text is read.
            self.check("train", "-", "--set", change, status=USAGE, facts=facts)

    def test_validations_that_the_user_asks_for_take_of_the_minutes(self):
        self.put("mine.txt", text(20000))
        planned = []
        for every in (1, 0):
            self.check("train", "mine.txt", *TINY[2:], "--minutes", 0.1, "--set", f"train.eval_every={every}", "--set",
                       "data.valid_fraction=0.5", "--set", "train.batch_tokens=256", "--stop-at", 1, "--run", f"every{every}")
            planned.append(self.run_config(f"every{every}")["train"]["max_steps"])
        self.assertLess(2 * planned[0], planned[1])

    def test_the_minutes_include_reading_and_validating(self):
        self.put("mine.txt", text(6000))
        r = self.start("mine.txt", "--set", "data.valid_fraction=0.6", "--set", "train.max_steps=24")
        self.assertRegex(r.err, "about .* in all, .* of that already spent")
        self.assertEqual(len(self.metrics("runs/mine", "valid")), 1)
        self.assertEqual(r.err.count("yardsticks on the held-out text"), 1)


if __name__ == "__main__":
    unittest.main()
