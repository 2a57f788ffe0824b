"""Finite weights with infinite logits: every command that reads them says so."""
import array
import unittest

from runs import SMALL, RunsTest, read_tensors, seal, write_tensors

DIVERGED = 5


class RuinedWeights(RunsTest):
    RUNS = {"text": SMALL,
            "causal": {"family": "causal_lm", **SMALL},
            "masked": {"family": "masked_lm", "tokenizer": {"type": "word"}, **SMALL},
            "pairs": {"family": "seq2seq", **SMALL}}

    def ruin(self, run):
        """Every weight of all checkpoints is 1e30 or -1e30, with valid checksums: products overflow."""
        for checkpoint in self.checkpoints(run).glob("step-*"):
            path = checkpoint / "model.safetensors"
            header, body = read_tensors(path)
            values = array.array("f", ([1e30, 1e30, -1e30] * len(body))[:len(body) // 4])
            write_tensors(path, header, values.tobytes())
            seal(checkpoint)

    def refused(self, *args, **kw):
        with self.subTest(" ".join(map(str, args))):
            r = self.check(*args, status=DIVERGED, facts="--checkpoint", **kw)
            self.assertEqual(r.out, "")

    def test_every_command_that_reads_them_says_so(self):
        for run in self.RUNS:
            self.ruin(run)
            self.refused("evaluate", run)
            self.check("inspect", run)  # shows the weights themselves
        for run in ("text", "causal"):
            for options in ([], ["--temperature", 0], ["--json", "-n", 3]):
                self.refused("sample", run, "the", *options)
        for options in ([], ["--json"], ["--beam-size", 1]):
            self.refused("translate", "pairs", *options, stdin="the old\n")
        self.refused("sample", "pairs", "the old")
        self.refused("evaluate", "pairs", "--bleu")
        self.refused("fill", "masked", "the [MASK] saw")
        self.refused("fill", "masked", "the [MASK] saw", "--json")
        (self.folder / "line").write_text("the old\n")
        for run in self.RUNS:
            target = ["--target-file", "line"] if run == "pairs" else []
            self.refused("score", run, "--file", "line", *target)
            self.refused("score", run, "--file", "line", "--json", *target)
            self.refused("attend", run, "the")
            self.refused("explain", run, "the [MASK]" if run == "masked" else "the")
            if run in ("text", "pairs"):
                self.refused("attend", run, "the", "--target", "the", "--json")


if __name__ == "__main__":
    unittest.main()
