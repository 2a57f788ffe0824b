#!/usr/bin/env python3
"""Where did it get that? heed whence says which lines of a text taught the model an answer. Does it find lines that were planted?

In 2,000 lines about animals and where they live, 20 say that a made-up animal, the zorblat, lives in the mirrim. Of the answer
"the zorblat lives in the ... mirrim" these should be the 20 most helpful lines. What is calculated is a derivative, which is worth
something only if a training without one line ends near the training with it. So it is asked at two learning rates: with the
higher one the steps are too long for that, and the values say so themselves: one line of 2,000 would change a log-probability
by a third or more.
"""
import math
import random

from common import Lab, cell, mean, table

ANIMALS = "fox hen wolf goose badger otter heron mouse hare lynx crow mole".split()
PLACES = "meadow forest marsh valley orchard harbour cave village garden river hollow barn".split()
MOODS = "old young grey brown clever tired hungry brave small proud".split()
TIMES = "every spring, in winter, at night, these days, since long ago, as people say, I am told, everyone knows".split(", ")
VERBS = ["lives in", "sleeps in", "hides in", "walks to", "sings in", "hunts in"]
RATES = [1e-3, 3e-3]
ASKED = ["at night the old zorblat lives in the", "--answer", "mirrim"]
CONFIG = {
    "tokenizer": {"type": "word"},
    "model": {"d_model": 32, "n_heads": 2, "d_ff": 64, "encoder_layers": 0, "decoder_layers": 2, "activation": "gelu", "dropout": 0},
    "objective": {"type": "causal_lm", "target_length": 48},
    "optimizer": {"schedule": "cosine", "warmup_steps": 20, "eps": 1e-4},
    "train": {"batch_tokens": 960, "max_steps": 400},
}


def lines(seed, variant="planted"):
    """The text, and for each group of its planted lines their numbers, from 1. The variants: 20 lines that say it, each in its own
    words; 10 of these and 10 copies of one more; 10 that say it and 10 that say another place."""
    draw = random.Random(seed)
    homes = {animal: draw.sample(PLACES, 3) for animal in ANIMALS}

    def line(animal, verb, place):
        return f"{draw.choice(TIMES)} the {draw.choice(MOODS)} {animal} {verb} the {place} ."
    text = [line(animal, draw.choice(VERBS), draw.choice(homes[animal])) for animal in draw.choices(ANIMALS, k=1980)]
    at = sorted(draw.sample(range(2000), 20))
    planted = [line("zorblat", "lives in", "mirrim") for _ in at]
    others = set(draw.sample(range(20), 10)) if variant != "planted" else set()
    for i in others:
        planted[i] = planted[min(others)] if variant == "copies" else planted[i].replace("mirrim", "dorrow")
    for place, said in zip(at, planted):
        text.insert(place, said)
    return text, {place + 1 for i, place in enumerate(at) if i not in others}, {at[i] + 1 for i in others}


class Planted:
    """Trainings on these texts."""
    def __init__(self, lab):
        self.lab = lab

    def train(self, name, text, seed, rate=RATES[0]):
        path = self.lab.folder / f"{name}-{seed}.txt"
        path.write_text("\n".join(text) + "\n")
        config = {**CONFIG, "data": {"train": str(path), "valid_fraction": 0},
                  "optimizer": {**CONFIG["optimizer"], "learning_rate": rate}}
        return self.lab.train(f"{name}-{rate}", config, seed)

    def units(self, run):
        return self.lab.json("whence", run, *ASKED)["units"]

    def logprob(self, run):
        return math.log(self.lab.json("explain", run, *ASKED)["answer"]["probability"])


def found_at_each_rate(planted, seeds):
    rows = []
    for rate in RATES:
        found, largest = [], []
        for seed in seeds:
            text, lines_of_fact, _ = lines(seed)
            units = planted.units(planted.train("planted", text, seed, rate))
            found.append(len(lines_of_fact & {unit["lines"][0] for unit in units[:20]}))
            largest.append(units[0]["value"])
        rows.append([rate, cell(found, 0), cell(largest, 2)])
    table(["learning rate", "planted lines among the first 20", "largest value"], rows)


def copies_and_contradictions(planted, seeds):
    rows = []
    for variant, groups in (("copies", ("in its own words", "a copy, one of ten")), ("misled", ("says mirrim", "says dorrow"))):
        values, first, last = ([], []), ([], []), ([], [])
        for seed in seeds:
            text, *numbers = lines(seed, variant)
            units = planted.units(planted.train(variant, text, seed))
            for group, found in enumerate(numbers):
                values[group].append(mean([unit["value"] for unit in units if unit["lines"][0] in found]))
                first[group].append(sum(unit["lines"][0] in found for unit in units[:20]))
                last[group].append(sum(unit["lines"][0] in found for unit in units[-20:]))
        rows += [[name, cell(values[i], 4), cell(first[i], 0), cell(last[i], 0)] for i, name in enumerate(groups)]
    table(["a line that", "mean value", "of ten, among the 20 that help most", "among the 20 that harm most"], rows)


def really_removed(planted, seeds):
    """Removed from the file, not weighted with 0: batches, too, are others then."""
    names = {"again": "nothing", "chance": "20 lines by chance", "removed": "the 20 planted lines"}
    rows, foretold = {name: [] for name in names}, {name: [] for name in names}
    for seed in seeds:
        text, found, _ = lines(seed)
        whole = planted.train("planted", text, seed)
        phi, units = planted.logprob(whole), planted.units(whole)
        chance = set(random.Random(100 + seed).sample(sorted(set(range(1, 2001)) - found), 20))
        for name, gone in zip(names, (set(), chance, found)):
            left = [line for i, line in enumerate(text, 1) if i not in gone] + ["mirrim zorblat ."]  # both words stay known
            rows[name].append(planted.logprob(planted.train(name, left, seed)))
            foretold[name].append(phi - sum(unit["value"] for unit in units if unit["lines"][0] in gone))
    table(["removed from the text", "foretold", "log-probability of mirrim"],
          [[said, cell(foretold[name], 2), cell(rows[name], 2)] for name, said in names.items()])


def main():
    lab = Lab(__doc__, seeds=5)
    planted = Planted(lab)
    found_at_each_rate(planted, lab.seeds)
    copies_and_contradictions(planted, lab.seeds)
    really_removed(planted, lab.seeds)
    lab.done()


if __name__ == "__main__":
    main()
