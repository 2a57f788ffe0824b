#!/usr/bin/env python3
"""scripts/dev/spread.py counts the lines whose code mentions a capability, and no others."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts/dev"))
import spread  # noqa: E402


def outside(capability, files):
    """{file outside the capability's own: numbers of its lines}, in a tree of the given files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, "src", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        with spread.tree(folder) as root:
            found = spread.spread(root)[capability]
        return {name: [number for number, _ in lines] for name, lines in found.items()}


class Spread(unittest.TestCase):
    def test_code_strings_and_includes_name_a_capability_and_comments_do_not(self):
        self.assertEqual(outside("verify", {
            "cli/code.cpp": "int x = verify(run);\nint y;\nint z = verify(x) + verify(y);",
            "cli/help.cpp": 'const char* help = "// heed verify \\" RUN";',
            "cli/include.cpp": '#include "show/verify.h"',
            "cli/comment.cpp": "int x;  // as verify does\n/* verify\n verify */ int y;\nverify();",
            "cli/string.cpp": 'const char* a = "http://x";  // verify',
            "show/web/page.js": "drawVerify();",
        }), {"cli/code.cpp": [1, 3], "cli/comment.cpp": [4], "cli/help.cpp": [1], "cli/include.cpp": [1],
             "show/web/page.js": [1]})

    def test_own_files_config_sections_and_the_table_of_commands_do_not_count(self):
        files = ("show/verify.h", "train/verify.cpp", "config/fields.h", "cli/commands.cpp", "cli/command.h")
        self.assertEqual(outside("verify", dict.fromkeys(files, "verify")), {})

    def test_a_word_that_means_something_else_does_not_count(self):
        self.assertEqual(outside("ranks", {"base/pool.cpp": "std::exchange(x, 1); failed_.exchange(true);",
                                           "cli/score.cpp": '{"rank", token.rank}', "math/dot.cpp": "crew.run(n, f);",
                                           "nn/loss.cpp": "if (crew.ranks() > 1) return;"}), {"nn/loss.cpp": [1]})
        self.assertEqual(outside("divergence", {"cli/a.cpp": "return Exit::diverged;", "cli/b.cpp": "catch (Diverged& e)"}),
                         {"cli/b.cpp": [1]})
        self.assertEqual(outside("branch", {"nn/residual.h": "Mat<T> branch; dbranch; branch_output",
                                            "train/go.cpp": "branched(request)"}), {"train/go.cpp": [1]})


if __name__ == "__main__":
    unittest.main()
