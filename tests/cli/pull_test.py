"""heed attend --pull and the pulls of the film."""
import base64
import unittest

from runs import RunsTest

SHAPES = {"encoder": ("source_ids", "source_ids"), "decoder": ("target_ids", "target_ids"),
          "cross": ("target_ids", "source_ids")}


class PullTest(RunsTest):
    RUNS = {name: {"family": family, "train__max_steps": 4, **more} for name, family, more in (
        ("causal", "causal_lm", {}), ("prefix", "prefix_lm", {}), ("pairs", "seq2seq", {}),
        ("masked", "masked_lm", {"tokenizer": {"type": "word"}}),
        ("spans", "span_corruption", {"objective__mask_fraction": 0.3, "objective__mean_span": 2,
                                      "objective__source_length": 12}),
        ("uniform", "causal_lm", {"model__attention": {"decoder_self": {"uniform": True}}}))}

    def pull(self, *arguments):
        a, = self.json("attend", *arguments, "--pull")
        for kind, (queries, keys) in SHAPES.items():
            self.assertEqual(kind in a["pull"], kind in a)
            for layer, maps in zip(a["pull"].get(kind, []), a.get(kind, []), strict=True):
                for head, weights in zip(layer, maps, strict=True):
                    self.assertEqual([len(head), len(head[0])], [len(a[queries]), len(a[keys])])
                    for pulls, row in zip(head, weights, strict=True):
                        self.assertLessEqual(abs(sum(pulls)), 1e-12 * max(map(abs, pulls)))
                        self.assertFalse(any(p for p, w in zip(pulls, row) if w == 0))
            if kind in a and len(a[keys]) > 1:
                self.assertTrue(any(p for layer in a["pull"][kind] for head in layer for row in head for p in row))
        self.assertEqual(len(a["label_ids"]), len(a["target_ids"] or a["source_ids"]))
        return a

    def test_the_labels_are_those_of_the_objective(self):
        for arguments in (["causal", "the old"], ["uniform", "the old"], ["prefix", "the", "--target", "mill"]):
            a = self.pull(*arguments)
            self.assertEqual(a["label_ids"], [*a["target_ids"][1:], -1])
        a = self.pull("prefix", "mill")  # a text alone begins at <s>
        self.assertEqual((a["source_ids"], a["target_ids"][1:]), ([1], a["label_ids"][:-1]))
        for arguments in (["pairs", "the old river", "--target", "river old the"], ["spans", "the old mill"]):
            a = self.pull(*arguments)
            self.assertEqual(a["label_ids"], [*a["target_ids"][1:], 2])
        self.assertTrue(set(a["source_ids"]) & set(a["label_ids"]))  # a sentinel
        a = self.pull("masked", "the [MASK] river [MASK] high", "--target", "old was")
        words = self.json("tokenize", "masked", "old was", "--ids")[0]["ids"]
        self.assertEqual(a["label_ids"], [-1, -1, words[0], -1, words[1], -1])

    def test_what_says_too_little_is_refused(self):
        for arguments, fact in ((["pairs", "the river"], "--target"), (["masked", "the mill"], "[MASK]"),
                                 (["masked", "the mill", "--target", "mill"], "[MASK]"),
                                 (["masked", "the [MASK]"], "--target"),
                                 (["masked", "the [MASK]", "--target", "old mill"], "2"),
                                 (["spans", "the [MASK] mi"], "--target")):
            self.check("attend", *arguments, "--pull", status=2, facts=fact)

    def test_without_pull_nothing_else_changes(self):
        plain, = self.json("attend", "pairs", "the old river", "--target", "river")
        pulled = self.pull("pairs", "the old river", "--target", "river")
        for key in ("pull", "label_ids"):
            del pulled[key]
        self.assertEqual(pulled, plain)

    def test_chosen_heads_have_the_pull_that_they_have_among_all(self):
        text = ("pairs", "the old river", "--target", "river")
        whole, one = self.pull(*text), self.pull(*text, "--kind", "cross", "--head", 1)
        self.assertEqual(one["pull"], {"cross": [[layer[1]] for layer in whole["pull"]["cross"]]})

    def test_what_is_printed_is_a_signed_map(self):
        text = self.out("attend", "causal", "the old", "--pull")
        self.assertIn("nats per unit of score", " ".join(text.split()))
        self.assertIn("-9", text)
        one = self.out("attend", "causal", "the old", "--pull", "--layer", 0, "--head", 1)
        self.assertEqual(one.count("layer 0, head 1"), 2)  # its weights, its pull

    def test_a_frame_of_the_film_has_the_pull_of_its_probe(self):
        for run in ("causal", "masked", "pairs", "prefix"):
            probe, frames = self.film(run)
            for frame in frames:
                self.assertEqual("pull" in frame, frame["probe_loss"] is not None)
                for kind, pull in zip(probe["kinds"], frame.get("pull", [])):
                    n, m = len(kind["queries"]), len(kind["keys"])
                    shares = [(b - 128) * abs(b - 128) / 127**2 for b in base64.b64decode(pull["map"])]
                    self.assertEqual(len(shares), kind["layers"] * kind["heads"] * n * m)
                    self.assertEqual(max(map(abs, shares)), 1)
                    self.assertGreater(pull["largest"], 0)
                    for row in range(0, len(shares), m):
                        self.assertAlmostEqual(sum(shares[row:row + m]), 0, delta=0.02 * m)
        self.out("verify", "causal")
        path = self.folder / "causal" / "film.jsonl"
        path.write_text(path.read_text().replace('"pull":[{"largest":', '"pull":[{"largest":"x","was":', 1))
        self.check("verify", "causal", status=4, facts="film.jsonl")


if __name__ == "__main__":
    unittest.main()
