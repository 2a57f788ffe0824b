"""scripts/dev/record_behaviour.py sees changes in tensors and text; its configs use every choice."""
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
            data = path.read_bytes()
            path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
            made = json.loads((new / "record.json").read_text())
            made["items"]["gpt-byte"]['score run "The fox was"']["out"] = "1.5\n"
            (new / "record.json").write_text(json.dumps(made))
            status, lines = self.compare(old, new)
            self.assertEqual((status, len(lines)), (6, 3), lines)
            self.assertIn("gpt-byte: 1 thread: model.safetensors: 1 of ", lines[0])
            self.assertIn('gpt-byte: score run "The fox was": 1 of 3 values differ', lines[1])
            self.assertRegex(lines[2], r"^\d+ of \d+ items equal$")

    def compare(self, old, new):
        done = recorder.subprocess.run([sys.executable, ROOT / "scripts/dev/record_behaviour.py", "compare", old, new],
                                       stdout=recorder.subprocess.PIPE, text=True)
        return done.returncode, done.stdout.splitlines()


if __name__ == "__main__":
    unittest.main()
