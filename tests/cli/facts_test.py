"""What the tests of commands call a fact (runs.stands_in)."""
import unittest

from runs import stands_in


class Facts(unittest.TestCase):
    def test_they_stand_as_whole_words_and_numbers(self):
        for text, fact in [("at step 20.", "20"), ("16, 20", "20"), ("1,500 tokens", "1,500"), ("is 0.1", "0.1"), ("step-1", "1"),
                           ("x 10.1, 0.1", "0.1"), ("a.json:3: no", "3"), ("from 0 to 1", "0 to 1"), ("try: --more N", "--more"),
                           ("step 20\nbranched", "branched")]:
            self.assertTrue(stands_in(text, fact), text)
        for text, fact in [("is 0.1", "1"), ("is 0.1", "0"), ("1,500 tokens", "1"), ("1,500 tokens", "500"), ("1e-4", "4"),
                           ("found -1", "1"), ("step 120", "20"), ("words", "word"), ("", "any")]:
            self.assertFalse(stands_in(text, fact), text)
        self.assertRaises(AssertionError, stands_in, "any", "")


if __name__ == "__main__":
    unittest.main()
