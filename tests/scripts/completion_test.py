"""scripts/completion.bash: what bash offers after part of a command line."""
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "completion.bash"
HEED = os.environ.get("HEED_BINARY", "heed")


class Completion(unittest.TestCase):
    def offered(self, *words, cwd=None):
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _heed; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", script, "bash", SCRIPT, HEED, *words], capture_output=True, text=True, check=True, cwd=cwd)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_commands_options_and_keys_are_offered(self):
        self.assertEqual(self.offered("tra"), ["train", "translate"])
        self.assertIn("verify", self.offered(""))
        self.assertNotIn("trains", self.offered(""))
        self.assertEqual(self.offered("train", "a.json", "--init"), ["--init-from"])
        self.assertEqual(self.offered("sample", "run", "--num"), ["--num-samples"])
        self.assertEqual(self.offered("train", "a.json", "--set", "optimizer.learn"), ["optimizer.learning_rate="])

    def test_files_are_left_to_bash(self):
        self.assertEqual(self.offered("sample", "runs/"), [])
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(folder + "/runs/mine/checkpoints")
            self.assertEqual(self.offered("sample", "mi", cwd=folder), ["mine"])
        self.assertEqual(self.offered("nonsense", "--x"), [])


if __name__ == "__main__":
    unittest.main()
