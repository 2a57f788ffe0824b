#!/usr/bin/env python3
"""How do W_Q, W_K, W_V differ from the embedding? Is king near queen? What if W_Q = W_K = W_V = I?

Trains a word-level decoder on the fables, with and without these matrices, and measures the last step of each run. Then
looks up pairs of similar words in the embedding: what is the rank of the second word among the neighbours of the first?
Controls: the same pairs before training, and the middle rank, which is chance.
"""
from common import INITIAL, LAST, Lab, cell, fables_config, mean, merged, shows, table

PAIRS = ["king queen", "man woman", "boy girl", "he she", "him her", "fox wolf", "was were", "said asked"]
IDENTITY = {"query": "identity", "key": "identity", "value": "identity"}
VARIANTS = {
    "learned": {},
    "W_Q = W_K = W_V = I": {"decoder_self": IDENTITY},
    "W_Q = W_K = I": {"decoder_self": {"query": "identity", "key": "identity"}},
    "uniform weights": {"decoder_self": {"uniform": True}},
}


def rank(lab, run, pair, checkpoint):
    first, second = pair.split()
    found = lab.json("neighbors", run, first, "--top-k", 100000, *checkpoint)
    return next(i for i, n in enumerate(found["queries"][0]["neighbors"]) if n["token"].strip() == second) + 1


def main():
    lab = Lab(__doc__, seeds=3)
    runs = {name: [lab.train("fables-" + name.replace(" ", "").replace("=", "-"),
                             merged(fables_config("causal_lm", 1000), {"model": {"attention": attention}}), seed)
                   for seed in lab.seeds] for name, attention in VARIANTS.items()}
    print("The next word of the fables (decoder alone, 2 layers, 4 heads, 1000 steps), held-out stories.\n")
    rows, losses = [], {}
    for name, trained in runs.items():
        results = [lab.json("evaluate", run, *LAST) for run in trained]
        losses[name] = [r["loss"] for r in results]
        rows.append((name, cell(losses[name]), cell((100 * r["accuracy"] for r in results), 1)))
    table(("attention", "loss", "next word right, %"), rows)
    by = {name: f"{mean(losses[name]) - mean(losses['learned']):+.3f}" for name in losses}
    shows(f"W_Q = W_K = W_V = I changes the loss by {by['W_Q = W_K = W_V = I']}; uniform weights change it by "
          f"{by['uniform weights']}.",
          f"The seeds of learned attention differ by {max(losses['learned']) - min(losses['learned']):.3f}.")

    print("\nAfter the last step: the embedding, and the matrices averaged over both layers.\n")
    tensors = [[t for t in lab.json("inspect", run, *LAST)["tensors"] if t["name"].endswith(".weight")]
               for run in runs["learned"]]
    rows, grown = [], {}
    for title, part in (("embedding", "embed"), ("W_Q", ".q_proj"), ("W_K", ".k_proj"), ("W_V", ".v_proj"),
                        ("W_O", ".out_proj")):
        of = [[t for t in ts if part in t["name"]] for ts in tensors]
        grown[title] = mean(t["norm"] / t["initial_norm"] for ts in of for t in ts)
        rows.append((title, *(cell((mean(t[key] for t in ts) for ts in of), 3)
                              for key in ("norm", "initial_norm", "cosine"))))
    table(("matrix", "norm", "norm at start", "cosine to start"), rows)
    least, most = min(grown, key=grown.get), max(grown, key=grown.get)
    shows(f"Largest growth in norm: {most}, to {grown[most]:.2f} times its start. Smallest: {least}, to "
          f"{grown[least]:.2f} times.")

    print("\nRank of the second word among the neighbours of the first in the embedding (1 is the nearest).\n")
    words = len(lab.json("neighbors", runs["learned"][0], "king", "--top-k", 100000)["queries"][0]["neighbors"])
    ranks = {pair: [[rank(lab, run, pair, which) for run in runs["learned"]] for which in (LAST, INITIAL)] for pair in PAIRS}
    chance = (words + 1) / 2
    table(("pair", "trained", "untrained", "chance"),
          [(pair, *(cell(of, 0) for of in both), f"{chance:.0f}") for pair, both in ranks.items()])
    nearer = [pair for pair, (trained, before) in ranks.items() if max(trained) < min(before)]
    shows(f"{len(nearer)} of {len(PAIRS)} pairs are closer in every trained model than in any untrained one"
          f"{': ' + ', '.join(nearer) if nearer else ''}.",
          f"The mean rank over pairs and seeds is {mean(mean(t) for t, _ in ranks.values()):.0f}. Before training it was "
          f"{mean(mean(b) for _, b in ranks.values()):.0f}; chance is {chance:.0f}.")
    lab.done()


if __name__ == "__main__":
    main()
