#!/usr/bin/env python3
"""How well counting alone predicts a masked word: baselines for configs/bert.json.

    scripts/dev/masked_baselines.py RUN TEXT [--heed PROGRAM]

TEXT is what RUN was trained on. It is split with RUN's tokenizer, and its last tenth is held out, as in the config. Each
held-out token is predicted from counts in the rest: of the token alone (unigram), after its left neighbour (bigram), and
between both neighbours. Expectation-maximisation on a tenth of the training part fits the weights of the mixture. Here
both neighbours are always visible; a masked model sees some of them masked.
"""
import argparse
import collections
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from heed_runs import DEFAULT_HEED, Heed  # noqa: E402


class Counts:
    """Counts of tokens, given no neighbour, the left one, the right one, or both."""

    def __init__(self, tokens, vocabulary):
        self.size = vocabulary
        self.tables = {name: collections.defaultdict(collections.Counter) for name in ("none", "left", "right", "both")}
        for i in range(1, len(tokens) - 1):
            for name, key in self.keys(tokens, i):
                self.tables[name][key][tokens[i]] += 1
        self.totals = {name: {k: sum(c.values()) for k, c in t.items()} for name, t in self.tables.items()}

    @staticmethod
    def keys(tokens, i):
        left, right = tokens[i - 1], tokens[i + 1]
        return ("none", ()), ("left", left), ("right", right), ("both", (left, right))

    def parts(self, tokens, i, names):
        """For each name, the counts of the tokens seen there and their total; None if there were none."""
        return [(self.tables[n].get(k), self.totals[n].get(k, 0)) for n, k in self.keys(tokens, i) if n in names]


def mixture(counts, tokens, names):
    """The weights of 1/V and of each estimate in the mixture, after ten rounds of EM."""
    weights = [1 / (len(names) + 1)] * (len(names) + 1)
    for _ in range(10):
        sums = [0.0] * len(weights)
        for i in range(1, len(tokens) - 1):
            shares = [w * p for w, p in zip(weights, chances(counts, tokens, i, names, tokens[i]))]
            total = sum(shares)
            for j, s in enumerate(shares):
                sums[j] += s / total
        weights = [s / sum(sums) for s in sums]
    return weights


def chances(counts, tokens, i, names, token):
    return [1 / counts.size] + [c[token] / t if t else 0.0 for c, t in counts.parts(tokens, i, names)]


def evaluate(counts, weights, tokens, names):
    right, nats = 0, 0.0
    for i in range(1, len(tokens) - 1):
        chance = sum(w * p for w, p in zip(weights, chances(counts, tokens, i, names, tokens[i])))
        nats -= math.log(chance)
        score = collections.Counter()
        for w, (c, t) in zip(weights[1:], counts.parts(tokens, i, names)):
            if t:
                for token, n in c.most_common(20):
                    score[token] += w * n / t
        right += max(score, key=score.get) == tokens[i]
    n = len(tokens) - 2
    return math.exp(nats / n), 100 * right / n


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("text")
    parser.add_argument("--heed", default=DEFAULT_HEED, help="the program (default: build/heed)")
    options = parser.parse_args()
    with open(options.text, "rb") as text:
        shown = Heed(options.heed)("tokenize", options.run, "--ids", stdin=text)
    tokens = [int(t) for t in shown.split()]
    cut, inner = int(0.9 * len(tokens)), int(0.81 * len(tokens))
    vocabulary = len(set(tokens[:cut]))
    print("| baseline | perplexity | right, % |\n|---|---|---|")
    for title, names in (("unigram", ("none",)), ("bigram (left neighbour)", ("none", "left")),
                         ("both neighbours", ("none", "left", "right", "both"))):
        weights = mixture(Counts(tokens[:inner], vocabulary), tokens[inner:cut], names)
        perplexity, right = evaluate(Counts(tokens[:cut], vocabulary), weights, tokens[cut:], names)
        print(f"| {title} | {perplexity:.2f} | {right:.1f} |")


if __name__ == "__main__":
    main()
