#!/usr/bin/env python3
"""Does a head link a pronoun to its noun?

Trains a word-level decoder on the fables and measures the last step of each run. The head is chosen on training stories
and measured on unseen ones, so that the best of many heads is not best by luck. Measured is the pronoun's weight on the
nearest earlier noun of its referent, and on any earlier mention of it. Controls: the same head untrained, uniform
attention, and the same head's weight on nouns of the story's other referents. And, since a pronoun's noun is often
nearby: how often the nearest noun is the right one.
"""
import json
import subprocess
import sys

from common import DATA, LAST, ROOT, Lab, best_head, cell, fables_config, head_of, mean, shows, table, with_interval


def split_gold(folder):
    """Gold entries of some training stories, and of the held-out stories (the last tenth of the text)."""
    text = (DATA / "fables.txt").read_text()
    subprocess.run([sys.executable, ROOT / "scripts" / "make_fables.py", "--out", folder / "fables"], check=True)
    lines = (folder / "fables.gold.jsonl").read_text().splitlines()
    held_out = [x for x in lines if json.loads(x)["story"][0] > 0.9 * len(text)]
    parts = {"seen": lines[:len(held_out)], "held-out": held_out}
    for name, part in parts.items():
        (folder / f"{name}.jsonl").write_text("".join(x + "\n" for x in part))
    entries = [json.loads(x) for x in held_out]
    nearest = sum(e["nearest"] in e["noun"] for e in entries) / len(entries)
    return parts, nearest


def main():
    lab = Lab(__doc__, seeds=2)
    parts, nearest = split_gold(lab.folder)
    rows, losses, heads = [], [], []
    for seed in lab.seeds:
        run = lab.train("pronouns", fables_config("causal_lm", 2000, d_model=96, d_ff=384), seed)
        losses.append(lab.json("evaluate", run, *LAST)["loss"])
        scores = {name: lab.gold(run, "--gold", lab.folder / f"{name}.jsonl", "--file", DATA / "fables.txt", *LAST)
                  for name in parts}
        chosen = best_head(scores["seen"])
        head = head_of(scores["held-out"], chosen["layer"], chosen["head"])
        controls = {"untrained": head["untrained"], "nouns of others": head["shuffled"],
                    "uniform": scores["held-out"]["uniform"]}
        heads.append((head["trained"], controls))
        for name, score in {"trained": head["trained"], **controls}.items():
            rows.append((f"seed {seed}, layer {head['layer']}, head {head['head']}: {name}",
                         *(with_interval(score[m]) for m in ("mass", "accuracy", "any_mass", "any_accuracy"))))
    links = scores["held-out"]["links"]
    print(f"{links} pronouns in stories unseen by the model; validation loss {cell(losses)}.\n")
    table(("head", "weight on the noun", "first choice is the noun", "weight on any mention",
           "first choice is a mention"), rows)

    def above(measure):
        """The number of seeds in which the head's interval lies above those of all controls."""
        def apart(a, b):
            return None not in (a[measure]["low"], b[measure]["high"]) and a[measure]["low"] > b[measure]["high"]

        return sum(all(apart(trained, c) for c in controls.values()) for trained, controls in heads)

    shows(f"The chosen head beats all its controls (the intervals do not overlap) in weight on the noun with "
          f"{above('mass')} of {len(heads)} seeds, and in first choice with {above('accuracy')}; if any mention counts, "
          f"with {above('any_mass')} and {above('any_accuracy')}.",
          f"The noun is its first choice for {100 * mean(t['accuracy']['value'] for t, _ in heads):.0f} % of the pronouns; "
          f"always choosing the nearest noun is right for {100 * nearest:.0f} %.")
    lab.done()


if __name__ == "__main__":
    main()
