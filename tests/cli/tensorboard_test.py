"""train.tensorboard: event files say what metrics.jsonl, the film and the config say, also after a kill."""
import json
import os
import shutil
import struct
import unittest

from runs import SMALL, RunsTest

TENSORBOARD = {**SMALL, "train__log_every": 3, "train__eval_every": 4, "train__tensorboard": True}


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def records(path):
    """The records of a TFRecord file, up to a torn one."""
    data, at = path.read_bytes(), 0
    while at + 12 <= len(data):
        size = data[at:at + 8]
        end = at + 12 + struct.unpack("<Q", size)[0]
        if end + 4 > len(data):
            return
        assert data[at + 8:at + 12] == masked(size) and data[end:end + 4] == masked(data[at + 12:end]), path
        yield data[at + 12:end]
        at = end + 4


def message(data):
    """The fields of a message of Protocol Buffers: {number: the last value}."""
    at, fields = 0, {}

    def varint():
        nonlocal at
        n = shift = 0
        while True:
            at += 1
            n |= (data[at - 1] & 127) << shift
            shift += 7
            if data[at - 1] < 128:
                return n

    while at < len(data):
        key = varint()
        size = {0: 0, 1: 8, 5: 4}.get(key & 7)
        if size == 0:
            fields[key >> 3] = varint()
            continue
        if size is None:
            size = varint()
        fields[key >> 3] = data[at:at + size]
        at += size
    return fields


def read(folder):
    """What a reader keeps of all files: {(tag, step): [float or text]}."""
    kept = {}
    for path in sorted(folder.iterdir()):
        events = [message(record) for record in records(path)]
        assert events[0][3] == b"brain.Event:2", events[0]
        for event in events[1:]:
            step = event.get(2, 0)
            if 7 in event:
                assert message(event[7]) == {1: 1}
                kept = {key: values for key, values in kept.items() if key[1] < step}
                continue
            value = message(message(event[5])[1])
            if 2 in value:
                found = struct.unpack("<f", value[2])[0]
            else:
                tensor = message(value[8])
                assert tensor[1] == 7 and tensor[2] == b"" and message(message(value[9])[1]) == {1: b"text"}
                found = tensor[8].decode()
            kept.setdefault((value[1].decode(), step), []).append(found)
    return kept


class Tensorboard(RunsTest):
    RUNS = {"run": TENSORBOARD, "plain": {**TENSORBOARD, "train__tensorboard": False}}

    def says_what_the_run_says(self, run="run"):
        told, expected = read(self.folder / run / "tensorboard"), {}
        for line in self.metrics(run):
            for key, value in line.items():
                if line["kind"] in ("train", "valid") and key != "step" and isinstance(value, (int, float)):
                    expected.setdefault((f"{line['kind']}/{key}", line["step"]), []).append(struct.unpack("<f", struct.pack("<f", value))[0])
            for yardstick in line.get("values", []):
                for key in ("nats_per_token", "bits_per_byte"):
                    expected[f"yardsticks/{yardstick['name']}/{key}", 0] = [struct.unpack("<f", struct.pack("<f", yardstick[key]))[0]]
        self.assertEqual({key: values for key, values in told.items() if key[0] not in ("config", "samples")}, expected)
        config, = told["config", 0]
        self.assertTrue(all(line.startswith("    ") for line in config.splitlines()))
        self.assertEqual(json.loads(config), self.run_config(run))
        frames = self.film(run)[1]
        samples = {step: text for (tag, step), (text,) in told.items() if tag == "samples"}
        self.assertEqual(list(samples), [frame["step"] for frame in frames])
        for frame in frames:
            for line in "".join(frame["written"]).splitlines():
                self.assertIn(line, samples[frame["step"]])

    def test_it_says_what_the_run_says_and_changes_no_checkpoint(self):
        self.says_what_the_run_says()
        for step in self.steps():
            self.same_checkpoint("run", "plain", step)
        self.assertFalse((self.folder / "plain" / "tensorboard").exists())
        self.check("verify", "run")

    def test_after_a_kill_it_says_what_the_run_says(self):
        config = self.config("long", **{**TENSORBOARD, "train__max_steps": 10**6, "train__save_every": 40, "train__keep_last": 1})
        process = self.spawn("train", config, "--run", "run", "--force")

        def has_lines_after_a_save():
            lines = (self.folder / "run/metrics.jsonl").read_text().splitlines()[:-1] if self.checkpoints().is_dir() else []
            return lines and self.steps() and json.loads(lines[-1])["step"] > self.steps()[-1] >= 40

        self.wait_for(has_lines_after_a_save, process)
        process.kill()
        process.communicate()
        torn, = (self.folder / "run" / "tensorboard").iterdir()
        os.truncate(torn, torn.stat().st_size - 3)
        before = torn.read_bytes()
        last = self.steps()[-1]
        self.resume("run", "--max-steps", last + 9)
        self.assertEqual(torn.read_bytes(), before)
        self.assertEqual(len(list(torn.parent.iterdir())), 2)
        self.says_what_the_run_says()

    def test_it_belongs_to_the_process(self):
        # A run may get it later, with all that came before, and leave it.
        self.resume("plain", "--more", 4, "--set", "train.tensorboard=true")
        self.says_what_the_run_says("plain")
        old = read(self.folder / "plain" / "tensorboard")
        self.resume("plain", "--more", 4, "--set", "train.tensorboard=false")
        self.assertEqual(read(self.folder / "plain" / "tensorboard"), old)
        self.check("resume", "run", "--branch", "branch", "--more", 4)  # which begins its own
        self.says_what_the_run_says("branch")
        self.says_what_the_run_says("run")

    def test_a_folder_that_is_none_is_named_and_the_run_goes_on(self):
        shutil.rmtree(self.folder / "run" / "tensorboard")
        (self.folder / "elsewhere").mkdir()
        (self.folder / "run" / "tensorboard").symlink_to(self.folder / "elsewhere")
        self.resume("run", "--more", 4, facts=str(self.folder / "run" / "tensorboard"))
        self.assertEqual((self.steps()[-1], list((self.folder / "elsewhere").iterdir())), (16, []))
        self.check("verify", "run", status=4, facts="tensorboard")
        self.check("report", "plain", "--html", "plain/tensorboard", status=2)


if __name__ == "__main__":
    unittest.main()
