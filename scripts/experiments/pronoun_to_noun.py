#!/usr/bin/env python3
"""Does a head link a pronoun to its noun?

Trains a decoder on the fables, word by word. The head is chosen on stories it was trained on and measured on stories it
has not seen, so that the best of many heads is not best by luck. Mass on gold: weight from the pronoun on the nouns
of its referent. Controls: the same head untrained, uniform attention, and the same head's weight on the story's other
nouns. And, since a pronoun's noun is often a near one: the share where the nearest noun is the right one.
"""
import json

from common import DATA, Lab, best_head, cell, fables_config, table


def split_gold(folder):
    """The gold of a part of the stories trained on, and of those held out (the last tenth of the text)."""
    text = (DATA / "fables.txt").read_text()
    lines = (DATA / "fables.gold.jsonl").read_text().splitlines()
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
    rows, losses = [], []
    for seed in lab.seeds:
        run = lab.train("pronouns", fables_config("causal_lm", 800, d_model=96, d_ff=384), seed)
        losses.append(lab.json("evaluate", run)["loss"])
        scores = {name: lab.json("attend", run, "--gold", lab.folder / f"{name}.jsonl", "--source",
                                 DATA / "fables.txt")["kinds"][0] for name in parts}
        chosen = best_head(scores["seen"])
        head = next(h for h in scores["held-out"]["heads"]
                    if (h["layer"], h["head"]) == (chosen["layer"], chosen["head"]))

        def text(score, measure):
            e = score[measure]
            return f"{e['value']:.3f} [{e['low']:.3f}, {e['high']:.3f}]"

        for name, score in (("trained", head["trained"]), ("untrained", head["untrained"]),
                            ("other nouns instead", head["shuffled"]), ("uniform", scores["held-out"]["uniform"])):
            rows.append((f"seed {seed}, layer {head['layer']}, head {head['head']}: {name}", text(score, "mass"),
                         text(score, "accuracy")))
    links = scores["held-out"]["links"]
    print(f"{links} links from pronouns in stories that were not trained on; validation loss {cell(losses)}.\n")
    table(("head", "mass on the noun", "argmax is the noun"), rows)
    print(f"\nThe nearest noun is the right one for {100 * nearest:.0f} % of these pronouns.")
    lab.done()


if __name__ == "__main__":
    main()
