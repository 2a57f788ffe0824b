"""Damaged runs: every file, damaged in every way, is named, refused and left unchanged."""
import json
import shutil
import struct
import unittest

from runs import RunsTest, read_tensors, seal, text, write_tensors

USAGE, STORE = 2, 4


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


class BadRuns(RunsTest):
    def damaged(self, name):
        """A copy of a trained run; returns its only checkpoint."""
        if not (self.folder / "good").exists():
            self.train(self.config(train__max_steps=2, train__eval_every=0), "good")
        run = self.folder / name
        shutil.copytree(self.folder / "good", run, symlinks=True)
        return run, run / "checkpoints" / "step-00000002"

    def refused(self, run, facts):
        before = self.snapshot(run.name)
        for args in (["inspect", run], ["resume", run, "--more", 1]):
            self.check(*args, status=STORE, facts=facts)
            self.assertEqual(self.snapshot(run.name), before)

    def test_tensors_that_do_not_fit_the_config_are_named(self):
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
        for change, facts in [(missing, ["encoder.norm.weight"]),
                              (extra, ["stray"]), (misshapen, [name, "16"]),
                              (half, [name, "F16"])]:
            with self.subTest(change.__name__):
                run, checkpoint = self.damaged(change.__name__)
                path = checkpoint / "model.safetensors"
                write_tensors(path, *change(*read_tensors(path)))
                seal(checkpoint)
                self.check("inspect", run, status=STORE, facts=facts)
                self.check("resume", run, "--more", 1, status=STORE, facts=facts)

    def test_nan_in_weights_or_moments_is_refused_by_tensor(self):
        def damaged(name, file, tensor):
            run, checkpoint = self.damaged(name)
            header, body = read_tensors(checkpoint / file)
            at = header[tensor]["data_offsets"][1]
            write_tensors(checkpoint / file, header, body[:at - 4] + struct.pack("<f", float("nan")) + body[at:])
            seal(checkpoint)
            return run

        run = damaged("moments", "training.safetensors", "adam.v.encoder.layers.0.fc1.weight")
        self.check("evaluate", run)
        self.check("resume", run, "--more", 1, status=STORE, facts=["training.safetensors", "NaN", "adam.v.encoder.layers.0.fc1.weight"])
        run = damaged("run", "model.safetensors", "encoder.layers.0.fc1.weight")
        for args in (["evaluate", run], ["sample", run],
                     ["resume", run, "--more", 1], ["average", run, "--last", 1],
                     ["train", self.config(), "--run", "new", "--init-from", run]):
            self.check(*args, status=STORE, facts=["NaN", "encoder.layers.0.fc1.weight"])
        self.assertFalse((self.folder / "new").exists())

    def test_a_place_beyond_the_data_is_refused(self):
        for name, epoch, index in (("epoch", 3, 0), ("epochs", 2**63 - 1, 0), ("index", 0, 2**63 - 1),
                                   ("end", 0, 10**6)):
            with self.subTest(name):
                run, checkpoint = self.damaged(name)
                state = json.loads((checkpoint / "state.json").read_text())
                state["cursor"] = {"epoch": epoch, "index": index}
                (checkpoint / "state.json").write_text(json.dumps(state))
                seal(checkpoint)
                before = self.snapshot(name)
                self.check("resume", run, "--more", 1, status=STORE, facts=["state.json", str(epoch), str(index)])
                self.assertEqual(self.snapshot(name), before)
                self.check("inspect", run)

    def test_the_tokenizer_of_another_run_is_refused(self):
        (self.folder / "b.txt").write_text("fewer letters " * 99)
        self.train(self.config(data__train="b.txt", train__max_steps=2), "other")
        run, checkpoint = self.damaged("run")
        shutil.copy(self.folder / "other/checkpoints/last/tokenizer.json", checkpoint)
        self.refused(run, ["tokenizer.json"])
        seal(checkpoint)
        self.check("inspect", run, status=STORE, facts="embed_tokens.weight")

    def test_links_out_of_the_run_are_refused(self):
        run, checkpoint = self.damaged("run")
        shutil.copytree(checkpoint, self.folder / "elsewhere")
        for link in ("best", "last"):
            (run / "checkpoints" / link).unlink()
            (run / "checkpoints" / link).symlink_to("../../elsewhere")
        self.check("inspect", run, status=STORE, facts=["checkpoints/best", "../../elsewhere"])

    def test_a_run_below_or_in_place_of_a_file_is_refused(self):
        config = self.config()
        self.train(config, "a.txt/run", status=STORE, facts="a.txt")
        self.assertEqual((self.folder / "a.txt").read_text(), text(300))
        self.train(config, "a.txt", status=USAGE, facts="a.txt")


if __name__ == "__main__":
    unittest.main()
