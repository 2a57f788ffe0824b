"""Bad input: each case has its exit code, says what is wrong, and loses nothing."""
import os
import shutil
import subprocess
import unittest

from runs import RunsTest, read_tensors, seal, text, write_tensors

USAGE, DATA, STORE = 2, 3, 4


class BadTexts(RunsTest):
    def test_texts(self):
        f = self.folder
        (f / "empty").write_text("")
        (f / "latin1").write_bytes(b"one\ntwo\ncaf\xe9\n")
        (f / "cut").write_bytes("two\nthree é".encode()[:-1])
        (f / "one_token").write_text("a")
        (f / "one_kind").write_text("a" * 1000)
        (f / "good").write_text("good\n")
        cases = [
            ("none.txt", {}, DATA, ["none.txt", "no such file"]),
            ("empty", {}, DATA, ["empty"]),
            (["good", "empty"], {}, DATA, ["empty"]),
            (".", {}, DATA, ["is a directory"]),
            ("latin1", {}, DATA, ["latin1:3", "UTF-8", "0xE9", "byte"]),
            ("cut", {}, DATA, ["cut:2", "UTF-8"]),
            ("a.txt/b", {}, DATA, ["a.txt/b"]),
            ("one_token", {}, DATA, ["too short", "valid_fraction"]),
            ("one_kind", {}, DATA, ["character"]),
            ("one_token", {"data__valid_fraction": 0}, DATA, ["character"]),
        ]
        for path, changes, status, words in cases:
            with self.subTest(path=path):
                config = self.config(data__train=path, **changes)
                self.train(config, status=status, words=words)
                self.assertFalse((f / "run").exists())

    def test_an_unreadable_text(self):
        path = self.folder / "a.txt"
        path.chmod(0)
        if os.access(path, os.R_OK):
            self.skipTest("root reads everything")
        self.train(self.config(), status=DATA, words=["a.txt", "Permission denied"])

    def test_bytes_take_any_text(self):
        (self.folder / "a.txt").write_bytes(bytes(range(256)) * 8)
        self.train(self.config(tokenizer={"type": "byte"}, train__max_steps=2))

    def test_pairs(self):
        f = self.folder
        cases = [
            ("one\ntwo\n", "eins\n", ["2", "1", "lines"]),
            ("one\n\nthree\n", "eins\nzwei\ndrei\n", ["source:2", "empty"]),
            ("", "", ["empty"]),
            ("one\nf\xfcr\n", "eins\nzwei\n", ["source:2", "UTF-8"]),
            ("one\n", "eins\n", ["valid_fraction"]),
        ]
        for source, target, words in cases:
            with self.subTest(source=source):
                (f / "a.source").write_bytes(source.encode("latin1"))
                (f / "a.target").write_bytes(target.encode("latin1"))
                self.train(self.config(family="seq2seq"), status=DATA, words=words)
        (f / "a.tsv").write_text("one\teins\ntwo zwei\n")
        config = self.config(family="seq2seq")
        self.train(config, "run", "--set", "data.source=null", "--set", "data.target=null",
                   "--set", "data.pairs=a.tsv", status=DATA, words=["a.tsv:2", "tab"])
        self.assertFalse((f / "run").exists())


