#!/usr/bin/env python3
"""What changes if the objective is masked words (BERT) instead of continuing (GPT)?

Trains the same two layers on the fables, word by word, as an encoder that fills in masked words and as a decoder that
continues. Their losses are about different questions; what can be compared is where they look: the share of attention
on earlier words, on the word itself and on later ones, beside uniform attention and the untrained model.
"""
from common import DATA, Lab, cell, fables_config, mean, table

SENTENCES = 40
LENGTH = 24  # words


def shares(lab, run, kind, texts):
    """Mean over heads and rows of the weight on earlier tokens, the token itself, later ones."""
    sums = [[], [], []]
    for text in texts:
        for layer in lab.json("attend", run, "--source", text)[kind]:
            for head in layer:
                for q, row in enumerate(head):
                    for values, x in zip(sums, (sum(row[:q]), row[q], sum(row[q + 1:]))):
                        values.append(x)
    return [mean(s) for s in sums]


def uniform(kind, n):
    rows = [(q / (q + 1), 1 / (q + 1), 0) if kind == "decoder" else (q / n, 1 / n, (n - 1 - q) / n) for q in range(n)]
    return [mean(r[i] for r in rows) for i in range(3)]


def main():
    lab = Lab(__doc__, seeds=3)
    text = (DATA / "fables.txt").read_text()
    stories = [s for s in text[int(0.9 * len(text)):].split("\n") if s][1:]
    texts = [" ".join(s.split(" ")[:LENGTH]) for s in stories][:SENTENCES]
    print(f"Where the two look: mean weight over heads and rows, {len(texts)} beginnings of held-out stories. Loss and")
    print("accuracy are of the masked words, or of the next word: not the same question.\n")
    rows = []
    for title, objective, kind in (("continuing", "causal_lm", "decoder"), ("masked words", "masked_lm", "encoder")):
        config = fables_config(objective, 300)
        runs = [lab.train(objective, config, seed) for seed in lab.seeds]
        still = [lab.untrained(objective, config, seed) for seed in lab.seeds]
        results = [lab.json("evaluate", run) for run in runs]
        for name, group in (("trained", runs), ("untrained", still)):
            of = [shares(lab, run, kind, texts) for run in group]
            scores = [cell(r["loss"] for r in results), cell((100 * r["accuracy"] for r in results), 1)] \
                if name == "trained" else ["", ""]
            rows.append((f"{title}, {name}", *scores, *(cell(o[i] for o in of) for i in range(3))))
        n = len(lab.json("attend", runs[0], "--source", texts[0])[kind][0][0])
        rows.append((f"{title}, uniform", "", "", *(f"{x:.3f}" for x in uniform(kind, n))))
    table(("objective", "loss", "right, %", "on earlier", "on itself", "on later"), rows)
    lab.done()


if __name__ == "__main__":
    main()
