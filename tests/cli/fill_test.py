"""heed fill: what fits in place of masks, one word each or whole spans."""
import json
import math
import unittest

from runs import SMALL, RunsTest

CYCLE = "abcdefghijklmnop"
# Learns CYCLE in a few hundred steps. It is trained on two masks in a text of 16 letters.
SPANS = {"family": "span_corruption", "data": {"train": "cycle.txt", "valid_fraction": 0.1},
         "objective__source_length": 16, "objective__mask_fraction": 0.3,
         "model": {"d_model": 32, "n_heads": 4, "d_ff": 64, "encoder_layers": 2, "decoder_layers": 1, "dropout": 0},
         "optimizer": {"learning_rate": 0.005, "schedule": "cosine", "warmup_steps": 40},
         "train": {"batch_tokens": 400, "max_steps": 800, "eval_every": 0, "save_every": 0}}


class Fill(RunsTest):
    RUNS = {"run": {"family": "masked_lm", "tokenizer": {"type": "word"}, **SMALL},
            "split": {"family": "masked_lm", "tokenizer": {"type": "word", "punctuation": "split"}, **SMALL}}

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

    def test_other_ways_to_write_a_mask_are_read(self):
        wanted = self.json("fill", "run", "the [MASK] saw [MASK]")[0]
        for gap in ("<mask>", "[mask]", "___", "<MASK>", "______"):
            self.assertEqual(self.json("fill", "run", f"the {gap} saw {gap}"), [wanted])

    def test_an_unknown_word_is_named_and_a_missing_mask_is_an_error(self):
        r = self.check("fill", "run", "--json", stdin="the [MASK]\nthe xyz [MASK]\nthe\na [MASK]\n", status=3, facts=["3", "[MASK]", "xyz"])
        self.assertEqual([json.loads(line)["masks"] is None for line in r.out.splitlines()], [False, False, True, False])

    def test_a_mask_stands_alone_where_words_keep_their_marks(self):
        for text, word in (("the [MASK].", "[MASK]."), ("the mill ___, m", "[MASK],"), ("the m<mask>", "m[MASK]"), ("[MASK][MASK]", "[MASK][MASK]")):
            self.check("fill", "run", text, status=3, facts=[word, "--top-k"])
        alone, = self.json("fill", "run", "the [MASK]", "--top-k", 1000)
        self.assertTrue([c for c in alone["masks"][0]["candidates"] if c["token"].endswith(".")])
        self.check("fill", "split", "the [MASK].")


class FillSpans(RunsTest):
    RUNS = {"run": SPANS}

    def texts(self):
        super().texts()
        (self.folder / "cycle.txt").write_text(CYCLE * 60)

    def test_each_mask_is_answered_by_the_span_that_belongs_there(self):
        for text, spans in (("abc[MASK]ghijk[MASK]nop", ["def", "lm"]), ("hijk[MASK]opa[MASK]defg", ["lmn", "bc"]),
                            ("[MASK]cdefghi[MASK]mnop", ["ab", "jkl"])):
            j, = self.json("fill", "run", text)
            self.assertEqual([mask["candidates"][0]["text"] for mask in j["masks"]], spans)
            self.assertEqual([j["ids"][mask["position"]] for mask in j["masks"]], [3, 4])

    def test_candidates_are_spans_by_their_probability(self):
        j, = self.json("fill", "run", "abc[MASK]ghijk[MASK]nop", "--top-k", 7)
        for mask in j["masks"]:
            p = [c["probability"] for c in mask["candidates"]]
            self.assertEqual(len(p), 7)
            self.assertEqual(p, sorted(p, reverse=True))
            self.assertLessEqual(sum(p), 1 + 1e-6)
            for c in mask["candidates"]:
                self.assertAlmostEqual(math.exp(c["log_probability"]), c["probability"], 9)
                self.assertEqual("".join(c["tokens"]), c["text"])
                self.assertEqual(len(c["ids"]), len(c["tokens"]))
        plain = self.out("fill", "run", "abc[MASK]ghijk[MASK]nop", "--top-k", 2).splitlines()
        self.assertEqual(plain[0::4], ["[MASK] 1", "[MASK] 2"])
        self.assertEqual([line.split()[1] for line in plain[1::4]],
                         [mask["candidates"][0]["text"] for mask in j["masks"]])

    def test_no_answer_is_empty_and_the_best_one_does_not_depend_on_how_many_are_asked_for(self):
        self.train(self.config("early", **{**SPANS, "train__max_steps": 2}), "early")
        many, = self.json("fill", "early", "abc[MASK]ghijk[MASK]nop", "--top-k", 100)
        one, = self.json("fill", "early", "abc[MASK]ghijk[MASK]nop", "--top-k", 1)
        for all_of, best in zip(many["masks"], one["masks"]):
            self.assertEqual(best["candidates"], all_of["candidates"][:1])
            self.assertLessEqual(len(all_of["candidates"]), 32)
            self.assertTrue(all(c["ids"] for c in all_of["candidates"]))

    def test_it_says_what_it_cannot_fill_in(self):
        for text, fact in (("a[MASK]c[MASK]e[MASK]g", "2"), ("a<extra_id_0>c[MASK]", "<extra_id_0>"), ("abc", "[MASK]"), ("a" * 20 + "[MASK]", "16")):
            self.check("fill", "run", text, status=3, facts=fact)

    def test_it_is_evaluated_by_target_token_and_looked_into(self):
        j, = self.json("evaluate", "run")
        self.assertNotIn("bits_per_byte", j)
        self.assertNotIn("bits per byte", self.out("evaluate", "run"))
        # Six tiles: tokens, sentinels, the last one, </s>; and the newline with </s>.
        self.assertEqual(j["tokens"], 6 * (5 + 2 + 2) + 2)
        a, = self.json("attend", "run", "abc[MASK]ghijk[MASK]nop")
        self.assertEqual(a["source_tokens"], [*"abc", "<extra_id_0>", *"ghijk", "<extra_id_1>", *"nop"])
        self.assertEqual(a["target_tokens"], ["<s>", "<extra_id_0>", *"def", "<extra_id_1>", *"lm", "<extra_id_2>"])
        self.check("inspect", "run")
        self.check("neighbors", "run", "a")

    def test_it_says_what_it_does_not_do(self):
        self.check("sample", "run", status=2, facts=["[MASK]", "heed fill run"])
        self.check("translate", "run", status=2, facts="heed fill run")
        self.check("evaluate", "run", "--stride", 3, status=2, facts="causal_lm")
        self.check("attend", "run", "--target", "abc", status=2, facts=["--target", "TEXT"])
        self.train(self.config("other", **{**SPANS, "objective__mean_span": 1}), "other", "--init-from",
                   self.folder / "run", status=2, facts=["objective.mean_span", "3.0", "1.0"])
        self.resume("run", "--set", "objective.mean_span=2", status=2, facts="objective.mean_span")


if __name__ == "__main__":
    unittest.main()
