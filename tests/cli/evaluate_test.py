"""heed evaluate: its figures against plain arithmetic, each other and the training log."""
import json
import lzma
import math
import unicodedata
import unittest

from runs import SMALL, RunsTest, text


def cut(text, fraction):
    """Where the held-out part of a text in lines begins: at the next line, or before the next white space."""
    at = int(len(text) * fraction)
    line = text.find(b"\n", at - 1) + 1
    return line if line < len(text) else text.index(b" ", at)


class Evaluate(RunsTest):
    RUNS = {"run": SMALL}

    def test_figures_agree_with_each_other_and_with_the_log(self):
        e, = self.json("evaluate", "run")
        self.assertEqual(list(e), ["data", "checkpoint", "step", "loss", "perplexity", "accuracy",
                                   "bits_per_byte", "tokens", "bytes", "yardsticks"])
        self.assertAlmostEqual(e["perplexity"], math.exp(e["loss"]), places=9)
        self.assertAlmostEqual(e["bits_per_byte"],
                               e["loss"] * e["tokens"] / (math.log(2) * e["bytes"]), places=9)
        whole = (self.folder / "a.txt").read_bytes() + b"\n"  # as it ends without one
        self.assertEqual(e["bytes"], len(whole) - cut(whole, 0.9))
        self.assertEqual(e["loss"], self.metrics(kind="valid")[-1]["loss"])
        self.tells(self.out("evaluate", "run"), ["step-00000012", f"{e['perplexity']:.3f}"])

    def test_a_checkpoint_folder_is_named_by_its_step(self):
        for place in ("checkpoints/best/", "checkpoints/step-00000012/"):
            named, = self.json("evaluate", self.folder / "run" / place)
            self.assertEqual(named["checkpoint"], "step-00000012")

    def test_another_text_is_scored_whole(self):
        (self.folder / "b.txt").write_text(text(50, 7))
        other, = self.json("evaluate", "run", "--file", self.folder / "b.txt")
        self.assertEqual(other["bytes"], (self.folder / "b.txt").stat().st_size + 1)  # and a newline
        self.assertNotIn("unknown_tokens", other)
        (self.folder / "b.txt").write_text("the \u20ac\u20ac\n")
        self.assertEqual(self.json("evaluate", "run", "--file", "b.txt")[0]["unknown_tokens"], 2)

    def test_a_damaged_best_checkpoint_leads_to_a_whole_one(self):
        model = self.step(12) / "model.safetensors"
        model.write_bytes(model.read_bytes()[:-1])
        for command in ("evaluate", "sample", "inspect", "tokenize"):
            self.check(command, "run", status=4, facts=["step-00000012", "--checkpoint", "step-8"])


