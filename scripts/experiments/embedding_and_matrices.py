#!/usr/bin/env python3
"""How do W_Q, W_K, W_V differ from the embedding? Is king near queen? What if W_Q = W_K = W_V = I?

Trains a decoder on the fables, word by word, with and without these matrices. Then looks up pairs of words of one sort in
the embedding: at which rank of all words is the second among the neighbours of the first? Controls: the same pairs before
training, and the middle rank, which is chance.
"""
from common import Lab, cell, fables_config, mean, merged, table

PAIRS = ["king queen", "man woman", "boy girl", "he she", "him her", "fox wolf", "was were", "said asked"]
IDENTITY = {"query": "identity", "key": "identity", "value": "identity"}
VARIANTS = {
    "learned": {},
    "W_Q = W_K = W_V = I": {"decoder_self": IDENTITY},
    "W_Q = W_K = I": {"decoder_self": {"query": "identity", "key": "identity"}},
    "uniform weights": {"decoder_self": {"uniform": True}},
}


def rank(lab, run, pair):
    first, second = pair.split()
    found = lab.json("neighbors", run, first, "--top-k", 100000)
    return next(i for i, n in enumerate(found["queries"][0]["neighbors"]) if n["token"].strip() == second) + 1


def main():
    lab = Lab(__doc__, seeds=3)
    runs = {name: [lab.train("fables-" + name.replace(" ", "").replace("=", "-"),
                             merged(fables_config("causal_lm", 300), {"model": {"attention": attention}}), seed)
                   for seed in lab.seeds] for name, attention in VARIANTS.items()}
    print("The next word of the fables (decoder alone, 2 layers, 4 heads, 300 steps), held-out stories.\n")
    rows = []
    for name, trained in runs.items():
        results = [lab.json("evaluate", run) for run in trained]
        rows.append((name, cell(r["loss"] for r in results), cell((100 * r["accuracy"] for r in results), 1)))
    table(("attention", "loss", "next word right, %"), rows)

    print("\nThe record of the last step: the embedding beside the matrices of both layers (means).\n")
    records = [lab.json("inspect", run)["learning"][-1]["matrices"] for run in runs["learned"]]
    rows = []
    for title, part in (("embedding", "embed"), ("W_Q", ".q_proj"), ("W_K", ".k_proj"), ("W_V", ".v_proj"),
                        ("W_O", ".out_proj")):
        of = [[m for name, m in r.items() if part in name] for r in records]
        rows.append((title, *(cell((mean(m[key] for m in ms) for ms in of), 3)
                              for key in ("weight_norm", "cosine"))))
    table(("matrix", "norm", "cosine to start"), rows)

    print("\nRank of the second word among the neighbours of the first in the embedding (1: the nearest).\n")
    still = [lab.untrained("fables-learned", fables_config("causal_lm", 300), seed) for seed in lab.seeds]
    words = len(lab.json("neighbors", still[0], "king", "--top-k", 100000)["queries"][0]["neighbors"])
    rows = [(pair, *(cell((rank(lab, run, pair) for run in group), 0) for group in (runs["learned"], still)),
             f"{(words + 1) / 2:.0f}") for pair in PAIRS]
    table(("pair", "trained", "untrained", "chance"), rows)
    lab.done()


if __name__ == "__main__":
    main()
