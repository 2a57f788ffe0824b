#!/usr/bin/env python3
"""scripts/dev/spread.py counts the files whose code mentions a capability, and no others."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts/dev"))
import spread  # noqa: E402


def outside(capability, files):
    """The files outside the capability's own, in a tree of the given files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, "src", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return spread.spread(pathlib.Path(folder))[capability][1]


class Spread(unittest.TestCase):
    def test_code_strings_and_includes_name_a_capability_and_comments_do_not(self):
        self.assertEqual(outside("verify", {
            "cli/code.cpp": "int x = verify(run);",
            "cli/help.cpp": 'const char* help = "// heed verify \\" RUN";',
            "cli/include.cpp": '#include "show/verify.h"',
            "cli/comment.cpp": "int x;  // as verify does\n/* verify\n verify */ int y;",
            "cli/string.cpp": 'const char* a = "http://x";  // verify',
            "show/web/page.js": "drawVerify();",
        }), ["cli/code.cpp", "cli/help.cpp", "cli/include.cpp", "show/web/page.js"])

    def test_own_files_config_sections_and_the_table_of_commands_do_not_count(self):
        files = ("show/verify.h", "train/verify.cpp", "config/fields.h", "cli/commands.cpp", "cli/command.h")
        self.assertEqual(outside("verify", dict.fromkeys(files, "verify")), [])


if __name__ == "__main__":
    unittest.main()
