"""Pairs without an encoder: the decoder reads <s> source </s> target, and every command follows."""
import json
import unittest

from runs import SMALL, RunsTest, weights

JOINED = {"family": "seq2seq", **SMALL, "model__encoder_layers": 0, "model__decoder_layers": 2}
GPT = {"model__positions": "learned", "model__norm": "pre"}


class JoinedPairs(RunsTest):
    RUNS = {"run": {**JOINED, "train__max_steps": 200, "train__batch_tokens": 300, "model__d_model": 32, "model__dropout": 0},
            "gpt": {**JOINED, **GPT, "data__max_length": 8, "train__select_by": "bleu"}}

    def setUp(self):
        super().setUp()
        self.sources = (self.folder / "a.source").read_text().splitlines()[:20]
        self.write("s", *self.sources)

    def scored(self, targets, *more):
        self.write("t", *targets)
        return self.json("score", "run", "--file", "s", "--target-file", "t", *more)

    def test_it_learns_and_its_translations_score_as_heed_score_says(self):
        result, = self.json("evaluate", "run", "--bleu", "--beam-size", 3)
        self.assertLess(result["loss"], 1.5)
        self.assertIn("bits_per_byte", result)
        for beam in 1, 4:
            found = self.json("translate", "run", "--file", "s", "--beam-size", beam, "--length-penalty", 0)
            self.assertGreater(len({j["translation"] for j in found}), 5)
            for j, score in zip(found, self.scored([j["translation"] for j in found]), strict=True):
                self.assertAlmostEqual(j["logprob"], score["logprob"], delta=1e-4)
        alone = [self.out("translate", "run", "--beam-size", 4, "--length-penalty", 0, source) for source in self.sources]
        self.assertEqual("".join(alone).splitlines(), [j["translation"] for j in found])
        greedy = self.out("translate", "run", "--beam-size", 1, self.sources[7])
        self.assertEqual(self.out("sample", "run", "--temperature", 0, self.sources[7]), greedy)

    def test_scores_depend_on_the_source_and_are_of_the_target_alone(self):
        one, = self.json("score", "run", "miller river", "--target", "river miller")
        other, = self.json("score", "run", "river river", "--target", "river miller")
        self.assertEqual(one["tokens"], ["river", "miller", "</s>"])
        self.assertEqual(one["source_ids"], [one["ids"][1], one["ids"][0], 2])
        self.assertNotEqual(one["logprob"], other["logprob"])

    def test_attend_shows_the_decoder_alone(self):
        j, = self.json("attend", "run", "miller river", "--target", "river miller", "--pull")
        source, target = j["source_ids"], j["target_ids"]
        self.assertEqual((source[-1], target[0], target[1:4], len(target)), (2, 1, source, 6))
        self.assertEqual((j["label_ids"][:3], j["label_ids"][3:]), ([-1] * 3, target[4:] + [2]))
        self.assertNotIn("cross", j)
        self.assertNotIn("encoder", j)
        self.assertEqual((len(j["source_bytes"]), len(j["target_bytes"])), (3, 6))
        self.assertEqual(j["target_bytes"][4:], [[0, 5], [6, 12]])
        for head in (h for layer in j["decoder"] for h in layer):
            self.assertEqual([len(row) for row in head], [6] * 6)
            self.assertEqual(head[1][2:], [0] * 4)
        written, = self.json("attend", "run", "miller river")
        best, = self.json("translate", "run", "miller river")
        self.assertEqual(written["target_ids"], [1, *source, *best["ids"]])
        self.check("attend", "run", "miller river", "--pull", status=2, facts="--target")

    def test_explain_ablate_and_reports(self):
        j, = self.json("explain", "run", "miller river")
        greedy, = self.json("translate", "run", "--beam-size", 1, "miller river")
        self.assertEqual((j["ids"][0], j["ids"][-1], j["row"]), (1, 2, 3))
        self.assertEqual(j["answer"]["id"], (greedy["ids"] + [2])[0])
        j, = self.json("explain", "run", "miller river", "--target", "river")
        self.assertEqual((j["tokens"], j["row"]), (["<s>", "miller", "river", "</s>", "river"], 4))
        ablated, = self.json("ablate", "run")
        evaluated, = self.json("evaluate", "run")
        self.assertAlmostEqual(ablated["loss"], evaluated["loss"], delta=1e-5)
        self.check("report", "run", "--live", "--html", "live.html")
        self.assertTrue((self.folder / "run" / "report.html").exists())

    def test_it_opens_as_a_gpt_whose_prompts_end_in_the_end_mark(self):
        self.out("export", "gpt", "out")
        read = lambda name: json.loads((self.folder / "out" / name).read_text())
        config = read("config.json")
        self.assertEqual((config["model_type"], config["eos_token_id"], config["n_positions"]), ("gpt2", 2, 18))
        framing = read("tokenizer.json")["post_processor"]["single"]
        self.assertEqual([next(iter(part.values()))["id"] for part in framing], ["<s>", "A", "</s>"])
        generation = read("generation_config.json")
        self.assertEqual((2 in generation["suppress_tokens"], generation["max_new_tokens"]), (False, 7))
        card = (self.folder / "out" / "README.md").read_text()
        self.assertIn("AutoModelForCausalLM", card)
        self.assertIn("ends in `</s>`", card)
        self.check("export", "run", "other", status=2, facts="model.positions")  # sinusoidal: no GPT's

    def test_a_pair_beyond_the_positions_is_refused(self):
        words = "miller " * 9
        self.check("score", "gpt", words, "--target", words, status=3, facts=["20", "18"])
        long, = self.json("translate", "gpt", "miller " * 15)
        self.assertLessEqual(len(long["ids"]), 1)
        self.check("translate", "gpt", "miller " * 17, status=3, facts="17")
        self.check("translate", "gpt", "miller " * 14, "--prefix", "miller " * 3, status=3, facts=["18", "17", "--prefix"])
        told = self.check("translate", "gpt", "miller " * 13, "--prefix", "miller " * 3, "--min-tokens", 9)
        self.tells(told.err, "did not end")
        self.assertEqual(told.out, "miller miller miller\n")
        self.assertLessEqual(len(self.json("sample", "gpt", "miller " * 15, "--max-tokens", 9)[-1]["ids"]), 2)

    def test_a_gpt_is_tuned_to_answer(self):
        (self.folder / "a.txt").write_text("".join(f"{a}\n{a}\n" for a in self.sources * 3))
        self.train(self.config("text", family="causal_lm", tokenizer={"type": "word"}, **SMALL, **GPT, model__max_length=18), "text")
        tuned = self.config("tuned", **{**JOINED, **GPT, "model__decoder_layers": 1, "data__max_length": 8})
        self.train(tuned, "tuned", "--init-from", "text")
        self.assertEqual(*(weights(self.step(step, run) / "model.safetensors") for run, step in (("text", 12), ("tuned", 0))))
        self.assertTrue(self.out("translate", "tuned", "miller"))


if __name__ == "__main__":
    unittest.main()
