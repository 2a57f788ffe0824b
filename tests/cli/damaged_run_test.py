"""Checkpoints with right checksums and wrong contents: named, refused by all that need them, and left unchanged."""
import json
import math
import shutil
import unittest

from runs import STORE, RunsTest, edit_tensor, read_tensors, seal, write_tensors

NAME, MOMENT = "encoder.layers.0.fc1.weight", "adam.v.encoder.layers.0.fc1.weight"
MODEL, TRAINING = "model.safetensors", "training.safetensors"


class BadRuns(RunsTest):
    RUNS = {"run": {"train__max_steps": 2, "train__eval_every": 0}, "words": {"train__max_steps": 2, "tokenizer": {"type": "word"}}}

    def without_a_tensor(self, checkpoint):
        header, body = read_tensors(checkpoint / MODEL)
        begin, end = header.pop("encoder.norm.weight")["data_offsets"]
        for entry in header.values():
            if entry.get("data_offsets", [0])[0] >= end:
                entry["data_offsets"] = [at - (end - begin) for at in entry["data_offsets"]]
        write_tensors(checkpoint / MODEL, header, body[:begin] + body[end:])

    def with_another(self, checkpoint):
        header, body = read_tensors(checkpoint / MODEL)
        header["stray"] = {"dtype": "F32", "shape": [1], "data_offsets": [len(body), len(body) + 4]}
        write_tensors(checkpoint / MODEL, header, body + b"\0\0\0\0")

    def misshapen(self, checkpoint, dtype="F32"):
        header, body = read_tensors(checkpoint / MODEL)
        header[NAME]["shape"] = [32, 8] if dtype == "F16" else [8, 16]
        header[NAME]["dtype"] = dtype
        write_tensors(checkpoint / MODEL, header, body)

    def with_other_words(self, checkpoint):
        shutil.copy(self.checkpoints("words") / "last/tokenizer.json", checkpoint)

    def test_what_checksums_do_not_see_is_named_and_refused(self):
        def number(file, tensor, x):
            return lambda checkpoint: edit_tensor(checkpoint / file, tensor, x)

        for title, change, facts in (
                ("missing", self.without_a_tensor, ["encoder.norm.weight"]), ("extra", self.with_another, ["stray"]),
                ("misshapen", self.misshapen, [NAME, "16"]), ("half", lambda c: self.misshapen(c, "F16"), [NAME, "F16"]),
                ("other words", self.with_other_words, ["step-00000002"]),
                ("nan", number(MODEL, NAME, math.nan), [NAME, "NaN"]), ("infinity", number(MODEL, NAME, math.inf), [NAME]),
                *((f"moment {x}", number(TRAINING, MOMENT, x), [TRAINING, MOMENT]) for x in (math.nan, math.inf))):
            with self.subTest(title):
                shutil.copytree(self.folder / "run", self.folder / title, symlinks=True)
                change(self.step(2, title))
                seal(self.step(2, title))
                before = self.snapshot(title)
                wrong, = (c for c in json.loads(self.check("verify", title, "--json", status=STORE).out)["checkpoints"] if not c["whole"])
                self.tells(wrong["wrong"], facts[-1:])
                self.check("resume", title, "--more", 1, status=STORE, facts=facts)
                commands = [["evaluate", title]]
                if title == "nan":
                    commands += [["sample", title], ["average", title, "--last", 1], ["train", self.config(), "--run", "new", "--init-from", title]]
                for command in commands:  # moments are of training alone
                    self.check(*command, **({} if "moment" in title else {"status": STORE, "facts": facts}))
                self.assertEqual(self.snapshot(title), before)
        self.assertFalse((self.folder / "new").exists())

    def test_a_place_beyond_the_data_is_refused(self):
        for name, epoch, index in (("epoch", 3, 0), ("epochs", 2**63 - 1, 0), ("index", 0, 2**63 - 1), ("end", 0, 10**6)):
            with self.subTest(name):
                shutil.copytree(self.folder / "run", self.folder / name, symlinks=True)
                state = self.state(2, name)
                state["cursor"] = {"epoch": epoch, "index": index}
                (self.step(2, name) / "state.json").write_text(json.dumps(state))
                seal(self.step(2, name))
                before = self.snapshot(name)
                self.check("resume", name, "--more", 1, status=STORE, facts=["state.json", str(epoch), str(index)])
                self.assertEqual(self.snapshot(name), before)
                self.check("inspect", name)


if __name__ == "__main__":
    unittest.main()
