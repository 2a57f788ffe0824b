#!/usr/bin/env python3
"""What changes if the objective is to fill in masked words (BERT) instead of continuing a text (GPT)?

Trains the same two layers on the fables at word level: as an encoder that fills in masked words, and as a decoder that
continues. Measures the last step of each run. Their losses cannot be compared, but where they look can: the share of
attention on earlier words, on the word itself and on later words. Controls: uniform attention over the same rows, and the
untrained model.
"""
from common import DATA, INITIAL, LAST, Lab, cell, fables_config, mean, shows, table

SENTENCES = 40
LENGTH = 24  # words


def shares(lab, run, checkpoint, kind, texts):
    """Mean weight over heads and rows on earlier tokens, the token itself and later tokens; then the same if uniform."""
    sums, uniform = [[], [], []], [[], [], []]
    for text in texts:
        for layer in lab.json("attend", run, text, *checkpoint)[kind]:
            for head in layer:
                for q, row in enumerate(head):
                    n = q + 1 if kind == "decoder" else len(row)
                    for values, x in zip(sums + uniform, (sum(row[:q]), row[q], sum(row[q + 1:]),
                                                          q / n, 1 / n, (n - 1 - q) / n)):
                        values.append(x)
    return [mean(s) for s in sums], [mean(u) for u in uniform]


def main():
    lab = Lab(__doc__, seeds=3)
    text = (DATA / "fables.txt").read_text()
    stories = [s for s in text[int(0.9 * len(text)):].split("\n") if s][1:]
    texts = [" ".join(s.split(" ")[:LENGTH]) for s in stories][:SENTENCES]
    print(f"Where the two models look: mean weight over heads and rows, on the beginnings of {len(texts)} held-out stories.")
    print("Loss and accuracy are for masked words in one model and for the next word in the other, so they cannot be "
          "compared.\n")
    rows, looks = [], {}
    for title, objective, kind in (("continuing", "causal_lm", "decoder"), ("masked words", "masked_lm", "encoder")):
        config = fables_config(objective, 1000)
        runs = [lab.train(objective, config, seed) for seed in lab.seeds]
        results = [lab.json("evaluate", run, *LAST) for run in runs]
        for name, which in (("trained", LAST), ("untrained", INITIAL)):
            measured = [shares(lab, run, which, kind, texts) for run in runs]
            of, uniform = [m[0] for m in measured], measured[0][1]
            looks[objective, name] = [mean(o[i] for o in of) for i in range(3)]
            looks[objective, "uniform"] = uniform
            scores = [cell(r["loss"] for r in results), cell((100 * r["accuracy"] for r in results), 1)] \
                if name == "trained" else ["", ""]
            rows.append((f"{title}, {name}", *scores, *(cell(o[i] for o in of) for i in range(3))))
        rows.append((f"{title}, uniform", "", "", *(f"{x:.3f}" for x in uniform)))
    table(("objective", "loss", "right, %", "on earlier", "on itself", "on later"), rows)
    masked, causal = ({n: looks[o, n] for n in ("trained", "untrained", "uniform")} for o in ("masked_lm", "causal_lm"))
    shows(f"The masked-word model puts {100 * masked['trained'][2]:.0f} % of its attention on later words (untrained "
          f"{100 * masked['untrained'][2]:.0f} %, uniform {100 * masked['uniform'][2]:.0f} %). The model that continues "
          f"cannot look there.",
          f"On the word itself: {100 * masked['trained'][1]:.0f} % (uniform {100 * masked['uniform'][1]:.0f} %) and "
          f"{100 * causal['trained'][1]:.0f} % (uniform {100 * causal['uniform'][1]:.0f} %).")
    lab.done()


if __name__ == "__main__":
    main()
