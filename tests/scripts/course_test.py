"""A notebook of docs/course runs to its end and prints what it should: another one with every commit."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = "/usr/bin/python3"  # Debian's, whose packages these are


class Course(unittest.TestCase):
    def setUp(self):
        if subprocess.run([PYTHON, "-c", "import nbclient, ipykernel, markdown, numpy"], capture_output=True).returncode:
            self.skipTest("scripts/install_dependencies.sh course")

    def test_the_notebook_whose_turn_it_is_runs(self):
        commits = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
        notebooks = sorted((ROOT / "docs/course").glob("*.ipynb"))
        notebook = notebooks[int(commits or 0) % len(notebooks)]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([PYTHON, ROOT / "scripts/course.py", os.environ["HEED_BINARY"], folder, notebook],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("<h1>", (Path(folder) / f"{notebook.stem}.html").read_text())

    def test_notebooks_lie_here_without_output(self):
        for notebook in (ROOT / "docs/course").glob("*.ipynb"):
            self.assertNotIn('"output_type"', notebook.read_text(), notebook)


if __name__ == "__main__":
    unittest.main()