class BadConfigs(RunsTest):
    def test_files(self):
        f = self.folder
        for name, content, words in [
            ("no.json", None, ["no.json", "No such file"]),
            ("empty.json", b"", ["empty.json"]),
            ("text.json", b"hello", ["text.json:1"]),
            ("cut.json", b'{"data": {"train": "a.txt"}', ["cut.json"]),
            ("comma.json", b'{"data": {"train": "a.txt"},\n "seed": 1,\n}', ["comma.json:3"]),
            ("list.json", b"[1]", ["object"]),
            ("deep.json", b"[" * 100000, ["deep.json"]),
            ("binary.json", bytes(range(256)), ["binary.json"]),
            ("twice.json", b'{"seed": 1, "seed": 2}', ["seed"]),
        ]:
            with self.subTest(name):
                if content is not None:
                    (f / name).write_bytes(content)
                self.train(f / name, status=USAGE, words=words)
        self.train(f, status=USAGE)
        self.assertFalse((f / "run").exists())

    def test_values(self):
        config = self.config()
        for change, words in [
            ("model.d_modle=8", ["d_modle", "did you mean", "d_model"]),
            ("trian.max_steps=8", ["trian", "train"]),
            ("nonsense=8", ["nonsense"]),
            ("model.d_model=eight", ["model.d_model", "integer", "eight"]),
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
            ("model.n_heads=3", ["n_heads", "divide", "3", "8"]),
            ("model.encoder_layers=0", ["encoder_layers"]),
            ("data.source=a.source", ["data.train", "exclude"]),
            ("data.train=null", ["no data"]),
            ("objective.source_length=0", ["objective.source_length"]),
            ("objective.target_length=-1", ["objective.target_length"]),
            ("objective.target_length=0", ["objective.target_length"]),
            ("optimizer.learning_rate=0", ["optimizer.learning_rate"]),
            ("optimizer.learning_rate=NaN", ["optimizer.learning_rate"]),
            ("optimizer.betas=[0.9]", ["optimizer.betas"]),
            ("optimizer.betas=[0.9,1.0]", ["optimizer.betas"]),
            ("train.max_steps=0", ["never end"]),
            ("train.max_steps=1e30", ["train.max_steps"]),
            ("train.shards=0", ["train.shards"]),
            ("train.batch_tokens=0", ["train.batch_tokens"]),
            ("train.eval_every=often", ["train.eval_every", "epoch"]),
            ("train.eval_every=-1", ["train.eval_every"]),
            ("train.eval_every=0 epochs", ["train.eval_every"]),
            ("data.valid_fraction=1", ["data.valid_fraction"]),
            ("objective.type=seq2seq", ["pairs"]),
            ("model.max_length=3", ["model.max_length", "at least"]),
            ("tokenizer.shared=false", ["shared"]),
            ("seed=-1", ["seed"]),
        ]:
            with self.subTest(change):
                self.train(config, "run", "--set", change, status=USAGE, words=words)
        self.assertFalse((self.folder / "run").exists())

    def test_command_lines(self):
        config = self.config()
        for args, words in [
            (["train"], ["CONFIG"]), (["resume"], ["RUN"]), (["train", config, "more"], ["more"]),
            (["train", config, "--thread", "1"], ["--thread"]),
            (["train", config, "--threads", "-1"], ["--threads"]),
            (["train", config, "--threads", "many"], ["--threads"]),
            (["train", config, "--threads", "100000"], ["--threads"]),
            (["train", config, "--stop-at", "0"], ["--stop-at"]),
            (["train", config, "--set", "model.d_model"], ["model.d_model"]),
            (["train", config, "--set", "=3"], ["=3"]),
            (["train", config, "--set"], ["--set"]),
            (["traim", config], ["traim", "train"]),
        ]:
            with self.subTest(args=args[:1] + args[2:]):
                self.check(*args, status=USAGE, words=words)


