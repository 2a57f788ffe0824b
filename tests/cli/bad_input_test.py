"""Bad texts, configs and command lines: an exit code, what is wrong, and no files left behind."""
import os
import unittest

from runs import RunsTest

USAGE, DATA = 2, 3


class BadTexts(RunsTest):
    def test_a_bad_text_is_named_and_no_run_is_made(self):
        f = self.folder
        (f / "empty").write_text("")
        (f / "latin1").write_bytes(b"one\ntwo\ncaf\xe9\n")
        (f / "cut").write_bytes("two\nthree é".encode()[:-1])
        (f / "one_token").write_text("a")
        (f / "one_kind").write_text("a" * 1000)
        (f / "good").write_text("good\n")
        (f / "hollow" / "deeper").mkdir(parents=True)
        os.mkfifo(f / "pipe")
        cases = [
            ("none.txt", {}, DATA, ["none.txt", "data.train"]),
            ("empty", {}, DATA, ["empty"]),
            (["good", "empty"], {}, DATA, ["empty"]),
            (".", {}, DATA, ["cut:2", "UTF-8"]),
            ("hollow", {}, DATA, ["hollow"]),
            ("-", {}, DATA, ["data.train", "standard input", "heed train -"]),
            ("pipe", {}, DATA, ["pipe"]),
            ("/dev/zero", {}, DATA, ["/dev/zero"]),
            ("a" * 5000, {}, DATA, ["File name too long"]),
            ("latin1", {}, DATA, ["latin1:3", "UTF-8", "0xE9"]),
            ("cut", {}, DATA, ["cut:2", "UTF-8"]),
            ("a.txt/b", {}, DATA, ["a.txt/b"]),
            ("one_token", {}, DATA, ["data.valid_fraction"]),
            ("one_kind", {}, DATA, ["1"]),
            ("one_token", {"data__valid_fraction": 0}, DATA, ["1"]),
        ]
        for path, changes, status, facts in cases:
            with self.subTest(path=path):
                config = self.config(data__train=path, **changes)
                self.train(config, status=status, facts=facts)
                self.assertFalse((f / "run").exists())

    def test_minutes_are_decimal(self):
        self.check("train", "a.txt", "--minutes", "0x10", status=USAGE, facts="0x10")

    def test_a_missing_text_comes_with_the_path_or_the_script_that_would_work(self):
        (self.folder / "sub").mkdir()
        config = self.config("sub/c")
        self.check("train", config, status=DATA,
                   facts=[f"{self.folder}/sub/a.txt", f"--set data.train={self.folder}/a.txt"])
        for path, name in (("shakespeare.txt", "shakespeare"), ("multi30k/train.en", "multi30k")):
            self.check("train", config, "--set", "data.train=../data/downloads/" + path, status=DATA,
                       facts=[f"scripts/get_data.sh {name}", "--set data.train=PATH"])
        (self.folder / "data/downloads").mkdir(parents=True)
        (self.folder / "data/downloads/some.txt").write_text("a")
        self.check("train", config, "--set", "data.train=/usr/share/heed/data/downloads/some.txt", status=DATA,
                   facts=[f"--set data.train={self.folder}/data/downloads/some.txt"])

    def test_a_text_without_permission_is_named(self):
        path = self.folder / "a.txt"
        path.chmod(0)
        if os.access(path, os.R_OK):
            self.skipTest("root reads everything")
        self.train(self.config(), status=DATA, facts=["a.txt", "Permission denied"])

    def test_the_byte_tokenizer_takes_any_bytes(self):
        (self.folder / "a.txt").write_bytes(bytes(range(256)) * 8)
        self.train(self.config(tokenizer={"type": "byte"}, train__max_steps=2))

    def test_bad_pairs_are_named_with_their_line(self):
        f = self.folder
        cases = [
            ("one\ntwo\n", "eins\n", ["a.source", "2", "a.target", "1"]),
            ("", "", ["a.source"]),
            ("one\nf\xfcr\n", "eins\nzwei\n", ["a.source:2", "UTF-8"]),
            ("one\n", "eins\n", ["valid_fraction"]),
        ]
        for source, target, facts in cases:
            with self.subTest(source=source):
                (f / "a.source").write_bytes(source.encode("latin1"))
                (f / "a.target").write_bytes(target.encode("latin1"))
                self.train(self.config(family="seq2seq"), status=DATA, facts=facts)
        (f / "a.tsv").write_text("one\teins\ntwo zwei\n")
        config = self.config(family="seq2seq")
        self.train(config, "run", "--set", "data.source=null", "--set", "data.target=null",
                   "--set", "data.pairs=a.tsv", status=DATA, facts=["a.tsv:2", "0"])
        self.assertFalse((f / "run").exists())


