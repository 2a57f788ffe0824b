#!/usr/bin/env python3
"""When does a model learn to continue what it has read before?

Each line has 8 to 24 random tokens, and then the same again. A head that looks from a token to its first occurrence, and one
further, knows what comes next: an induction head. It needs another one in a layer below that tells each token which one came
before (Olsson et al. 2022). So two layers of attention alone (no feed-forward networks) can learn it, and one cannot.

On new lines, at every checkpoint: the loss where a token is read again (without the first of these), and the weight of each
head there on the token to write. Controls: one layer, and the untrained model. After the last step heads are taken away
(their columns of W_O are 0): the one with most weight on the token to write, the one below it with most weight on the token
before, and each of the others.
"""
import itertools
import random

from common import INITIAL, LAST, Lab, cell, mean, merged, shows, table, without_heads
from drawing import STYLE, page, svg, text

LINES = 50
STEPS = range(25, 401, 25)
LAYERS = {1: "one layer", 2: "two layers"}
CONFIG = {
    "tokenizer": {"type": "word"},
    "model": {"d_model": 64, "n_heads": 4, "encoder_layers": 0, "feed_forward": "none", "positions": "rotary",
              "qk_norm": True, "init": "gpt2", "tie": "none", "dropout": 0},
    "objective": {"type": "causal_lm", "target_length": 64},
    "optimizer": {"type": "muon", "learning_rate": 8e-3, "betas": [0.9, 0.95], "schedule": "wsd", "warmup_steps": 50},
    "train": {"batch_tokens": 2048, "max_steps": 400, "log_every": 25, "eval_every": 100, "save_every": 25, "keep_last": 0},
}
CHART_STYLE = STYLE + """
  polyline { fill: none; stroke-width: 1.6; stroke-opacity: 0.75; }
  .two-layers { stroke: var(--weight); }
  .one-layer { stroke: #9a4700; } @media (prefers-color-scheme: dark) { .one-layer { stroke: #f2a65a; } }
"""


def write_lines(file, rng, lines):
    """Writes lines of random tokens and their repetition; returns the length of each repetition."""
    parts = [[rng.randrange(64) for _ in range(rng.randint(8, 24))] for _ in range(lines)]
    file.write_text("".join(" ".join(map(str, part + part)) + "\n" for part in parts))
    return list(map(len, parts))


class Lines:
    """New lines, and what a model makes of their repetitions."""

    def __init__(self, lab, rng):
        self.lab, self.file = lab, lab.folder / "new.txt"
        self.lengths = write_lines(self.file, rng, LINES)

    def loss(self, run, *checkpoint):
        """Over the first occurrences, and over the repetitions; and how many of these are right, in percent."""
        first, again, right = [], [], []
        for n, line in zip(self.lengths, self.lab.heed.lines("score", run, *checkpoint, "--file", self.file), strict=True):
            first += [-x for x in line["token_logprobs"][:n]]
            again += [-x for x in line["token_logprobs"][n + 1:]]
            right += [rank == 1 for rank in line["ranks"][n + 1:]]
        return mean(first), mean(again), 100 * mean(right)

    def weights(self, run, *checkpoint):
        """{(layer, head): mean weight on the token to write, and on the token before}, over the rows of the repetition."""
        sums = {}
        for n, line in zip(self.lengths, self.lab.heed.lines("attend", run, *checkpoint, "--file", self.file), strict=True):
            for layer, heads in enumerate(line["decoder"]):
                for head, rows in enumerate(heads):
                    # Row 0 is <s>. Row n + 1 + t reads token t again; row t + 2 is the one after its first occurrence.
                    sums.setdefault((layer, head), []).extend(
                        (rows[n + 1 + t][t + 2], rows[n + 1 + t][n + t]) for t in range(n - 1))
        return {place: tuple(map(mean, zip(*both))) for place, both in sums.items()}


def taken_away(lab, lines, run, weight):
    """{heads taken away: what the lines say then, minus what they say of the whole model}"""
    upper, lower = ([place for place in weight if place[0] == layer] for layer in (1, 0))
    induction, before = max(upper, key=lambda p: weight[p][0]), max(lower, key=lambda p: weight[p][1])
    whole = lines.loss(run, *LAST)

    def without(heads):
        return [x - w for x, w in zip(lines.loss(without_heads(run, heads, lab.folder / "cut")), whole)]

    rest = [place for place in weight if place not in (induction, before)]
    return {"nothing": whole, "the induction head": without([induction]), "the head below": without([before]),
            "another head (mean)": list(map(mean, zip(*(without([place]) for place in rest)))),
            "the upper layer but the induction head": without([p for p in upper if p != induction]),
            "the whole upper layer": without(upper), "all but these two heads": without(rest)}


