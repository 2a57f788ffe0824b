"""Finite weights with infinite logits: every command that reads them says so."""
import array
import unittest

from runs import DIVERGED, SMALL, RunsTest, read_tensors, seal, write_tensors


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

    def test_every_command_that_reads_them_says_so(self):
        self.write("line", "the old")
        commands = [line.split() for line in (
            "sample pairs the old", "sample text the", "sample text the --temperature 0", "sample text the --json -n 3", "sample causal the",
            "sample causal the --temperature 0", "sample causal the --json -n 3", "translate pairs the old", "translate pairs the old --json",
            "translate pairs the old --beam-size 1", "evaluate pairs --bleu", "fill masked the [MASK] saw", "fill masked the [MASK] saw --json",
            "attend text the --target the --json", "attend pairs the --target the --json")]
        for run in self.RUNS:
            self.ruin(run)
            self.check("inspect", run)  # shows the weights themselves
            score = ["score", run, "--file", "line", *(["--target-file", "line"] if run == "pairs" else [])]
            commands += [["evaluate", run], score, [*score, "--json"], ["attend", run, "the"], ["explain", run, "the [MASK]" if run == "masked" else "the"]]
        for args, r in zip(commands, self.at_once(commands)):
            self.judge(r, args, DIVERGED, "--checkpoint")
            self.assertEqual(r.out, "", args)


if __name__ == "__main__":
    unittest.main()