class YardsticksOfEvaluate(RunsTest):
    RUNS = {"text": {"family": "causal_lm", **SMALL}, "lines": {"family": "seq2seq", **SMALL},
            "pieces": {"tokenizer": {"type": "bpe", "vocab_size": 300}, **SMALL}}

    def pairs(self, n):
        pairs = zip(*(text(5 * n, seed).splitlines() for seed in (2, 3)))
        for side, lines in zip(("source", "target"), zip(*pairs)):
            self.write(f"a.{side}", *lines)

    def yardsticks(self, *args):
        e, = self.json("evaluate", *args)
        return e, {y["name"]: y for y in e["yardsticks"]}

    def xz(self, path):
        whole = (self.folder / path).read_bytes() + (b"\n" if path == "a.txt" else b"")  # it ends without one
        lines = whole.splitlines(keepends=True)
        train = b"".join(lines[:int(len(lines) * 0.9)]) if path == "a.target" else whole[:cut(whole, 0.9)]
        sizes = [len(lzma.compress(x)) for x in (whole, train)]
        return 8 * (sizes[0] - sizes[1]) / (len(whole) - len(train))

    def test_they_are_in_the_unit_of_the_loss_and_xz_is_that_of_python(self):
        for run, path, ngram in (("text", "a.txt", "6-gram"), ("lines", "a.target", "3-gram"),
                                 ("pieces", "a.txt", "3-gram")):
            with self.subTest(run):
                e, y = self.yardsticks(run)
                self.assertEqual(list(y), ["uniform", "unigram", ngram, "xz"])
                for each in y.values():  # the same tokens, the same bytes
                    self.assertAlmostEqual(each["bits_per_byte"] / each["nats_per_token"],
                                           e["bits_per_byte"] / e["loss"], places=9)
                self.assertAlmostEqual(y["xz"]["bits_per_byte"], self.xz(path), places=9)
                self.assertLess(y["unigram"]["nats_per_token"], y["uniform"]["nats_per_token"])
        shown = self.out("evaluate", run)
        rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines()}
        self.assertEqual(rows["xz"], [f"{y['xz'][key]:.4f}" for key in ("nats_per_token", "bits_per_byte")])
        self.tells(shown, f"{e['loss']:.4f}")

    def test_every_stride_scores_every_token_and_a_whole_window_is_no_stride(self):
        tiled, = self.json("evaluate", "text")
        for stride in (1, 3, 8):
            e, = self.json("evaluate", "text", "--stride", stride)
            self.assertEqual(e["tokens"], tiled["tokens"])
            self.assertEqual(abs(e["loss"] - tiled["loss"]) < 1e-6, stride == 8, stride)

    def test_a_run_logs_them_once_and_says_at_its_end_which_it_beats(self):
        self.train(self.config(**SMALL), "run", "--stop-at", 4)
        log = self.resume("run").err
        self.assertNotIn("yardsticks", log)
        logged, = self.metrics(kind="yardsticks")
        self.assertEqual((list(logged), logged["step"]), (["kind", "step", "values"], 0))
        self.assertEqual(logged["values"], self.json("evaluate", "run")[0]["yardsticks"])
        text = (self.folder / "run" / "train.log").read_text()
        self.assertEqual(text.count("yardsticks on the held-out text, nats per token: uniform "), 1)
        self.assertIn(" bits per byte), ", text)
        self.assertRegex(log, r"nats per token: (not )?better than .*6-gram \(\d\.\d\d\)")

    def test_the_initial_weights_have_the_same_data(self):
        e, _ = self.yardsticks("text")
        r = self.check("evaluate", "text", "--checkpoint", "initial", "--json")
        self.assertNotIn("changed", r.err)
        self.assertEqual(json.loads(r.out)["yardsticks"], e["yardsticks"])
        self.assertGreater(json.loads(r.out)["loss"], e["loss"])

    def test_another_text_is_compared_with_the_training_text_if_that_can_be_read(self):
        (self.folder / "b.txt").write_text(text(50, 7))
        self.train(self.config(**SMALL))
        _, y = self.yardsticks("run", "--file", "b.txt")
        self.assertEqual(list(y), ["uniform", "unigram", "6-gram", "xz"])
        (self.folder / "a.txt").write_text(text(300, 8))
        for data in (["--file", "b.txt"], []):
            r = self.check("evaluate", "run", *data, "--json", facts="yardsticks" if data else "warning:")
            self.assertNotIn("yardsticks", json.loads(r.out))
        (self.folder / "a.txt").unlink()
        r = self.check("evaluate", "run", "--file", "b.txt", "--json", facts="a.txt")
        self.assertNotIn("yardsticks", json.loads(r.out))


