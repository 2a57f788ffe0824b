#!/usr/bin/env python3
"""Where do Q, K and V come from? Are W_Q, W_K and W_V trained like any other weight? Are they equal?

In self-attention Q, K and V are the same rows, multiplied by three different matrices. Trains a model to reverse lines and
looks at the matrices: what gradients they got, how far they moved, and how similar they are after and before training.
"""
from common import Lab, cell, cosine, mean, shows, table, task_config, weights

ATTENTIONS = {"encoder self-attention": "encoder.layers.0.self_attn",
              "decoder self-attention": "decoder.layers.0.self_attn", "cross-attention": "decoder.layers.0.cross_attn"}
PARTS = {"W_Q": "q_proj", "W_K": "k_proj", "W_V": "v_proj", "W_O": "out_proj"}
OTHERS = {"feed-forward, first": "encoder.layers.0.fc1.weight", "embedding (source)": "source_embed.weight"}


def gradients_of(record):
    return {name: m["gradient_norm"] for name, m in record["matrices"].items() if "gradient_norm" in m}


def untrained(config):
    """Trains for one step that changes nothing."""
    return {**config, "optimizer": {"type": "sgd", "learning_rate": 1e-30, "schedule": "constant"},
            "train": {**config["train"], "max_steps": 1}}


def main():
    lab = Lab(__doc__, seeds=3)
    config = task_config("reverse", 300)
    runs = [lab.train("reverse", config, seed) for seed in lab.seeds]
    starts = [weights(lab.train("reverse-untrained", untrained(config), seed)) for seed in lab.seeds]
    ends = [weights(run) for run in runs]
    reports = [lab.json("inspect", run) for run in runs]
    tensors = [{t["name"]: t for t in r["tensors"]} for r in reports]

    early = max(r["step"] for r in reports[0]["learning"] if r["step"] <= 32 and gradients_of(r))
    print(f"What training does to each matrix: the norm of its gradient at step {early}, how far it moved as a share of its")
    print("initial norm, and the cosine between its first and last value.\n")
    rows = []
    for title, prefix in ATTENTIONS.items():
        for part, name in PARTS.items():
            rows.append((f"{title}: {part}", f"{prefix}.{name}.weight"))
    rows += list(OTHERS.items())

    def first_gradient(report, name):
        record, = (r for r in report["learning"] if r["step"] == early)
        return gradients_of(record).get(name)

    shown = []
    for title, name in rows:
        gradients = [first_gradient(r, name) for r in reports]
        shown.append((title, cell(gradients, 4) if None not in gradients else "not recorded",
                      cell((t[name]["distance"] / t[name]["initial_norm"] for t in tensors), 2),
                      cell((t[name]["cosine"] for t in tensors), 2)))
    table(("matrix", "gradient", "moved", "cosine to start"), shown)
    moved = {title: mean(t[name]["distance"] / t[name]["initial_norm"] for t in tensors) for title, name in rows}
    attention = {title: x for title, x in moved.items() if title not in OTHERS}
    still = min(attention, key=attention.get)
    unmoved = sum(first_gradient(r, name) == 0 for r in reports for title, name in rows if title in attention)
    shows(f"{'Every' if unmoved == 0 else 'Not every'} attention matrix got a gradient with every seed. The one that moved "
          f"least ({still}) moved by {attention[still]:.2f} of its norm, the feed-forward matrix by "
          f"{moved['feed-forward, first']:.2f}.")

    print("\nHow similar the three matrices are: the cosine between them as vectors. The control is the same cosine before")
    print("training.\n")
    shown, most = [], [0, 0]
    for title, prefix in ATTENTIONS.items():
        for a, b in (("W_Q", "W_K"), ("W_Q", "W_V"), ("W_K", "W_V")):
            pair = [f"{prefix}.{PARTS[x]}.weight" for x in (a, b)]
            both = [[cosine(w[pair[0]], w[pair[1]]) for w in group] for group in (ends, starts)]
            most = [max(m, *map(abs, of)) for m, of in zip(most, both)]
            shown.append((f"{title}: {a} and {b}", *map(cell, both)))
    table(("pair", "trained", "before training"), shown)
    shows(f"Equal matrices would have a cosine of 1. The largest is {most[0]:.3f} in absolute value after training and "
          f"{most[1]:.3f} before.")
    lab.done()


if __name__ == "__main__":
    main()
