"""heed explain: its numbers are those of heed score and heed attend, and its shares add up."""
import json
import math
import re
import unittest
from pathlib import Path

from runs import RunsTest

SOURCE = Path(__file__).resolve().parents[2] / "src"


class ExplainTest(RunsTest):
    RUNS = {name: {"family": family, "train__max_steps": 4, **more} for name, family, more in (
        ("causal", "causal_lm", {"model__encoder_layers": 0, "model__decoder_layers": 2}), ("prefix", "prefix_lm", {}),
        ("pairs", "seq2seq", {"tokenizer": {"type": "word"}}),
        ("pieces", "causal_lm", {"tokenizer": {"type": "bpe", "vocab_size": 300}}),
        ("masked", "masked_lm", {"tokenizer": {"type": "word"}}),
        ("spans", "span_corruption", {"objective__mask_fraction": 0.3, "objective__mean_span": 2, "objective__source_length": 12,
                                      "tokenizer": {"type": "word"}}),
        ("post", "causal_lm", {"model__norm": "post"}))}

    def explained(self, *arguments):
        e, = self.json("explain", *arguments)
        layers = len(e["lens"])
        self.assertEqual([x["layer"] for x in e["lens"]], list(range(layers)))
        last = e["lens"][-1]
        self.assertAlmostEqual(last["probability"], e["answer"]["probability"], delta=1e-9)
        self.assertEqual(e["lead"] is None, last["rank"] > 1)
        for x in e["lens"]:
            self.assertAlmostEqual(math.exp(x["logit"] - x["log_sum"]), x["probability"], delta=1e-6)
        self.assertAlmostEqual(last["logit"], e["answer"]["logit"], delta=1e-5)
        head = e["head"]
        self.assertAlmostEqual(sum(head["weights"]), 1, delta=1e-6)
        keys = [*head["keys"], *([head["others"]] if "others" in head else [])]  # these are all
        self.assertAlmostEqual(sum(math.exp(k["score"]) for k in keys), math.exp(head["log_sum"]), delta=1e-6)
        for i, o in enumerate(head["output"]):
            self.assertAlmostEqual(sum(k["weight"] * k["v"][i] for k in keys), o, delta=1e-6)
        for k in head["keys"]:
            self.assertAlmostEqual(head["length"] * k["length"] * k["cosine"], k["dot"], delta=1e-6)
            self.assertEqual((k["id"], k["token"]), tuple(e[("source_" if head["kind"] == "cross" else "") + of][k["position"]]
                                                          for of in ("ids", "tokens")))
        heads = [p for p in e["shares"] if p["part"] == "head"]
        self.assertEqual(e["head"]["without"], max(p["without"] for p in heads))
        if "norm" in e:
            self.assertAlmostEqual(sum(p["share"] for p in e["shares"]), e["total"], delta=1e-6)
            other = e["against"]["logit"] if e["against"] else e["mean_logit"]
            self.assertAlmostEqual(e["total"], e["answer"]["logit"] - other, delta=1e-9)
        return e

    def weights_equal_attend(self, e, *arguments):
        a, = self.json("attend", *arguments)
        of = e["head"]
        for mine, its in zip(of["weights"], a[of["kind"]][of["layer"]][of["head"]][e["row"]], strict=True):
            self.assertAlmostEqual(mine, its, delta=1e-5)

    def test_probabilities_are_those_of_score_and_weights_those_of_attend(self):
        e = self.explained("causal", "the ol", "--answer", "d", "--against", "e")
        scored, = self.json("score", "causal", "the old")
        self.assertEqual((e["ids"][1:] + [e["answer"]["id"]], e["answer"]["token"]), (scored["ids"], "d"))
        self.assertAlmostEqual(math.log(e["answer"]["probability"]), scored["token_logprobs"][-1], delta=1e-5)
        self.assertEqual([p["layer"] for p in e["shares"] if p["part"] == "feed_forward"], [0, 1])
        self.weights_equal_attend(e, "causal", "the ol")
        best = self.explained("causal", "the ol")
        self.assertEqual(best["answer"]["id"], scored["alternatives"][-1][0]["id"])
        self.assertNotIn("pull", best)
        pair = ("pairs", "the old river", "--target", "river old")
        e = self.explained(*pair, "--answer", "the")
        scored, = self.json("score", "pairs", "the old river", "--target", "river old the")
        self.assertAlmostEqual(math.log(e["answer"]["probability"]), scored["token_logprobs"][2], delta=1e-5)
        self.assertEqual((e["source_ids"], e["ids"]), (scored["source_ids"], [1, *scored["ids"][:2]]))
        self.assertEqual({p["kind"] for p in e["shares"]}, {"decoder", "cross", None})
        self.weights_equal_attend(e, *pair)
        first = self.explained("pairs", "the old river", "--answer", "river")
        self.assertAlmostEqual(math.log(first["answer"]["probability"]), scored["token_logprobs"][0], delta=1e-5)
        e = self.explained("masked", "the ___ mill [MASK]", "--answer", "old")
        self.assertEqual(e["row"], 2)
        for run in ("masked", "spans"):
            e = self.explained(run, "the [MASK] mill", "--answer", "old")
            scored, = self.json("score", run, "the old mill")
            self.assertAlmostEqual(math.log(e["answer"]["probability"]), scored["token_logprobs"][1], delta=1e-5)
        self.weights_equal_attend(self.explained("masked", "the [MASK] mill"), "masked", "the [MASK] mill")
        e = self.explained("prefix", "the ol", "--target", "d ", "--answer", "m")
        self.assertEqual(len(e["ids"]), 3)

    def test_the_pull_is_that_of_the_answer_alone(self):
        e = self.explained("masked", "the [MASK] mill", "--answer", "old")
        a, = self.json("attend", "masked", "the [MASK] mill", "--target", "old", "--pull")
        for h in e["pull"]:
            for mine, its in zip(h["pull"], a["pull"]["encoder"][h["layer"]][h["head"]][e["row"]], strict=True):
                self.assertAlmostEqual(mine, its, delta=1e-9)
            self.assertTrue(all(x > 0 for x in h["value_pull"]))
        self.assertEqual(len(e["pull"]), 2)
        self.assertEqual({h["kind"] for h in self.explained("pairs", "the old", "--answer", "old")["pull"]}, {"decoder", "cross"})

    def test_a_word_of_pieces_may_have_a_space_before_it(self):
        tokens = self.json("tokenize", "pieces", "saw old mill the mill")[0]["tokens"]
        word = next(t for t in tokens if t.startswith("▁") and len(t) > 2)
        e = self.explained("pieces", "the old", "--answer", word[1:], "--against", "e")
        self.assertEqual((e["answer"]["token"], e["against"]["token"]), (word, "e"))
        self.assertEqual(self.explained("pieces", "the old", "--answer", word)["answer"], e["answer"])
        self.check("explain", "pieces", "the old", "--answer", word[1:] + "xq", status=2, facts=word)
        self.assertEqual(self.explained("pieces", "the old", "--answer", "</s>")["answer"]["id"], 2)

    def test_post_norm_has_no_shares_but_all_else(self):
        e = self.explained("post", "the old", "--answer", "e")
        self.assertEqual({p["share"] for p in e["shares"]}, {None})
        text = self.out("explain", "post", "the old", "--formulas")
        self.assertIn("post-norm", text)
        self.assertNotIn("norm(", text)  # before the output layer there is none
        self.assertIn("(W_O o) W_out", text)

    def test_two_screens_and_a_page(self):
        text = self.out("explain", "pairs", "the old river", "--answer", "old", "--against", "the", "--formulas", "--html", "page.html")
        self.assertLessEqual(text.count("\n"), 80)
        e = self.explained("pairs", "the old river", "--answer", "old", "--against", "the")
        for part in e["shares"]:
            self.assertIn(f"{part['share']:+.4f}", text)
        said = {"nn/attention.h": "softmax(Q_h K_hᵀ / sqrt(d_head))", "nn/loss.h": "logits = h Wᵀ", "show/explain.h": "share(z) = u . N(z)"}
        self.assertEqual(set(re.findall(r"\w+/\w+\.\w+", text)), set(said))
        for file, formula in said.items():
            self.assertIn(formula, (SOURCE / file).read_text())
        for number in (e["norm"]["divisor"], e["mean_logit"] if not e["against"] else e["against"]["logit"], e["head"]["length"],
                       e["head"]["log_sum"], e["lens"][-1]["log_sum"], *(k[of] for k in e["head"]["keys"] for of in ("length", "cosine", "score"))):
            self.assertIn(f"{number:.4f}", text)
        self.assertIn(f"ids {json.dumps(e['ids'], separators=(',', ':'))}", text)
        shown = self.page((self.folder / "page.html").read_text())
        self.assertEqual(shown["opening"], {
            "text": "the old river", "target": "", "answer": e["answer"]["id"], "against": e["against"]["id"],
            "head": ".".join(str(e["head"][of]) for of in ("kind", "layer", "head"))})

    def test_in_words(self):
        """What a pupil reads: some twenty lines, and no formula, id or source file."""
        for run, text, after in (("causal", "the ol", "after “l”"), ("pairs", "the old river", "after “<s>”"),
                                 ("masked", "the [MASK] mill", "in the place of “[MASK]”"), ("post", "the old", "after “d”")):
            shown = self.out("explain", run, text)
            e = self.explained(run, text)
            token, p = e["answer"]["token"].replace(" ", "▁"), e["answer"]["probability"]
            self.assertTrue(shown.startswith(f"{after}: “{token}” {100 * p:.1f} %\n"), shown)
            self.assertLessEqual(shown.count("\n"), 26)
            for unread in ("nn/", "show/", "W_", "Σ", "ids", "logit", "q . k"):
                self.assertNotIn(unread, shown)
            for t in e["lens"][-1]["top"]:
                share = math.exp(t["logprob"])
                self.assertRegex(shown, rf"  {re.escape(t['token'].replace(' ', '▁'))} +{100 * share:.1f} %( +█{{{round(24 * share)}}})?\n" )
            left = f"“{token}” goes from {100 * p:.1f} % to {100 * p * math.exp(-e['head']['without']):.1f} %"
            self.assertIn(f"{e['head']['kind']}, layer {e['head']['layer']}, head {e['head']['head']}: without it {left}", shown)
            for key in e["head"]["keys"]:
                self.assertRegex(shown, rf"  {re.escape(key['token'].replace(' ', '▁'))} +{key['position']} +{100 * key['weight']:.1f} %")
            self.assertEqual("not what later parts made of it" in shown, "norm" in e)
            largest = sorted(e["shares"], key=lambda part: -abs(part["share"] or 0))[:4] if "norm" in e else []
            for part in largest:
                self.assertIn(f"{part['share']:+.2f}", shown)

    def test_what_cannot_be_explained_is_refused(self):
        for arguments, status, fact in (
                (["causal", "the", "--answer", "é"], 2, "é"), (["masked", "[MASK]", "--answer", "mil"], 2, "mill"),
                (["pairs", "the", "--answer", "the old"], 2, "the"), (["causal", "the", "--answer", ""], 2, ()),
                (["causal", "the", "--answer", "e", "--against", "e"], 2, ()), (["masked", "the mill"], 3, "'the mill [MASK]'"),
                (["masked", "the [MASK]. mill"], 3, "[MASK]."),
                (["causal", "the " * 30], 3, "8"),
                (["causal", "the", "--json", "--html", "-"], 2, "standard output"), (["causal", "--file", "a.txt", "--html", "p"], 2, "--json"), (["nowhere", "the"], 4, "nowhere")):
            self.check("explain", *arguments, status=status, facts=fact)


if __name__ == "__main__":
    unittest.main()