class EvaluateMasked(RunsTest):
    RUNS = {"masked": {"family": "masked_lm", **SMALL},
            "spans": {"family": "span_corruption", **SMALL, "objective__mask_fraction": 0.3, "objective__mean_span": 1},
            "words": {"family": "masked_lm", "tokenizer": {"type": "word"}, **SMALL},
            "rare": {"family": "masked_lm", "objective__mask_fraction": 1e-9, **SMALL}}

    def test_pseudo_perplexity_masks_each_token_in_turn_as_score_does(self):
        (self.folder / "b.txt").write_text("the old miller walked to a river\nthe mill was high")
        for run in ("words", "spans"):
            with self.subTest(run):
                e, = self.json("evaluate", run, "--file", "b.txt")
                lines = self.json("score", run, "--file", "b.txt")
                tokens = sum(len(s["ids"]) for s in lines)
                self.assertEqual(e["pseudo_tokens"], tokens)
                self.assertAlmostEqual(math.log(e["pseudo_perplexity"]), -sum(s["logprob"] for s in lines) / tokens)

    def test_tokens_that_fixed_masks_hide_have_figures_of_their_own(self):
        e, = self.json("evaluate", "masked")
        self.assertNotIn("perplexity", e)
        self.assertAlmostEqual(e["masked_perplexity"], math.exp(e["loss"]), places=9)
        self.assertLess(e["tokens"], e["pseudo_tokens"])
        self.tells(self.out("evaluate", "masked"), [f"{e['masked_perplexity']:.3f}", f"{e['pseudo_perplexity']:.3f}"])

    def test_what_hides_no_token_has_no_loss(self):
        (self.folder / "one.txt").write_text(text(9))
        e, = self.json("evaluate", "rare", "--file", "one.txt")
        self.assertEqual((e["tokens"], e["loss"], e["masked_perplexity"], e["accuracy"]), (0, None, None, None))
        self.assertGreater(e["pseudo_perplexity"], 1)
        (self.folder / "one.txt").write_text("")
        self.check("evaluate", "rare", "--file", "one.txt", status=3)

    def test_a_step_without_a_token_to_predict_has_no_loss(self):
        self.train(self.config(family="masked_lm", objective__source_length=4, train__batch_tokens=5, train__log_every=1,
                               train__eval_every=5, objective__mask_fraction=0.1), "few")
        losses = [m["loss"] for m in self.metrics("few", kind="train")]
        self.assertIn(None, losses)
        self.assertTrue(any(losses))
        self.assertNotIn(0.0, losses)
        data, = self.json("report", "few")
        self.assertEqual([x is None for x in data["train"]["loss"]], [x is None for x in losses])
        self.assertEqual({m["loss"] for m in self.metrics("rare", kind="train")}, {None})
        self.assertEqual(self.metrics("rare", kind="valid"), [])


