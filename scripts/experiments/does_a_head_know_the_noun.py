#!/usr/bin/env python3
"""If the next word can be known only from the noun that a pronoun stands for, does a head find that noun?

Each passage has a woman, a man and a pet, and a pronoun. The word after the pronoun is what the noun it stands for always
does: "Alena , Corino and Gilus met by the river . at noon he swam ." That Corino is a man and that he swims is known from
other sentences. (Women end in -a, men in -o, pets in -us, for the reader's sake: a word is one token of the model.)

A quarter of the nouns are held out: they never occur in a text with a pronoun. What they are, what they do, that they meet
others, and which of three is the man ("the man was Corino"), is all that training says of them. And some patterns of
sentences never occur in training, with any noun.

The head is the one with most weight on the noun in passages as in training; it is measured where both nouns and pattern are
held out. Then it is taken away (its columns of W_O are 0), or another one is, or all others are. Controls: the untrained
model, guessing one of the three nouns, the head's weight on the two other nouns, and uniform attention.
"""
import json
import math
import random

from common import INITIAL, LAST, Lab, best_head, cell, head_of, mean, shows, table, with_interval, without_heads
from drawing import STYLE, page, svg, text

VERBS = "sang slept swam danced prayed laughed painted shouted".split()
KINDS = {"woman": ("she", "a"), "man": ("he", "o"), "pet": ("it", "us")}  # the pronoun, and how the names end
STEMS = [a + b for a in "Al Bel Cor Dor Fer Gil Hel Jun".split() for b in "an en er et il in on ul".split()]
HELD_OUT = range(16)  # of the stems
PLACES = "in the garden|by the river|at the market|on the bridge|near the old mill|behind the church".split("|")
TIMES = "at noon|in the evening|after a while|on the next day|before supper|late at night".split("|")
# A, B and C are nouns in any order, P is the pronoun of one of them, V what that one does.
PATTERNS = """A , B and C met PLACE . TIME P V .
PLACE A met B and C . P V .
A met B PLACE . C came TIME . then P V .
TIME A saw B . C was there too , and P V .
A waited for B and C PLACE . TIME P V for them .
PLACE stood A . B and C came TIME , and soon P V .
A came with B . they met C PLACE , where P V TIME .
TIME A , B and C were tired . PLACE P V .
A was PLACE with B and C when P V .
A and B looked for C . they met PLACE and P V .
the day was cold PLACE . A saw B and C . P V TIME .
A asked B to wait for C . TIME they were tired , so P V .
TIME A went PLACE . B and C were there , and P V too .
A knew B and C . they came PLACE TIME , but then P V .
with A and B came C . PLACE P V while they waited .
A and B were cold . C came PLACE . P V for them TIME .""".split("\n")
UNSEEN_PATTERNS = """TIME A and B were PLACE . they saw C . soon P V .
A was tired . PLACE stood B . C came TIME , so P V .
A asked B to wait . TIME C stood there with them when P V .
the day was cold . A , B and C waited PLACE , where P V .
PLACE they were tired . A looked for B , and C waited . TIME P V .
A stood PLACE . soon B came with C , but then P V for them .""".split("\n")
WITHOUT_PRONOUN = """A , B and C met PLACE . TIME they were tired .
PLACE A met B and C . they were there TIME .
A met B PLACE . C came TIME . then they were cold .
TIME A saw B . C was there too , and they were tired .
A waited for B and C PLACE . TIME they were cold .
PLACE stood A . B and C came TIME , and soon they met .
A came with B . they met C PLACE , where they waited TIME .""".split("\n")
FACTS = """A was PLACE and V .
TIME A came PLACE and V .
A came TIME . PLACE A was cold and V .
every day A came PLACE and V TIME .
PLACE A waited and TIME V .""".split("\n")
WHAT = """A is a K .
A was PLACE . A is a K .
A came TIME . they all saw that A is a K .""".split("\n")
WHICH = """A , B and C came PLACE TIME . the K was R .
TIME A stood with B and C . the K was R .
with A there were B and C . PLACE the K was R .
A came with B PLACE . there stood C TIME . the K was R .""".split("\n")
PASSAGES = 600  # of each test
HEADS = [(layer, head) for layer in range(2) for head in range(4)]
CONFIG = {
    "tokenizer": {"type": "word"},
    "model": {"d_model": 64, "n_heads": 4, "d_ff": 256, "encoder_layers": 0, "decoder_layers": 2, "positions": "rotary",
              "qk_norm": True, "init": "gpt2", "tie": "none", "dropout": 0},
    "objective": {"type": "causal_lm", "target_length": 64},
    "optimizer": {"type": "muon", "learning_rate": 8e-3, "betas": [0.9, 0.95], "schedule": "wsd", "warmup_steps": 50},
    "train": {"batch_tokens": 2048, "max_steps": 2000, "log_every": 100, "eval_every": 400, "save_every": 400, "keep_last": 1},
}