class BadConfigs(RunsTest):
    def test_keys_of_other_programs_are_translated(self):
        for key, answer in (("optimizer.lr", "optimizer.learning_rate"), ("n_layer", "model.decoder_layers"),
                            ("train.batch_size", "train.batch_tokens"),
                            ("model.block_size", "objective.target_length")):
            self.check("config", self.config(), "--set", key + "=1", status=USAGE,
                       facts=[key, answer])
        self.check("config", self.config(), "--set", "model.d_modle=1", status=USAGE, facts="model.d_model")
        self.check("config", self.config(), "--set", "train.device=1", status=USAGE, facts="train.device")

    def test_a_bad_config_file_is_named_with_its_line(self):
        f = self.folder
        for name, content, facts in [
            ("no.json", None, ["no.json", "No such file"]),
            ("empty.json", b"", ["empty.json"]),
            ("text.json", b"hello", ["text.json:1"]),
            ("cut.json", b'{"data": {"train": "a.txt"}', ["cut.json"]),
            ("comma.json", b'{"data": {"train": "a.txt"},\n "seed": 1,\n}', ["comma.json:3"]),
            ("list.json", b"[1]", ["list.json", "JSON"]),
            ("deep.json", b"[" * 100000, ["deep.json"]),
            ("binary.json", bytes(range(256)), ["binary.json"]),
            ("twice.json", b'{"seed": 1, "seed": 2}', ["seed"]),
        ]:
            with self.subTest(name):
                if content is not None:
                    (f / name).write_bytes(content)
                self.train(f / name, status=USAGE, facts=facts)
        (f / "folder.json").mkdir()
        self.train(f / "folder.json", status=USAGE, facts="folder.json")
        self.assertFalse((f / "run").exists())

    def test_a_bad_key_or_value_is_named_with_what_is_allowed(self):
        config = self.config()
        for change, facts in [
            ("model.d_modle=8", ["model.d_modle", "model.d_model"]),
            ("trian.max_steps=8", ["trian", "train"]),
            ("nonsense=8", ["nonsense"]),
            ("model.d_model=eight", ["model.d_model", "eight"]),
            ("model.d_model=8.5", ["model.d_model", "8.5"]),
            ("model.d_model=[8]", ["model.d_model"]),
            ("model=3", ["model"]),
            ("data.lowercase=1", ["data.lowercase", "true"]),
            ("model.norm=between", ["model.norm", "pre", "post"]),
            ("model.d_model=0", ["model.d_model"]),
            ("model.d_model=-8", ["model.d_model", "-8"]),
            ("model.d_model=99999999999999999999", ["model.d_model"]),
            ("model.dropout=1", ["model.dropout"]),
            ("model.dropout=-0.1", ["model.dropout"]),
            ("model.n_heads=3", ["model.n_heads", "3", "8"]),
            ("model.encoder_layers=0", ["model.encoder_layers"]),
            ("data.source=a.source", ["data.train"]),
            ("data.train=null", ["data.train"]),
            ("objective.source_length=0", ["objective.source_length"]),
            ("objective.target_length=-1", ["objective.target_length"]),
            ("objective.target_length=0", ["objective.target_length"]),
            ("optimizer.learning_rate=0", ["optimizer.learning_rate"]),
            ("optimizer.learning_rate=NaN", ["optimizer.learning_rate"]),
            ("optimizer.betas=[0.9]", ["optimizer.betas"]),
            ("optimizer.betas=[0.9,1.0]", ["optimizer.betas"]),
            ("train.max_steps=0", ["train.max_steps"]),
            ("train.max_steps=1e30", ["train.max_steps"]),
            ("train.shards=0", ["train.shards"]),
            ("train.batch_tokens=0", ["train.batch_tokens"]),
            ("train.eval_every=often", ["train.eval_every", "often"]),
            ("train.eval_every=-1", ["train.eval_every"]),
            ("train.eval_every=0 epochs", ["train.eval_every"]),
            ("data.valid_fraction=1", ["data.valid_fraction"]),
            ("objective.type=seq2seq", ["seq2seq", "data.train"]),
            ("model.max_length=3", ["model.max_length"]),
            ("tokenizer.shared=false", ["tokenizer.shared"]),
            ("seed=-1", ["seed"]),
        ]:
            with self.subTest(change):
                self.train(config, "run", "--set", change, status=USAGE, facts=facts)
        self.assertFalse((self.folder / "run").exists())

    def test_a_bad_command_line_names_the_option(self):
        config = self.config()
        for args, facts in [
            (["train"], ["CONFIG"]), (["resume"], ["RUN"]), (["train", config, "more"], ["more", "c.json"]),
            (["train", config, "--thread", "1"], ["--threads"]),
            (["train", config, "--threads", "-1"], ["--threads", "1024"]),
            (["train", config, "--threads", "many"], ["--threads", "1024"]),
            (["train", config, "--threads", "100000"], ["--threads", "1024"]),
            (["train", config, "--stop-at", "0"], ["--stop-at", "1"]),
            (["train", config, "--set", "model.d_model"], ["model.d_model"]),
            (["train", config, "--set", "=3"], ["=3"]),
            (["train", config, "--set"], ["--set", "a.b=value"]),
            (["traim", config], ["traim", "train"]),
        ]:
            with self.subTest(args=args[:1] + args[2:]):
                self.check(*args, status=USAGE, facts=facts)


if __name__ == "__main__":
    unittest.main()