def chart(x, title, lines, most):
    """A panel with a line for every seed: {name: [[value at each step] of each seed]}."""
    wide, high, top = 360, 180, 108
    body = [text(x, top - 14, title, "words"), f'<rect class="frame" x="{x}" y="{top}" width="{wide}" height="{high}" rx="3"/>']
    for at in range(0, STEPS[-1] + 1, 100):
        body.append(text(x + wide * at / STEPS[-1], top + high + 20, str(at), "middle muted"))
    for share in (0, 0.5, 1):
        body.append(text(x - 8, top + high * (1 - share) + 5, f"{share * most:g}", "end muted"))
    for name, seeds in lines.items():
        for values in seeds:
            points = " ".join(f"{x + wide * step / STEPS[-1]:.1f},{top + high * (1 - min(1, value / most)):.1f}"
                              for step, value in zip((0, *STEPS), values, strict=True))
            body.append(f'<polyline class="{name.replace(" ", "-")}" points="{points}"/>')
    return body


def draw(losses, weights):
    left, width, height = 54, 868, 350
    body = [*page(width, height - 1, "Two layers learn to continue what they have read before, one layer does not",
                  "Random tokens, and then the same again. Blue: two layers of attention; brown: one. A line is a training."),
            *chart(left, "loss where tokens are read again", losses, 5),
            *chart(left + 430, "weight of the best head on the token to write", weights, 1),
            text(left + 180, 340, "step", "words muted middle"), text(left + 610, 340, "step", "words muted middle")]
    return svg(width, height, "By step: the loss of two layers falls steeply while a head's weight rises.", CHART_STYLE, body)


def main():
    lab = Lab(__doc__, seeds=5, picture="loss and weight by step")
    rng = random.Random(1)
    write_lines(lab.folder / "train.txt", rng, 20_000)
    write_lines(lab.folder / "valid.txt", rng, 200)
    lines = Lines(lab, rng)
    data = {"data": {name: str(lab.folder / f"{name}.txt") for name in ("train", "valid")}}
    runs, loss, weight = {}, {}, {}
    for layers, seed in itertools.product(LAYERS, lab.seeds):
        run = runs[layers, seed] = lab.train(f"repeated-{layers}", merged(CONFIG, {**data, "model": {"decoder_layers": layers}}),
                                             seed)
        for step in (0, *STEPS):
            checkpoint = ("--checkpoint", f"step-{step}") if step else INITIAL
            loss[layers, seed, step] = lines.loss(run, *checkpoint)
            weight[layers, seed, step] = lines.weights(run, *checkpoint)
    end = STEPS[-1]

    def best(layers, seed, step, which=0):
        return max(both[which] for both in weight[layers, seed, step].values())

    print(f"{LINES} new lines after {end} steps: the loss, and the best head's weight on the token to write.\n")
    rows, named = [], {}
    for layers, name in LAYERS.items():
        last = [loss[layers, seed, end] for seed in lab.seeds]
        named[layers] = [sum(h["name"] == "induction" for h in lab.json(
            "attend", runs[layers, seed], *LAST, "1 2 1", "--names")["head_names"]) for seed in lab.seeds]
        rows.append((name, *(cell(column, digits) for column, digits in zip(zip(*last), (2, 2, 0))),
                     cell(best(layers, seed, end) for seed in lab.seeds),
                     cell(best(layers, seed, 0) for seed in lab.seeds), cell(named[layers], 1)))
    table(("model", "loss: first occurrence", "repetition", "right, %", "best head's weight", "untrained",
           "heads named induction"), rows)
    print("\nBy step: the loss on the repetition, and in the model of two layers the best head's weights.\n")
    table(("step", "one layer: loss", "two layers: loss", "weight on the token to write", "on the token before"),
          [(step, *(cell((loss[layers, seed, step][1] for seed in lab.seeds), 2) for layers in LAYERS),
            *(cell((best(2, seed, step, which) for seed in lab.seeds), 2) for which in range(2)))
           for step in (0, *STEPS) if step % 50 == 0])

    print("\nTwo layers, heads taken away: the loss minus that of the whole model.\n")
    differences = [taken_away(lab, lines, runs[2, seed], weight[2, seed, end]) for seed in lab.seeds]
    table(("taken away", "loss: first occurrence", "repetition", "right, %"),
          [(name, *(cell((d[name][i] for d in differences), digits) for i, digits in enumerate((2, 2, 0))))
           for name in differences[0]])
    shows(f"After {end} steps the loss on the repetition is {cell((loss[1, seed, end][1] for seed in lab.seeds), 2)} with one "
          f"layer and {cell((loss[2, seed, end][1] for seed in lab.seeds), 2)} with two. heed attend --names finds an induction "
          f"head in {sum(n > 0 for n in named[2])} of {len(lab.seeds)} models of two layers and in "
          f"{sum(n > 0 for n in named[1])} of one.")
    if lab.picture:
        curves = ({name: [[value(layers, seed, step) for step in (0, *STEPS)] for seed in lab.seeds]
                   for layers, name in LAYERS.items()} for value in (lambda *key: loss[key][1], best))
        lab.picture.write_text(draw(*curves))
    lab.done()


if __name__ == "__main__":
    main()
