"""heed fill: candidates for masked words."""
import unittest

from runs import SMALL, RunsTest


class Fill(RunsTest):
    RUNS = {"run": {"family": "masked_lm", "tokenizer": {"type": "word"}, **SMALL},
            "lower": {"family": "masked_lm", "tokenizer": {"type": "word"}, "data__lowercase": True, **SMALL}}

    def test_every_mask_has_its_most_probable_words_in_order(self):
        j, = self.json("fill", "run", "the [MASK] saw [MASK]", "--top-k", 3)
        self.assertEqual(j["ids"].count(3), 2)
        for mask in j["masks"]:
            self.assertEqual(j["ids"][mask["position"]], 3)
            p = [c["probability"] for c in mask["candidates"]]
            self.assertEqual(len(p), 3)
            self.assertEqual(p, sorted(p, reverse=True))
            self.assertLessEqual(sum(p), 1)
            self.assertTrue(all(c["id"] > 3 for c in mask["candidates"]))

    def test_an_unknown_word_and_a_missing_mask_are_errors(self):
        self.check("fill", "run", "the xyz [MASK]", status=3, words="xyz")
        self.check("fill", "run", "the xyz", status=3, words="no [MASK]")

    def test_lower_cased_data_lower_cases_the_text_but_not_the_mask(self):
        j, = self.json("fill", "lower", "The [MASK] SAW")
        self.assertEqual(len(j["masks"]), 1)
        a, = self.json("attend", "lower", "--source", "The [MASK] SAW")
        self.assertEqual(a["source_tokens"], ["<s>", "the", "[MASK]", "saw"])


if __name__ == "__main__":
    unittest.main()