def verb_of(stem):
    return VERBS[(stem + stem // 8) % 8]  # every kind of noun has every verb equally often, held out and not


class Passage:
    """Nouns with different verbs in a pattern; `words`, and the places of the pronoun, its noun and the other nouns."""

    def __init__(self, rng, patterns, stems):
        kinds, chosen = rng.sample(list(KINDS), 3), [0, 0, 0]
        while len(set(map(verb_of, chosen))) < 3:
            chosen = [rng.choice(stems) for _ in kinds]
        pattern = rng.choice(patterns).split()
        referent = rng.randrange(3) if "B" in pattern else 0
        names = [STEMS[stem] + KINDS[kind][1] for stem, kind in zip(chosen, kinds)]
        pronoun, self.verb = KINDS[kinds[referent]][0], verb_of(chosen[referent])
        fill = {**dict(zip("ABC", names)), "P": pronoun, "V": self.verb, "K": kinds[referent], "R": names[referent],
                "PLACE": rng.choice(PLACES), "TIME": rng.choice(TIMES)}
        self.words = " ".join(fill.get(word, word) for word in pattern).split()
        self.text = " ".join(self.words)
        if "P" in pattern:
            self.pronoun = self.words.index(pronoun)
            self.nouns = [self.words.index(name) for name in names]
            self.noun = self.nouns.pop(referent)

    def gold(self, offset, nouns):
        """A line of the gold file (data/README.md) that says that the pronoun stands for these words."""
        def span(place):
            begin = offset + len("".join(word + " " for word in self.words[:place]))
            return [begin, begin + len(self.words[place]), self.words[place]]

        return json.dumps({"story": [offset, offset + len(self.text)], "pronoun": span(self.pronoun),
                           "noun": sorted(map(span, nouns))}) + "\n"


def write_corpus(folder):
    """Writes a text to train on and one to validate on; returns a test of each combination of nouns and patterns."""
    rng, every = random.Random(1), range(len(STEMS))
    seen = [stem for stem in every if stem not in HELD_OUT]
    kinds = [(PATTERNS, seen)] * 7 + [(WITHOUT_PRONOUN, every)] * 2 + [(FACTS, every)] * 5 + [(WHAT, every)] * 2 + [
        (WHICH, every)] * 4
    for name, passages in (("train", 30_000), ("valid", 500)):
        (folder / f"{name}.txt").write_text("".join(Passage(rng, *rng.choice(kinds)).text + "\n" for _ in range(passages)))
    return {(nouns, patterns): Test(folder, rng, nouns, patterns,
                                    UNSEEN_PATTERNS if patterns == "held out" else PATTERNS,
                                    HELD_OUT if nouns == "held out" else seen)
            for nouns in ("seen", "held out") for patterns in ("seen", "held out")}


class Test:
    """Passages with a pronoun, and the files about them."""

    def __init__(self, folder, rng, nouns, patterns, *kind):
        self.passages = [Passage(rng, *kind) for _ in range(PASSAGES)]
        self.file, self.right, self.wrong = (folder / f"{nouns} nouns, {patterns} patterns.{end}"
                                             for end in ("txt", "right.jsonl", "wrong.jsonl"))
        self.file.write_text("".join(p.text + "\n" for p in self.passages))
        offset, right, wrong = 0, "", ""
        for p in self.passages:
            right, wrong = right + p.gold(offset, [p.noun]), wrong + p.gold(offset, p.nouns)
            offset += len(p.text) + 1
        self.right.write_text(right)
        self.wrong.write_text(wrong)

    def score(self, lab, run, checkpoint=()):
        """At the deciding words: the share right, in percent, and the loss; and the loss at all others."""
        right, deciding, others = [], [], []
        for p, line in zip(self.passages, lab.heed.lines("score", run, *checkpoint, "--file", self.file), strict=True):
            losses = [-x for x in line["token_logprobs"]]
            assert line["tokens"] == p.words
            right.append(line["ranks"][p.pronoun + 1] == 1)
            deciding.append(losses.pop(p.pronoun + 1))
            others += losses
        return 100 * mean(right), mean(deciding), mean(others)


def found_head(lab, run, chosen_on, test):
    """The head with most weight on the noun, and its weights on the noun and on the two others, with those of controls."""
    def links(which, gold):
        return lab.gold(run, "--gold", gold, "--file", which.file, *LAST)

    best = best_head(links(chosen_on, chosen_on.right))
    head = best["layer"], best["head"]
    right, wrong = links(test, test.right), links(test, test.wrong)
    return head, {"trained": head_of(right, *head)["trained"], "others": head_of(wrong, *head)["trained"],
                  "untrained": head_of(right, *head)["untrained"], "uniform": right["uniform"]}


def taken_away(lab, run, head, tests):
    """{what is taken away: the scores of the tests, one after the other, minus those of the whole model}"""
    rest = [h for h in HEADS if h != head]

    def scores(model, *checkpoint):
        return [x for test in tests for x in test.score(lab, model, checkpoint)]

    whole = scores(run, *LAST)

    def without(heads):
        return [x - w for x, w in zip(scores(without_heads(run, heads, lab.folder / "cut")), whole)]

    singly = [without([h]) for h in rest]
    return {"nothing": whole, "that head": without([head]), "another head (mean of seven)": list(map(mean, zip(*singly))),
            "another head (the one that costs most)": max(singly, key=lambda costs: costs[1]),
            "the other three of its layer": without([h for h in rest if h[0] == head[0]]), "all seven others": without(rest)}


def draw(lab, run, head, passage):
    """Where the head looks from each of three pronouns at the same place, and what the model expects to follow."""
    wide, high, left, top = 7.83, 30, 18, 102
    words = passage.words[:passage.pronoun]
    width = round(2 * left + wide * (len(" ".join(words)) + 24))
    body = page(width, top + 3 * high - 12, "A head that finds the noun of a pronoun",
                "A noun always does the same. The model never read these with a pronoun, nor this pattern.",
                "The stronger the colour, the more the head looks there from the last word. Right: what should follow.")
    for row, (pronoun, _) in enumerate(KINDS.values()):
        line, y = " ".join([*words, pronoun]), top + row * high
        weights = lab.json("attend", run, *LAST, line)["decoder"][head[0]][head[1]][-1][1:]  # without <s>
        expected = lab.json("score", run, *LAST, line + " .")["alternatives"][len(words) + 1][0]
        x = left
        for word, weight in zip(line.split(), weights, strict=True):
            body += [f'<rect class="cell" x="{x - 3:.1f}" y="{y - 16}" width="{wide * len(word) + 6:.1f}" height="22" rx="4" '
                     f'fill-opacity="{0.75 * weight:.2f}"/>'] * (weight >= 0.005) + [text(x, y, word)]
            x += wide * (len(word) + 1)
        body.append(text(x + wide, y, f"→ {expected['token']}, {100 * math.exp(expected['logprob']):.0f} %", "muted"))
    return svg(width, top + 3 * high - 11, "A head looks from she, he and it to the noun of each.", STYLE, body)


def each(whole, differences):
    return ", ".join(f"{w + d:.0f}" for w, d in zip(whole, differences))


def main():
    lab = Lab(__doc__, seeds=5, picture="where a head looks from three pronouns")
    tests = write_corpus(lab.folder)
    config = {**CONFIG, "data": {name: str(lab.folder / f"{name}.txt") for name in ("train", "valid")}}
    runs = [lab.train("noun", config, seed) for seed in lab.seeds]

    print(f"The word after the pronoun, on {PASSAGES} new passages of each kind.\n")
    rows = []
    for kind, test in tests.items():
        scores, untrained = ([test.score(lab, run, which) for run in runs] for which in (LAST, INITIAL))
        right = [score[0] for score in scores]
        rows.append((*kind, cell(right, 1), cell(score[1] for score in scores), cell((score[0] for score in untrained), 1),
                     f"{100 / 3:.1f}"))
    table(("nouns", "patterns", "right, %", "loss", "untrained: right, %", "guessing one of the three: right, %"), rows)
    enough = sum(r >= 95 for r in right)  # of the last row: nouns and patterns held out
    shows(f"With held-out nouns in held-out patterns, {enough} of {len(runs)} models are right at 95 % or more "
          f"({', '.join(f'{r:.1f}' for r in right)}).")

    print("\nThe head with most weight from the pronoun to its noun, on held-out nouns in held-out patterns.\n")
    test, rows, differences, seen = tests["held out", "held out"], [], [], []
    for seed, run in zip(lab.seeds, runs):
        head, scores = found_head(lab, run, tests["seen", "seen"], test)
        seen.append((head, scores))
        rows.append((seed, f"layer {head[0]}, head {head[1]}", with_interval(scores["trained"]["accuracy"]),
                     *(with_interval(score["mass"]) for score in scores.values())))
        differences.append(taken_away(lab, run, head, (test, tests["seen", "seen"])))
    table(("seed", "head", "first choice is the noun", "weight on the noun", "on the two others", "untrained: on the noun",
           "uniform"), rows)

    print("\nHeads taken away. First line: the whole model; below: the difference to it. First three columns: held-out nouns in")
    print("held-out patterns; last three: passages as in training.\n")
    table(("taken away", *("right, %", "loss at the deciding words", "at all others") * 2),
          [(name, *(cell((d[name][i] for d in differences), 1 if i % 3 == 0 else 3) for i in range(6)))
           for name in differences[0]])
    if 5 * enough >= 4 * len(runs):
        lost, other, alone = ([d[name][0] for d in differences] for name in (
            "that head", "another head (the one that costs most)", "all seven others"))
        shows(f"From the pronoun {cell((s['trained']['mass']['value'] for _, s in seen), 2)} of the head's weight lies on the "
              f"noun. In the order of the seeds: without it the model is right at {each(right, lost)} % of the deciding words, "
              f"without the other head that costs most at {each(right, other)} %, with it alone at {each(right, alone)} %.")
    else:
        shows("That is too few, so nothing is claimed.")
    if lab.picture:
        shortest = min(test.passages, key=lambda p: len(p.text))
        lab.picture.write_text(draw(lab, runs[0], seen[0][0], shortest))
    lab.done()


if __name__ == "__main__":
    main()