class BadRuns(RunsTest):
    def damaged(self, name):
        """A copy of a trained run; returns its only checkpoint."""
        if not (self.folder / "good").exists():
            self.train(self.config(train__max_steps=2, train__eval_every=0), "good")
        run = self.folder / name
        shutil.copytree(self.folder / "good", run, symlinks=True)
        return run, run / "checkpoints" / "step-00000002"

    def refused(self, run, words):
        before = self.snapshot(run.name)
        for args in (["inspect", run], ["resume", run, "--more", 1]):
            self.check(*args, status=STORE, words=words)
            self.assertEqual(self.snapshot(run.name), before)

    def test_tensors_that_do_not_fit_the_config(self):
        name = "encoder.layers.0.fc1.weight"
        def missing(h, b):
            del h["encoder.norm.weight"]
            return close_gaps(h, b)
        def extra(h, b):
            h["stray"] = {"dtype": "F32", "shape": [1], "data_offsets": [len(b), len(b) + 4]}
            return h, b + b"\0\0\0\0"
        def misshapen(h, b):
            h[name]["shape"] = h[name]["shape"][::-1]
            return h, b
        def half(h, b):
            h[name]["dtype"] = "F16"
            h[name]["shape"][0] *= 2
            return h, b
        for change, words in [(missing, ["encoder.norm.weight", "missing"]),
                              (extra, ["stray"]), (misshapen, [name, "16"]),
                              (half, [name, "F16"])]:
            with self.subTest(change.__name__):
                run, checkpoint = self.damaged(change.__name__)
                path = checkpoint / "model.safetensors"
                write_tensors(path, *change(*read_tensors(path)))
                seal(checkpoint)
                self.check("inspect", run, status=STORE, words=words)
                self.check("resume", run, "--more", 1, status=STORE, words=words)

    def test_altered_bytes(self):
        for name in ("model.safetensors", "training.safetensors", "config.json", "tokenizer.json",
                     "state.json"):
            for change in ("cut", "flip", "gone", "empty"):
                with self.subTest(f"{name} {change}"):
                    run, checkpoint = self.damaged(f"{name}.{change}")
                    path = checkpoint / name
                    data = bytearray(path.read_bytes())
                    data[len(data) // 2] ^= 1
                    if change == "gone":
                        path.unlink()
                    else:
                        path.write_bytes({"cut": path.read_bytes()[:-1], "flip": data,
                                          "empty": b""}[change])
                    self.refused(run, [name])
                    shutil.rmtree(run)

    def test_another_tokenizer(self):
        (self.folder / "b.txt").write_text("fewer letters " * 99)
        self.train(self.config(data__train="b.txt", train__max_steps=2), "other")
        run, checkpoint = self.damaged("run")
        shutil.copy(self.folder / "other/checkpoints/last/tokenizer.json", checkpoint)
        self.refused(run, ["tokenizer.json"])
        seal(checkpoint)
        self.check("inspect", run, status=STORE, words=["embed_tokens.weight"])

    def test_links_out_of_the_run(self):
        run, checkpoint = self.damaged("run")
        shutil.copytree(checkpoint, self.folder / "elsewhere")
        for link in ("best", "last"):
            (run / "checkpoints" / link).unlink()
            (run / "checkpoints" / link).symlink_to("../../elsewhere")
        self.check("inspect", run, status=STORE, words=["best", "elsewhere"])

    def test_places_where_nothing_can_be_written(self):
        config = self.config()
        self.train(config, "a.txt/run", status=STORE, words="a.txt")
        self.assertEqual((self.folder / "a.txt").read_text(), text(300))
        self.train(config, "a.txt", status=USAGE, words="exists")


def close_gaps(header, body):
    """The tensors of `header`, one after the other."""
    out, at = b"", 0
    for entry in sorted(header.values(), key=lambda e: e["data_offsets"][0] if "shape" in e else 0):
        if "shape" not in entry:
            continue
        begin, end = entry["data_offsets"]
        out += body[begin:end]
        entry["data_offsets"] = [at, at + end - begin]
        at += end - begin
    return header, out


class Disks(RunsTest):
    def mount(self, name, options):
        place = self.folder / name
        place.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)],
                              capture_output=True)
        if done.returncode != 0:
            self.skipTest("mounting needs root")
        self.addCleanup(subprocess.run, ["umount", str(place)])
        return place

    def remount(self, place, options):
        subprocess.run(["mount", "-o", "remount," + options, str(place)], check=True)

    def test_a_disk_that_fills_up(self):
        place = self.mount("disk", "size=128k")
        config = self.config(train__save_every=5, train__keep_last=0)
        r = self.train(config, "disk/run", status=STORE, words=["space"])
        steps = self.steps("disk/run")
        self.assertTrue(steps)
        self.assertLess(steps[-1], 20)
        self.assertEqual(self.link("last", "disk/run"), steps[-1])
        self.check("inspect", self.folder / "disk/run", "--checkpoint", "last")
        self.remount(place, "size=8m")
        self.resume("disk/run")
        self.train(config, "whole")
        self.same_checkpoint("disk/run", "whole", 20)
        trains = [e["step"] for e in self.metrics("disk/run", "train")]
        self.assertEqual(trains, [5, 10, 15, 20])

    def test_a_full_disk_from_the_start(self):
        place = self.mount("disk", "size=64k")
        (place / "filler").write_bytes(b"x" * 56 * 1024)
        self.train(self.config(tokenizer={"type": "bpe", "vocab_size": 400}), "disk/run",
                   status=STORE, words="space")

    def test_a_read_only_folder(self):
        place = self.mount("disk", "size=1m")
        config = self.config(train__max_steps=2)
        self.train(config, "disk/run")
        before = self.snapshot("disk/run")
        self.remount(place, "ro")
        self.train(config, "disk/new", status=STORE, words="Read-only")
        self.resume("disk/run", "--more", 1, status=STORE, words="Read-only")
        self.check("inspect", place / "run")
        self.assertEqual(self.snapshot("disk/run"), before)


if __name__ == "__main__":
    unittest.main()
