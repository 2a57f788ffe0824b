"""Every program in scripts/ says what it does with -h and --help, and then does nothing; scripts/README.md lists them all."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
FILES = [path for path in sorted(SCRIPTS.rglob("*")) if path.suffix in (".py", ".sh")]
PROGRAMS = [path for path in FILES if os.access(path, os.X_OK)]


class Help(unittest.TestCase):
    def test_help_is_all_that_a_program_does_when_asked_for_it(self):
        self.assertGreater(len(PROGRAMS), 30)
        for program in PROGRAMS:
            about = re.search(r'"""(.{9})|^# (.{9})', program.read_text(), re.M)
            for option in ["--help"] + ["-h"] * (program.suffix == ".sh"):  # argparse has both
                with self.subTest(f"{program.relative_to(ROOT)} {option}"), tempfile.TemporaryDirectory() as folder:
                    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
                    done = subprocess.run([program, option], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                          capture_output=True, text=True, timeout=60)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertIn(about[1] or about[2], done.stdout)
                    self.assertEqual(os.listdir(folder), [])

    def test_the_readme_names_each_file_and_no_other(self):
        listed = re.findall(r"`([\w/]+\.(?:py|sh))`", (SCRIPTS / "README.md").read_text())
        known = [str(path.relative_to(SCRIPTS)) for path in FILES
                 if path.parent.name not in ("experiments", "fables")]
        self.assertEqual(sorted(set(listed)), sorted(known))


if __name__ == "__main__":
    unittest.main()
