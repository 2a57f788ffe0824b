"""heed gradcheck: the gradients of every config that comes with heed. (Those of every layer and option: tests/nn.)"""
import json
import pathlib
import unittest

from runs import RunsTest

CONFIGS = sorted((pathlib.Path(__file__).parents[2] / "configs").glob("*.json"))
GPT = next(c for c in CONFIGS if c.name == "gpt.json")


class Gradcheck(RunsTest):
    def agrees(self, config, *sets):
        r = self.heed("gradcheck", config, *(part for s in sets for part in ("--set", s)))
        self.assertEqual(r.status, 0, r.out)

    def test_configs_agree_with_either_norm_and_other_first_weights(self):
        for i, config in enumerate(CONFIGS):
            for norm in ("pre", "post")[:2 if i % 4 == 0 else 1]:
                with self.subTest(config=config.name, norm=norm):
                    self.agrees(config, f"model.norm={norm}", "model.init=gpt2", "model.zero_init=true")

    def test_differences_that_cannot_tell_are_no_failure(self):
        (self.folder / "c.json").write_text(json.dumps({
            "data": {"train": "a.txt"}, "objective": {"type": "span_corruption"},
            "model": {"d_model": 32, "n_heads": 2, "d_ff": 64, "encoder_layers": 1, "decoder_layers": 2,
                      "positions": "rotary"}}))
        shown = self.json("gradcheck", "c.json", "--set", "seed=647785")[0]
        self.assertTrue(shown["ok"])
        self.assertEqual(shown["cannot_tell"], sum(t["cannot_tell"] for t in shown["tensors"]))

    def test_one_head_and_dropped_rows(self):
        for seed in range(1, 5):
            with self.subTest(seed=seed):
                self.agrees(GPT, f"seed={seed}", "model.n_heads=1", "model.dropout=0.5", "model.activation=relu",
                            "model.bias=false", "model.norm_type=rms")
        self.agrees(GPT, "seed=3", "model.n_heads=1", "model.dropout=0.3", "model.positions=rotary")

    def test_relu_at_its_corner_in_every_draw_ends_with_an_error(self):
        self.check("gradcheck", GPT, "--set", "model.dropout=0.95", "--set", "model.activation=relu",
                   "--set", "model.bias=false", status=2, facts=["0", "model.dropout"])


if __name__ == "__main__":
    unittest.main()
