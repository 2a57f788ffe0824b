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
    def test_a_good_tree_passes(self):
        self.assertEqual(violations({}), [])

    def expect_one(self, planted, *words):
        found = violations(planted)
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def test_every_pair_of_neighbours_has_one_direction(self):
        order = check_layers.ORDER
        for left, right in zip(order, order[1:]):
            self.expect_one({f"{left}/x.cpp": f'#include "{right}/y.h"\n'}, f"{left}/x.cpp:1")
            self.assertEqual(violations({f"{right}/x.cpp": f'#include "{left}/y.h"\n'}), [])

    def test_a_heavy_header_reached_through_another_is_found(self):
        found = violations({"config/fields.h": "#include <nlohmann/json.hpp>\n"})
        self.assertEqual(found, ["nn/linear.h: heavy header reached: "
                                 "nn/linear.h -> config/fields.h -> nlohmann/json.hpp"])

    def test_an_include_without_its_folder_is_found(self):
        self.expect_one({"nn/norm.cpp": '#include "norm.h"\n'}, "nn/norm.cpp:1")

    def test_a_folder_that_has_no_place_is_found(self):
        self.expect_one({"utils/strings.h": ""}, "utils/strings.h")


if __name__ == "__main__":
    unittest.main()
