#!/usr/bin/env python3
"""scripts/dev/record_behaviour.py sees changes in tensors, JSON and text, and nothing else; its configs use every choice."""
import array
import json
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts/dev"))
import record_behaviour as recorder  # noqa: E402

HEED = pathlib.Path(os.environ.get("HEED_BINARY", ROOT / "build" / "heed"))


def json_difference(old, new):
    old, new = ({"kind": "json", "out": text} for text in (old, new))
    return recorder.difference(old, new, None, None)


def text_difference(old, new):
    return recorder.difference({"kind": "text", "out": old}, {"kind": "text", "out": new}, None, None)


def tensor(*values, dtype="F32"):
    return dtype, [len(values)], array.array("f", values).tobytes()


class Differences(unittest.TestCase):
    def test_json_is_compared_by_value(self):
        self.assertIsNone(json_difference('{"a":1,"seconds":3}', '{"a":1,"seconds":4}'))
        self.assertIn("1 values gone ([0].b)", json_difference('{"a":1,"b":2}', '{"a":1}'))
        self.assertIsNone(json_difference('{"a":1.50,"b":[true,null]}\n', '{ "b": [true, null], "a": 1.5 }'))
        found = json_difference('{"a":2.0,"b":[1,2]}', '{"a":2.5,"b":[1,2]}')
        self.assertIn("1 of 5 values differ", found)
        self.assertIn("0.2 at [0].a: 2.0, now 2.5", found)

    def test_text_is_compared_word_by_word_and_space_by_space(self):
        self.assertIsNone(text_difference("a 0.5\nb\n", "a 0.5\nb\n"))
        self.assertIn("0.5 at line 1 word 2: 0.5, now 0.25", text_difference("a 0.5\nb\n", "a 0.25\nb\n"))
        self.assertIn("'b', now 'c'", text_difference("a\nb\n", "a\nc\n"))
        self.assertIsNotNone(text_difference("a  b", "a b"))
        self.assertIsNotNone(text_difference("a\n", "a"))

    def test_a_changed_tensor_is_named_with_its_largest_relative_difference(self):
        old = {"w": tensor(1, -4), "v": tensor(3)}
        self.assertIsNone(recorder.tensor_difference(old, dict(old)))
        found = recorder.tensor_difference(old, {**old, "w": tensor(1.5, -4)})
        self.assertEqual(found, "1 of 2 tensors and 1 of 3 values differ; largest relative difference 0.12 in w")
        self.assertIn("other tensors: v", recorder.tensor_difference(old, {"w": old["w"]}))
        self.assertIn("shape or type", recorder.tensor_difference(old, {**old, "w": tensor(1, -4, dtype="I32")}))
        self.assertIsNotNone(recorder.tensor_difference({"w": tensor(0.0)}, {"w": tensor(-0.0)}))


@unittest.skipUnless(HEED.exists(), f"{HEED} is not built")
class Recording(unittest.TestCase):
    def test_every_choice_of_the_schema_is_in_a_config(self):
        done = recorder.subprocess.run([HEED, "config", "--schema"], stdout=recorder.subprocess.PIPE, check=True)

        def choices(schema, place):
            for key, value in schema.get("properties", {}).items():
                # An ablation is computed in the same way for every kind of attention, a tokenizer for each side.
                name = place if key in ("encoder_self", "decoder_self", "cross", "target") else f"{place}.{key}"
                if "enum" in value and key != "live":  # which decides about a page alone
                    yield from ((name, choice) for choice in value["enum"] if choice != value["default"])
                yield from choices(value, name)

        def used(config, place):
            for key, value in config.items():
                name = place if key in ("encoder_self", "decoder_self", "cross", "target") else f"{place}.{key}"
                yield from used(value, name) if isinstance(value, dict) else [(name, str(value))]

        everything = {pair for name in recorder.CONFIGS for pair in used(recorder.config_of(name), "")}
        self.assertEqual(sorted(set(choices(json.loads(done.stdout), "")) - everything), [])

    def test_a_changed_tensor_and_a_changed_score_are_seen_in_a_record(self):
        with tempfile.TemporaryDirectory() as folder:
            old, new = pathlib.Path(folder, "old"), pathlib.Path(folder, "new")
            self.assertEqual(recorder.record(HEED, old, ["gpt-byte"], 1), [])
            recorder.shutil.copytree(old, new)
            self.assertEqual(self.compare(old, new)[0], 0)
            path = new / "gpt-byte" / "1-thread.model.safetensors"
            data = bytearray(path.read_bytes())
            data[-1] ^= 1
            path.write_bytes(data)
            made = json.loads((new / "record.json").read_text())
            item = made["items"]["gpt-byte"]['score run "The fox was"']
            item["out"] = "1.5\n"
            (new / "record.json").write_text(json.dumps(made))
            status, lines = self.compare(old, new)
            self.assertEqual(status, 6)
            self.assertEqual(len(lines), 3, lines)
            self.assertIn("gpt-byte: 1 thread: model.safetensors: 1 of ", lines[0])
            self.assertIn('gpt-byte: score run "The fox was": 1 of 3 values differ', lines[1])
            self.assertRegex(lines[2], r"^\d+ of \d+ items equal$")

    def compare(self, old, new):
        done = recorder.subprocess.run([sys.executable, ROOT / "scripts/dev/record_behaviour.py", "compare", old, new],
                                       stdout=recorder.subprocess.PIPE, text=True)
        return done.returncode, done.stdout.splitlines()


if __name__ == "__main__":
    unittest.main()
