"""heed ablate: the table and the JSON are one measurement."""
import unittest

from runs import RunsTest


class AblateTest(RunsTest):
    RUNS = {name: {"family": family, "train__max_steps": 8, **more} for name, family, more in (
        ("pairs", "seq2seq", {}), ("text", "causal_lm", {"data__valid_fraction": 0.3}),
        ("masked", "masked_lm", {"data__valid_fraction": 0.3}), ("none", "causal_lm", {"data__valid_fraction": 0}))}

    def test_every_part_is_measured_against_the_loss_of_evaluate(self):
        for run, parts in (("pairs", 3 + 2 + 2 + 6), ("text", 1 + 1 + 1 + 2), ("masked", 1 + 1 + 1 + 2)):
            a, = self.json("ablate", run)
            self.assertEqual(len(a["parts"]), parts)
            self.assertAlmostEqual(a["loss"], self.json("evaluate", run)[0]["loss"], delta=1e-5)
            alone = sum(p["all_but_this"] is None for p in a["parts"])
            self.assertEqual(a["passes"], 1 + 2 * parts - alone)
            differences = [p["difference"] for p in a["parts"]]
            self.assertEqual(differences, sorted(differences, reverse=True))
            self.assertEqual(len({p["name"] for p in a["parts"]}), parts)
            self.assertEqual(self.json("ablate", run, "--threads", 2)[0], a)

    def test_the_table_says_the_same(self):
        a, = self.json("ablate", "pairs", "--limit", 5, "--zero")
        self.assertEqual((a["sequences"], a["replaced_by"]), (5, "zero"))
        self.assertIsNone(a["parts"][0]["low"])  # too few sequences
        table = self.out("ablate", "pairs", "--limit", 5, "--zero", "--top", 3).splitlines()
        self.assertIn(f"{a['passes']} forward passes", table[0])
        self.assertEqual([line.split("  ")[0].strip() for line in table[3:6]], [p["name"] for p in a["parts"][:3]])
        self.assertIn("the first 3 of 13", table[-1])

    def test_a_run_without_held_out_data_is_refused(self):
        self.check("ablate", "none", status=2, facts=["data.valid_fraction", "0"])


if __name__ == "__main__":
    unittest.main()
