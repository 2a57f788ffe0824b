#!/usr/bin/env python3
"""Planted violations of the folder order are found; the same tree without them passes."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts/dev"))
import check_layers  # noqa: E402

GOOD = {
    "base/error.h": "#include <string>\n",
    "config/fields.h": "#include <nlohmann/json_fwd.hpp>\n",
    "config/fields.cpp": '#include "config/fields.h"\n#include <nlohmann/json.hpp>\n',
    "math/mat.h": "",
    "nn/linear.h": '#include "config/fields.h"\n#include "math/mat.h"\n',
    "train/trainer.cpp": '#include "nn/linear.h"\n#include <spdlog/spdlog.h>\n',
    "main.cpp": '#include "train/trainer.h"\n#include <CLI/CLI.hpp>\n',
}


def violations(planted):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (GOOD | planted).items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check_layers.violations(pathlib.Path(folder))


class CheckLayers(unittest.TestCase):
    def test_each_violation_is_found_and_nothing_else(self):
        cases = [({}, ""), ({"nn/norm.cpp": '#include "norm.h"\n'}, "nn/norm.cpp:1"), ({"utils/strings.h": ""}, "utils/strings.h"),
                 ({"config/fields.h": "#include <nlohmann/json.hpp>\n"},
                  "nn/linear.h: heavy header reached: nn/linear.h -> config/fields.h -> nlohmann/json.hpp")]
        for left, right in zip(check_layers.ORDER, check_layers.ORDER[1:]):
            cases += [({f"{left}/x.cpp": f'#include "{right}/y.h"\n'}, f"{left}/x.cpp:1"), ({f"{right}/x.cpp": f'#include "{left}/y.h"\n'}, "")]
        for planted, words in cases:
            found = violations(planted)
            self.assertEqual([words in line for line in found], [True] * bool(words), (planted, found))


if __name__ == "__main__":
    unittest.main()
