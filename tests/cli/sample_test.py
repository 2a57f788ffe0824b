"""heed sample: what a sample depends on, where prompts come from, and which options are refused."""
import os
import subprocess
import unittest

from runs import SMALL, RunsTest

ARGS = ("sample", "run", "the ", "--max-tokens", 20)


class Sample(RunsTest):
    RUNS = {"run": {"family": "causal_lm", **SMALL}}

    def test_a_single_sample_has_an_object_per_token_before_its_own_and_its_text_follows_the_prompt(self):
        *tokens, one = self.json(*ARGS)
        self.assertEqual(list(one), ["sample", "prompt", "text", "ids", "tokens", "token_logprobs", "ranks", "entropies", "alternatives"])
        self.assertEqual([list(t) for t in tokens], [["sample", "id", "token", "text", "logprob", "rank", "entropy", "alternatives"]] * 20)
        for key, whole in (("id", "ids"), ("token", "tokens"), ("logprob", "token_logprobs"), ("rank", "ranks"),
                           ("entropy", "entropies"), ("alternatives", "alternatives")):
            self.assertEqual([t[key] for t in tokens], one[whole])
        self.assertEqual("".join(t["text"] for t in tokens), one["text"])
        self.assertEqual([s["sample"] for s in self.json(*ARGS, "-n", 3)], [0, 1, 2])
        self.assertEqual(self.out(*ARGS).rstrip("\n"), ("the " + one["text"]).rstrip("\n"))

    def test_a_single_sample_arrives_in_a_pipe_while_it_is_written(self):
        for options in ([], ["--json"]):
            p = self.spawn("sample", "run", "the ", "--max-tokens", 100_000_000, *options)
            seen = b""
            while len(seen) < 2000:
                seen += os.read(p.stdout.fileno(), 1 << 16)
            self.assertIsNone(p.poll())
            p.kill()
            p.communicate()
            self.assertTrue(seen.startswith(b'{"sample":0,"id":' if options else b"the "), seen)

    def test_odds_are_those_of_score_whatever_the_rules(self):
        *_, one = self.json(*ARGS[:3], "--max-tokens", 3, "--temperature", 3, "--seed", 4)
        scored, = self.json("score", "run", "the " + one["text"])
        for key in ("token_logprobs", "ranks", "entropies"):
            for mine, other in zip(one[key], scored[key][-3:]):
                self.assertAlmostEqual(mine, other, places=4)
        self.assertGreater(max(one["ranks"]), 1)
        *_, few = self.json(*ARGS, "--top-k", 3)
        self.assertEqual({len(best) for best in few["alternatives"]}, {3})
        self.assertTrue(all(i in [a["id"] for a in best] for i, best in zip(few["ids"], few["alternatives"])))

    def test_a_prompt_of_which_only_the_end_is_read_is_warned_of(self):
        self.check("sample", "run", "the " * 100, "--max-tokens", 2, facts=["400", "8"])
        self.assertEqual(self.check("sample", "run", "the", "--max-tokens", 2).err, "")

    def test_a_prompt_may_come_from_a_named_pipe(self):
        (self.folder / "prompt").write_text("the ")
        os.mkfifo(self.folder / "fifo")
        writer = subprocess.Popen(["cp", "prompt", "fifo"], cwd=self.folder)
        self.addCleanup(writer.kill)
        self.assertEqual(self.json("sample", "run", "--file", "fifo", "--max-tokens", 20), self.json(*ARGS))
        writer.wait()


if __name__ == "__main__":
    unittest.main()
