"""The man pages of the package: one for heed and each command, with every option that --help lists, and no words lost."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEED = pathlib.Path(os.environ.get("HEED_BINARY", ROOT / "build" / "heed"))


def said(*words):
    return subprocess.run([HEED, *words], check=True, capture_output=True, text=True).stdout


def words(text):
    return sorted(re.findall(r"\w+", text))


class ManPages(unittest.TestCase):
    def test_each_command_has_a_page_with_all_that_its_help_says(self):
        commands = re.findall(r"^  (\w+)  ", said("--help"), re.M)
        self.assertGreater(len(commands), 20)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, ROOT / "scripts" / "package" / "man_pages.py", HEED, folder], check=True,
                           env={**os.environ, "SOURCE_DATE_EPOCH": "86400"})
            pages = {path.stem: path.read_text() for path in pathlib.Path(folder).iterdir()}
            self.assertEqual(sorted(pages), sorted(["heed", *(f"heed-{command}" for command in commands)]))
            for name, page in pages.items():
                with self.subTest(name):
                    text = said(*name.split("-")[1:], "--help")
                    shown = re.sub(r"^\.\w\w.*\n|\\f[BR]|\\&", "", page, flags=re.M).replace("\\-", "-").replace("\\e", "\\")
                    self.assertIn('1 "1970-01-02"', page)
                    body, title = re.split(r"\n\n", text, maxsplit=1)[::-1]
                    for word in words(title):
                        self.assertIn(word, shown)
                    self.assertEqual(set(words(body)) - {"usage"}, set(words(body)) & set(words(shown)))
                    options = re.findall(r"^  (?:\w+, )?(-[\w-]+(?:, -[\w-]+)*)", text, re.M)
                    heads = re.findall(r"^\.TP\n\\fB(.*)\\fR$", page.replace("\\-", "-"), re.M)
                    for option in options:
                        self.assertTrue(any(head.startswith(option) for head in heads), option)


if __name__ == "__main__":
    unittest.main()
