#!/usr/bin/env python3
"""examples/forward.py computes what heed score prints, from the files of a checkpoint, for every shape of a decoder."""
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from runs import RunsTest  # noqa: E402

CLOSE = 1e-4  # of log-probabilities in float32
# Learning rates and widths are large enough that a wrong formula is seen.
SMALL = {"family": "causal_lm", "tokenizer": {"type": "bpe", "vocab_size": 300}, "objective__target_length": 32,
         "model__d_model": 32, "model__n_heads": 4, "model__d_ff": 48, "model__decoder_layers": 2, "model__init": "gpt2",
         "train__max_steps": 8, "train__eval_every": 0, "train__save_every": 8, "optimizer__learning_rate": 0.02}
ROTARY = {"model__positions": "rotary", "model__qk_norm": True}


class Forward(RunsTest):
    RUNS = {
        # GPT's block with rotary positions, and the block of today's open models.
        "gpt": {**SMALL, **ROTARY, "model__activation": "gelu"},
        "modern": {**SMALL, **ROTARY, "model__norm_type": "rms", "model__bias": False, "model__feed_forward": "gated",
                   "model__activation": "silu", "model__n_kv_heads": 2, "model__tie": "output"},
        # The transformer of 2017, without its encoder; and GPT-2.
        "2017": {**SMALL, "model__positions": "sinusoidal", "model__norm": "post", "model__activation": "relu",
                 "tokenizer": {"type": "word"}},
        "gpt2": {**SMALL, "model__positions": "learned", "model__activation": "gelu_tanh", "model__tie": "none",
                 "model__norm_eps": 1e-3, "tokenizer": {"type": "char"}},
        # Attention alone, and changed as experiments change it.
        "alone": {**SMALL, "model__positions": "none", "model__feed_forward": "none", "model__d_ff": 512, "tokenizer": {"type": "byte"}},
        "even": {**SMALL, **ROTARY, "model__attention": {"decoder_self": {"uniform": True}}},
        "bag": {**SMALL, **ROTARY, "model__attention": {"decoder_self": {"scaled": False, "positions": False}}},
        "squared": {**SMALL, **ROTARY, "model__activation": "relu2", "model__rope_base": 100, "model__n_kv_heads": 1},
    }

    def test_it_computes_what_heed_score_prints(self):
        texts = "the old miller walked to a river\nhis mill was near\n"
        for run in self.RUNS:
            with self.subTest(run):
                wanted = [line["token_logprobs"] for line in self.json("score", run, "--file", "-", stdin=texts)]
                ids = self.out("tokenize", run, "--ids", "--file", "-", stdin=texts)
                printed = subprocess.run([sys.executable, ROOT / "examples" / "forward.py", f"{run}/checkpoints/best"], cwd=self.folder,
                                         input=ids, capture_output=True, text=True)
                self.assertEqual(printed.returncode, 0, printed.stderr)
                found = [list(map(float, line.split())) for line in printed.stdout.splitlines()]
                self.assertEqual(list(map(len, found)), list(map(len, wanted)))
                self.assertLess(max(abs(a - b) for f, w in zip(found, wanted) for a, b in zip(f, w)), CLOSE)


if __name__ == "__main__":
    unittest.main()
