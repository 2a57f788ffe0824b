#!/usr/bin/env python3
"""Where did it get that? heed whence says which lines of a text taught the model an answer. Does it find lines that were planted?

In 2,000 lines about animals and where they live, 20 say that a made-up animal, the zorblat, lives in the mirrim. Of the answer
"the zorblat lives in the ... mirrim" these should be the 20 most helpful lines. What is calculated is a derivative, which is worth
something only if a training without one line ends near the training with it. So it is asked at two learning rates: with the
higher one the steps are too long for that, and the values say so themselves: one line of 2,000 would change a log-probability
by a third or more.
"""
import random

from common import Lab, cell, table

ANIMALS = "fox hen wolf goose badger otter heron mouse hare lynx crow mole".split()
PLACES = "meadow forest marsh valley orchard harbour cave village garden river hollow barn".split()
MOODS = "old young grey brown clever tired hungry brave small proud".split()
TIMES = "every spring, in winter, at night, these days, since long ago, as people say, I am told, everyone knows".split(", ")
VERBS = ["lives in", "sleeps in", "hides in", "walks to", "sings in", "hunts in"]
RATES = [1e-3, 3e-3]
CONFIG = {
    "tokenizer": {"type": "word"},
    "model": {"d_model": 32, "n_heads": 2, "d_ff": 64, "encoder_layers": 0, "decoder_layers": 2, "activation": "gelu", "dropout": 0},
    "objective": {"type": "causal_lm", "target_length": 48},
    "optimizer": {"schedule": "cosine", "warmup_steps": 20, "eps": 1e-4},
    "train": {"batch_tokens": 960, "max_steps": 400},
}


def lines(seed):
    """The text, and which of its lines were planted, from 1."""
    draw = random.Random(seed)
    homes = {animal: draw.sample(PLACES, 3) for animal in ANIMALS}

    def line(animal, verb, place):
        return f"{draw.choice(TIMES)} the {draw.choice(MOODS)} {animal} {verb} the {place} ."
    text = [line(animal, draw.choice(VERBS), draw.choice(homes[animal])) for animal in draw.choices(ANIMALS, k=1980)]
    planted = sorted(draw.sample(range(2000), 20))
    for at in planted:
        text.insert(at, line("zorblat", "lives in", "mirrim"))
    return text, {at + 1 for at in planted}


def main():
    lab = Lab(__doc__, seeds=5)
    rows = []
    for rate in RATES:
        found, largest = [], []
        for seed in lab.seeds:
            text, planted = lines(seed)
            path = lab.folder / f"planted-{seed}.txt"
            path.write_text("\n".join(text) + "\n")
            config = {**CONFIG, "data": {"train": str(path), "valid_fraction": 0},
                      "optimizer": {**CONFIG["optimizer"], "learning_rate": rate}}
            run = lab.train(f"planted-{rate}", config, seed)
            units = lab.json("whence", run, "at night the old zorblat lives in the", "--answer", "mirrim")["units"]
            found.append(len(planted & {unit["lines"][0] for unit in units[:20]}))
            largest.append(units[0]["value"])
        rows.append([rate, cell(found, 0), cell(largest, 2)])
    table(["learning rate", "planted lines among the first 20", "largest value"], rows)
    lab.done()


if __name__ == "__main__":
    main()
