"""heed train TEXT: training without a config."""
import json
import os
import subprocess
import unittest
from pathlib import Path

from runs import HEED, RunsTest, said, text
from terminal import CTRL_D, Terminal

USAGE, DATA = 2, 3
# A tiny model, so that a start takes no time.
TINY = ["--minutes", 0.02, "--threads", 1, "--set", "model.d_model=16", "--set", "model.n_heads=2",
        "--set", "model.d_ff=16"]


class OwnText(RunsTest):
    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def start(self, *args, status=0, **kw):
        return self.check("train", *args, *TINY, status=status, **kw)

    def run_config(self, run):
        return json.loads((self.folder / run / "config.json").read_text())

    def last_step(self, run):
        return max(self.steps(run))

    def test_a_text_trains_at_once_and_ends_with_a_sample_a_page_and_commands(self):
        self.write("mine.txt", text(2000))
        r = self.start("mine.txt", facts=["mine.txt", "gpt", "runs/mine", "runs/mine/report.html", "heed sample runs/mine", "heed resume runs/mine"])
        self.assertIn(f"--more {self.last_step('runs/mine') // 2}\n", r.err)
        words = r.err.split("heed attend runs/mine ")[1].split(" --html")[0].strip("'").split()
        self.assertGreater(len(words), 1)
        self.assertLessEqual(set(words), set(text(2000).split()))  # whole ones
        self.assertIn("</html>", (self.folder / "runs/mine/report.html").read_text())
        log = (self.folder / "runs/mine/train.log").read_text()
        for line in ("text: mine.txt", "steps: "):
            self.assertIn(line, log)
        c = self.run_config("runs/mine")
        self.assertEqual((c["objective"]["type"], c["tokenizer"]["type"]), ("causal_lm", "char"))
        self.assertEqual(c["train"]["patience"], 0)  # the rate falls at the end, which helps
        self.assertLessEqual(c["optimizer"]["warmup_steps"], c["train"]["max_steps"] / 10)

    def test_the_command_it_prints_repeats_the_bytes(self):
        self.write("mine.txt", text(2000))
        with open(self.write("other.txt", text(1500, seed=3))) as piped:
            for args, run, stdin in ((["mine.txt"], "runs/mine", None), (["-"], "runs/stdin", piped)):
                r = subprocess.run([HEED, "train", *args, *map(str, TINY), "--stop-at", "30"], stdin=stdin,
                                   capture_output=True, text=True, cwd=self.folder)
                self.assertEqual(r.returncode, 0, r.stderr)
                again = r.stderr.split("to repeat it byte for byte:\n  heed ")[1].splitlines()[0].split()
                self.check(*again, "--stop-at", 30, "--threads", 2)
                self.same_checkpoint(run, run + "-again", self.last_step(run))

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

    def test_a_finished_training_is_reported_even_if_its_page_cannot_be_written(self):
        self.write("mine.txt", text(2000))
        r = self.limited("-f 48", "train", "mine.txt", "--json", "--stop-at", 2, *TINY, "--set", "model.decoder_layers=1",
                         "--set", "objective.target_length=16")
        self.assertEqual(r.status, 0, r.err)
        self.assertEqual(json.loads(r.out)["step"], 2)
        self.tells(r.err, "warning:")

    def test_each_family_trains_on_a_text(self):
        self.write("mine.txt", text(1500))
        for like, objective in (("prefix_lm", "prefix_lm"), ("bert", "masked_lm"), ("t5", "span_corruption")):
            with self.subTest(like):
                self.start("mine.txt", "--like", like, "--run", like, facts=like)
                self.assertEqual(self.run_config(like)["objective"]["type"], objective)
        pieces = ["--set", "tokenizer.type=bpe", "--set", "tokenizer.vocab_size=320"]
        for like, run, options in (("bert", "pieces", pieces), ("bert", "characters", []), ("t5", "spans", pieces)):
            r = self.start("mine.txt", "--like", like, "--run", run, *options, facts=["›so‹", f"heed fill {run}"] if like == "bert" else "›so‹")
            filled = r.err.split("›so‹:\n")[1].split("the whole story")[0]
            for wrong in ("\u2581", "<s>", "[MASK]", "<extra_id"):
                self.assertNotIn(wrong, filled)
            self.assertRegex(filled, "›[^›‹]*‹" if like == "t5" else "›[^›‹]+‹")  # t5 may write nothing for a span
            frames = [json.loads(line) for line in (self.folder / run / "film.jsonl").read_text().splitlines()][1:]
            best, = (frame for frame in frames if frame["step"] == self.link("best", run))
            self.assertIn(filled.splitlines()[0].removeprefix("  | ").strip(), best["filled"])  # from a word on
        self.start("mine.txt", "--like", "gtp", status=USAGE, facts=["--like", "prefix_lm"])

    def test_texts_of_every_kind_train(self):
        for name, content, tokenizer in [
            ("tiny", "To be, or not to be: that is the question. Whether 't", "char"),
            ("one_line", text(300).replace("\n", " "), "char"),
            ("chinese", "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏\n" * 40, "char"),
            ("code", "def f(x):\n\treturn {x: [1, 2]}  # é\n" * 60, "char"),
            ("table", "id,name\n" + "".join(f"{i},n{i % 7}\n" for i in range(200)), "char"),
            ("latin1", b"caf\xe9 au lait, deux caf\xe9s\n" * 50, "byte"),
            ("long", text(12000), "bpe"),
        ]:
            with self.subTest(name):
                self.write(name + ".txt", content)
                r = self.start(name + ".txt", "--set", "train.max_steps=2")
                self.assertEqual(self.run_config("runs/" + name)["tokenizer"]["type"], tokenizer)
                self.assertEqual("not valid UTF-8: latin1.txt:1 (offset 3 in the file)" in r.err, tokenizer == "byte")

    def test_folders_and_several_texts_are_read_in_order(self):
        for name in ("b.txt", "a.txt", ".hidden"):
            self.write("texts/" + name, text(300, seed=len(name)))
        (self.folder / "texts/deep").mkdir()
        self.write("texts/c.png", b"\x89PNG")
        self.write("more.txt", "\ufeff" + text(300, seed=9))
        self.start("texts", "more.txt", "--stop-at", 1, facts=["texts/a.txt", "texts/b.txt", "more.txt", "3", "texts/c.png", "texts/deep/"])
        names = [Path(p).name for p in self.run_config("runs/texts")["data"]["train"]]
        self.assertEqual(names, ["a.txt", "b.txt", "more.txt"])

    def test_where_the_end_of_several_texts_is_held_out_is_said(self):
        self.write("tr.en", text(300))
        self.start("a.txt", "tr.en", "--stop-at", 1, facts="the end of tr.en")
        config = self.config(data={"train": ["a.txt", "tr.en"], "valid_fraction": 0.6})
        self.check("train", config, "--stop-at", 1, facts=["the end of", "a.txt", "all of", "tr.en"])

    def test_folders_without_texts_are_named(self):
        for name in ("nested/one/a.txt", "tf/saved_model.pb", "hf/model.safetensors", "hf/config.json", "hf/vocab.txt"):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            self.write(name, b"x\0" if name.endswith((".pb", "tensors")) else "{}")
        (self.folder / "gpt2.gguf").write_bytes(b"GGUF\0\0")
        self.start("nested", status=DATA, facts="nested")
        self.start("tf", status=DATA, facts="tf")
        self.start("hf", status=DATA, facts=["hf", "model.safetensors"])
        self.check("config", "hf", status=USAGE, facts=["hf", "model.safetensors"])
        self.start("gpt2.gguf", status=DATA, facts="gpt2.gguf")
        self.check("sample", "tf", "x", status=4, facts="saved_model.pb")

    def test_a_text_in_place_of_its_run_is_told_from_it(self):
        self.write("mine.txt", text(300))
        self.start("mine.txt", "--stop-at", 1)
        self.works(self.check("sample", "mine.txt", "a", status=4, facts="heed sample mine").err)

    def test_bytes_that_are_not_text_train_only_on_request(self):
        noise = bytes(range(256)) * 9
        self.write("noise", noise)
        for name in ("noise", "-"):
            r = subprocess.run([HEED, "train", name], input=noise, capture_output=True, cwd=self.folder)
            self.assertEqual(r.returncode, DATA)
            self.assertIn(b"bytes of value 0", r.stderr)
        self.start("noise", "--set", "tokenizer.type=byte", "--stop-at", 1)

    def test_files_may_have_odd_names(self):
        for i, name in enumerate(("a b'c.txt", "--odd.txt", "quickstart", "naïve.txt", "new\nline.txt")):
            with self.subTest(name):
                self.write(name, text(300))
                self.check("train", *TINY, "--stop-at", 1, "--run", f"run{i}", "--", name)
                self.assertEqual(self.run_config(f"run{i}")["data"]["train"], str(self.folder / name))

    def test_a_path_that_a_config_cannot_write_is_refused(self):
        os.mkdir(os.fsencode(self.folder) + b"/caf\xe9")
        self.write("caf\udce9/mine.txt", text(300))
        for command in (["train", "mine.txt"], ["init", "mine.txt", "--output", "../c.json"]):
            r = subprocess.run([HEED, *command], cwd=os.fsencode(self.folder) + b"/caf\xe9",
                               capture_output=True, text=True)
            self.assertEqual(r.returncode, USAGE, r.stderr)
            self.tells(r.stderr, "UTF-8")

    def test_a_plan_counts_with_what_the_user_has_set(self):
        self.write("mine.txt", text(2000))
        r = self.start("mine.txt", "--set", "train.max_epochs=1", "--run", "first")
        self.assertRegex(r.err, r"stays until step [1-9]\d*, falls to [0-9.]+ at step [1-9]")  # not straight after the warm-up
        self.tells(r.err, "1 times")
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

    def test_the_minutes_include_reading_and_validating(self):
        self.write("long.txt", text(60000))
        r = self.check("train", "long.txt", *TINY[2:], "--minutes", 0.001,
                       facts=["reading the text took", "--minutes 0.001"])
        self.assertLess(r.err.index("reading the text took"), r.err.index("model: "))
        self.write("mine.txt", text(6000))
        r = self.start("mine.txt", "--set", "data.valid_fraction=0.6", "--set", "train.max_steps=24")
        self.assertNotIn("reading the text took", r.err)
        self.assertRegex(r.err, "done in about .*, of which .* are gone")
        self.assertEqual(len(self.metrics("runs/mine", "valid")), 1)
        self.assertEqual(r.err.count("yardsticks on the held-out text"), 1)

    def test_where_few_steps_fit_the_smaller_model_has_the_same_shape(self):
        self.write("mine.txt", text(6000))
        r = self.check("train", "mine.txt", "--minutes", 0.8, "--set", "train.batch_tokens=20000", "--threads", 1, "--stop-at", 1)
        smaller = next(line for line in r.err.splitlines() if "--set model.d_ff=" in line).split()
        self.check("train", "mine.txt", "--minutes", 0.01, "--run", "runs/small", "--stop-at", 1)
        chosen = self.run_config("runs/small")["model"]
        self.assertLess(chosen["d_model"], self.run_config("runs/mine")["model"]["d_model"])
        for key in ("d_model", "n_heads", "d_ff"):
            self.assertIn(f"model.{key}={chosen[key]}", smaller)

    def test_a_run_of_that_name_stays(self):
        self.write("mine.txt", text(300))
        self.start("mine.txt", "--stop-at", 1)
        self.works(self.start("mine.txt", status=USAGE, facts=["runs/mine", "--run", "--force"]).err)
        self.start("mine.txt", "--stop-at", 1, "--force")
        self.assertTrue((self.folder / "runs/mine.old-1").exists())


if __name__ == "__main__":
    unittest.main()