class EvaluatePairs(RunsTest):
    RUNS = {"run": {"family": "seq2seq", **SMALL}}

    def test_accuracy_leaves_ends_out_and_unknown_words_of_a_target_spoil_bits_per_byte(self):
        for source, target, tokens, known in (("the\n" * 3, "the\n" * 3, 6, True), ("the old\n", "the miller\n", 3, True),
                                              ("the ocean\n", "the miller\n", 3, True), ("the ocean\n", "the ocean\n", 3, False)):
            (self.folder / "s").write_text(source)
            (self.folder / "t").write_text(target)
            e, = self.json("evaluate", "run", "--file", "s", "--target-file", "t")
            self.assertEqual((e["tokens"], "bits_per_byte" in e), (tokens, known))
            self.assertTrue(tokens != 6 or e["accuracy"] in (0, 1))  # of "the" alone, not of </s>

    def test_bleu_of_piped_pairs_is_that_of_files_and_its_signature_tells_lower_casing(self):
        self.train(self.config(family="seq2seq", **SMALL, data__lowercase=True), "run", "--force")
        args = ("evaluate", "run", "--bleu", "--json", "--target-file", "a.target", "--file")
        piped = self.out(*args, "-", stdin=(self.folder / "a.source").read_text())
        file, = self.json(*args[:3], *args[4:], "a.source")
        self.assertEqual({**json.loads(piped), "data": ""}, {**file, "data": ""})
        self.assertIn("case:lc", file["signature"])
        self.assertIn("case:lc", file["chrf_signature"])

    def test_several_references_and_a_tokenizer_of_the_target(self):
        """The figures of evaluate are those of heed bleu for the same translations; the best checkpoint is that of exact lines."""
        self.train(self.config(family="seq2seq", **SMALL, train__select_by="exact",
                               tokenizer={"type": "char", "target": {"type": "bpe", "vocab_size": 300}}), "run", "--force")
        self.assertEqual({p.name for p in (self.checkpoints() / "best").glob("*tokenizer*")}, {"source_tokenizer.json", "tokenizer.model"})
        self.assertIn("exact", self.metrics(kind="valid")[-1])
        self.assertGreater(len(self.json("tokenize", "run", "--side", "source", "the old")[0]["ids"]),
                           len(self.json("tokenize", "run", "the old")[0]["ids"]))
        self.check("train", self.folder / "c.json", "--run", "few", "--set", "tokenizer.target.vocab_size=9",
                   status=2, facts=["target's", "9"])
        for name, lines in (("s", ["the old miller", "a river"]), ("t", ["the mill", "near"]), ("u", ["his mill", "a high river"]), ("long", "aaa")):
            self.write(name, *lines)
        both = ("--target-file", "t", "--target-file", "u")
        e, = self.json("evaluate", "run", "--file", "s", *both, "--bleu")
        (self.folder / "h").write_text(self.out("translate", "run", "--file", "s"))
        found, = self.json("bleu", "h", "t", "u")
        self.assertEqual({key: e[key] for key in found if not key.startswith("token_")},  # those are of pieces
                         {key: x for key, x in found.items() if not key.startswith("token_")})
        self.assertIn("nrefs:2", found["signature"])
        self.write("spaced", "the mill ", "near")
        self.check("bleu", "h", "spaced", facts=["white space", "spaced:1"])
        self.write("apart", "caf\u0065\u0301", "near")
        self.check("bleu", "h", "apart", facts=["NFC", "apart"])
        self.assertNotIn("NFC", self.heed("bleu", "apart", "apart").err)
        self.check("evaluate", "run", "--file", "s", "--target-file", "spaced", facts=["white space", "s:1"])
        self.assertEqual(len(self.out("bleu", "-", "t", stdin="the mill\nfar\n").splitlines()), 6)
        self.check("evaluate", "run", "--file", "s", *both, status=2, facts="--bleu")
        self.check("bleu", "h", status=2, facts="REF")
        for command in (("bleu", "h", "-", "-"), ("bleu", "-", "t", "-"), ("evaluate", "run", "--file", "-", "--target-file", "-"),
                        ("evaluate", "run", "--bleu", "--file", "s", "--target-file", "-", "--target-file", "-")):
            self.check(*command, status=2, facts="standard input", stdin="the mill\nfar\n")
        for command in (("bleu", "h", "t", "long"), ("bleu", "long", "t"),
                        ("evaluate", "run", "--bleu", "--file", "s", "--target-file", "t", "--target-file", "long")):
            self.check(*command, status=3, facts="long:3")
        self.check("bleu", "h", "nothing", status=3, facts="nothing")

    def test_labels_of_one_word_are_judged_by_exact_match(self):
        for name, lines in (("right", "cat\ndog\n" * 30), ("half", "cat\ncat\n" * 30)):
            (self.folder / name).write_text(lines)
        self.assertTrue(self.out("bleu", "right", "right").startswith("exact match"))
        found, = self.json("bleu", "half", "right", "--to", "right")
        self.assertRegex(found["sentence"], "^right is better by 50.0000 percentage points of exact match")

    def test_of_several_references_the_loss_is_of_the_first_and_a_blank_line_drops_the_pair(self):
        for name, lines in (("s", ("the", "old", "a")), ("t", ("old", "the", "river")), ("u", ("a", " ", "to"))):
            self.write(name, *lines)
            self.write(name + "2", lines[0], lines[2])
        def evaluate(s, *targets):
            args = ("evaluate", "run", "--bleu", "--file", s, *[arg for t in targets for arg in ("--target-file", t)])
            return {**self.json(*args)[0], "data": ""}, self.check(*args)
        for order in (("t", "u"), ("u", "t")):
            found, told = evaluate("s", *order)
            self.assertEqual(found.pop("loss_of"), order[0])
            self.assertRegex(told.out, f"loss .* of {order[0]}\n")
            self.tells(told.err, ["1 of 3", "u:2"])
            wanted = evaluate("s2", *[name + "2" for name in order])[0]
            self.assertEqual([line.pop("line") for line in found["lines"]], [1, 3])
            for line in wanted["lines"]:
                line.pop("line")
            self.assertEqual(found, {key: x for key, x in wanted.items() if key != "loss_of"})
            self.assertEqual(found["loss"], evaluate("s2", order[0] + "2")[0]["loss"])
        self.assertNotIn("loss_of", evaluate("s", "t")[0])

    def test_references_stay_as_they_are_written(self):
        wide = "".join(chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in (self.folder / "a.target").read_text())
        (self.folder / "wide").write_text(wide, encoding="utf-8")
        self.train(self.config(family="seq2seq", **SMALL, data__target="wide", data__normalize="nfkc"), "run", "--force")
        (self.folder / "plain").write_text(unicodedata.normalize("NFKC", wide))
        args = ("evaluate", "run", "--bleu", "--file", "a.source", "--target-file")
        (written,), (read,) = self.json(*args, "wide"), self.json(*args, "plain")
        self.assertEqual(written["loss"], read["loss"])
        self.assertLess(written["chrf"], read["chrf"])


if __name__ == "__main__":
    unittest.main()
