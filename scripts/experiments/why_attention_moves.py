#!/usr/bin/env python3
"""Why does training move attention to the tokens that matter?

With S the scores, P = softmax(S), o = P V and g = dL/do, backward gives -dL/dS_ij = -P_ij g_i . (v_j - o_i), the pull: a
higher score of key j for query i lowers the loss, to first order, if and only if v_j would lower it more than the present
mixture does. Trains `reverse` and the fables, and asks at every step s of some: is the strongest pull already on the token that
decides? Do the weights follow the pull until step 2s? And if W_Q and W_K stay random, or the weights even? Do the weights
settle before the values (with numpy)?
"""
import math
import random
import sys

from common import DATA, ROOT, SIDES, Lab, cell, fables_config, mean, merged, shows, table, task_config

sys.path.insert(0, str(ROOT / "examples"))
try:
    from forward import Decoder
except ImportError:  # numpy
    Decoder = None

STEPS = (10, 20, 50, 100, 200)
LINES = 60  # of reverse, held out
STORIES = 30
VARIANTS = {"learned": {}, "frozen": {"cross": {"query": "random", "key": "random"}},
            "uniform": {"cross": {"uniform": True}}}


def held_out_stories(folder):
    """Beginnings of unseen stories (the last tenth of the text), one a line."""
    text = (DATA / "fables.txt").read_text()
    stories = text[int(0.92 * len(text)):].split("\n\n")[1:STORIES + 1]
    file = folder / "stories.txt"
    file.write_text("".join(" ".join(s.split()[:40]) + "\n" for s in stories))
    return ["--file", file]


def pulled(lab, run, step, texts):
    return list(lab.heed.lines("attend", run, "--checkpoint", f"step-{step}", *texts, "--pull"))


def argmax(row):
    return max(range(len(row)), key=row.__getitem__)


def gold_rows(line):
    """(row, key) of the token that decides each row of a reversed line."""
    n = len(line["source_ids"]) - 1  # without </s>
    rows = [(t, n - 1 - t) for t in range(n)]
    assert all(line["source_ids"][key] == line["label_ids"][t] for t, key in rows)
    return rows


def on_gold(lines, head):
    """Mean weight on the deciding token, that of even weights, and how often the strongest pull is on it."""
    weight, even, strongest = [], [], []
    for line in lines:
        weights, pulls = line["cross"][0][head], line["pull"]["cross"][0][head]
        for row, key in gold_rows(line):
            weight.append(weights[row][key])
            even.append(1 / len(weights[row]))
            strongest.append(argmax(pulls[row]) == key)
    return mean(weight), mean(even), 100 * mean(strongest)


def ranks(values):
    out = [0.0] * len(values)
    for rank, i in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        out[i] = rank
    return out


def rank_correlation(a, b):
    """Spearman's, without ties."""
    n = len(a)
    return 1 - 6 * sum((x - y)**2 for x, y in zip(ranks(a), ranks(b))) / (n * (n * n - 1))


def following(before, after, kind):
    """Rank correlation of a row's pull with what its weights do, mean over rows with a label and four keys or more; and the
    same for the pull of another row with as many keys."""
    rows = {}  # by keys in sight: (pull, change) of every row
    for one, two in zip(before, after, strict=True):
        for pulls, old, new in zip(one["pull"][kind], one[kind], two[kind], strict=True):
            for head in range(len(pulls)):
                for p, w0, w1 in zip(pulls[head], old[head], new[head], strict=True):
                    seen = sum(w > 0 for w in w0)
                    if seen >= 4 and any(p[:seen]):
                        rows.setdefault(seen, []).append((p[:seen], [y - x for x, y in zip(w0, w1)][:seen]))
    draw = random.Random(1)
    real, shuffled = [], []
    for same in rows.values():
        others = draw.sample(same, len(same))
        real += [rank_correlation(p, change) for p, change in same]
        shuffled += [rank_correlation(p, change) for (p, _), (_, change) in zip(others, same)]
    return mean(real), mean(shuffled)


def weights_and_values(lab, run, step, texts):
    """P and V of all heads over these texts, each as one long row. V is computed from the checkpoint's file."""
    class Seen(Decoder):
        def linear(self, x, name):
            y = super().linear(x, name)
            if name.endswith(".v_proj"):
                values.extend(y.ravel())
            return y

    weights, values = [], []
    model = Seen(run / "checkpoints" / f"step-{step:08}")
    for line in lab.heed.lines("attend", run, "--checkpoint", f"step-{step}", *texts):
        weights += [w for layer in line["decoder"] for head in layer for row in head for w in row]
        model.log_probabilities([*line["target_ids"][1:], 0])
    return weights, values


def gone(rows):
    """How far each row has come on the way from the first to the last, in percent: what is left is its distance to it."""
    left = [math.dist(row, rows[-1]) for row in rows]
    return [100 * (1 - x / left[0]) for x in left]


def settling(lab, stories, fables):
    print("\nHow far the weights P and the values V of held-out stories have gone on their way from step 10 to step 400, in %.")
    print("Control: the same with W_Q and W_K frozen at random.\n")
    steps = (10, 20, 50, 100, 150, 200, 300, 400)
    way = {}
    for name, attention in (("learned", {}), ("frozen", {"decoder_self": {"query": "random", "key": "random"}})):
        for seed in lab.seeds:
            run = lab.train("pull-fables" + ("-frozen" if attention else ""),
                            merged(fables, {"model": {"attention": attention}}) if attention else fables, seed)
            at = [weights_and_values(lab, run, step, stories) for step in steps]
            way[name, seed] = [gone(rows) for rows in zip(*at)]
    columns = [(name, i) for name in ("learned", "frozen") for i in range(2)]
    found = {(column, step): [way[column[0], seed][column[1]][at] for seed in lab.seeds]
             for column in columns for at, step in enumerate(steps)}
    table(("step", "P", "V", "W_Q, W_K frozen: P", "V"),
          [(step, *(cell(found[column, step], 0) for column in columns)) for step in steps[1:-1]])
    at_100 = [mean(found[column, 100]) for column in columns]
    shows(f"At step 100 the weights have gone {at_100[0]:.0f} % of their way and the values {at_100[1]:.0f} %; with W_Q and W_K "
          f"frozen {at_100[2]:.0f} % and {at_100[3]:.0f} %.")


def kept(config):
    """The config with a checkpoint every ten steps."""
    return merged(config, {"train": {"eval_every": 0, "save_every": 10, "keep_last": 0}})


def main():
    lab = Lab(__doc__, seeds=3)
    source, target = (DATA / f"reverse.valid.{side}" for side in SIDES)
    texts = ["--file", source, "--target-file", target, "--limit", LINES]
    steps = (*STEPS, 400)
    reverse = kept(task_config("reverse", 400))
    figures, reverse_lines = {}, {}
    for name, attention in VARIANTS.items():
        config = merged(reverse, {"model": {"attention": attention}})
        for seed in lab.seeds:
            run = lab.train("pull-reverse-" + name, config, seed)
            for step in (*steps, 40):
                lines = reverse_lines[name, seed, step] = pulled(lab, run, step, texts)
                figures[name, seed, step] = [on_gold(lines, head) for head in range(2)]
    print(f"Reversing lines (1 + 1 layers, 2 heads), {LINES} held-out lines, both heads of cross-attention. Of a row, one source")
    print("token decides what to write.\n")

    def gold(name, step, figure):
        return [head[figure] for seed in lab.seeds for head in figures[name, seed, step]]

    rows = [(step, cell(gold("learned", step, 0), 2), f"{mean(gold('learned', step, 1)):.2f}",
             cell(gold("learned", step, 2), 0), cell(gold("frozen", step, 0), 2), cell(gold("frozen", step, 2), 0),
             cell(gold("uniform", step, 2), 0)) for step in steps]
    table(("step", "weight on the token that decides", "uniform", "the strongest pull is on it, %", "W_Q, W_K frozen: weight",
           "pull, %", "weights even: pull, %"), rows)
    shows(f"At step 20 the token that decides has {mean(gold('learned', 20, 0)):.2f} of the weight, uniform weights would give "
          f"{mean(gold('learned', 20, 1)):.2f}, and the strongest pull is on it in {mean(gold('learned', 20, 2)):.0f} % of the "
          f"rows. At step 400 it is on it in {mean(gold('learned', 400, 2)):.0f} % and has {mean(gold('learned', 400, 0)):.2f} "
          f"of the weight. With W_Q and W_K of cross-attention frozen at random it is {mean(gold('frozen', 400, 2)):.0f} % and "
          f"{mean(gold('frozen', 400, 0)):.2f}: the rows that they multiply learn instead. Where the weights must stay even, it "
          f"is {mean(gold('uniform', 400, 2)):.0f} %, and nothing can follow.")

    print("\nRank correlation of a row's pull at step s with the change of its weights until step 2s, mean over rows and heads.")
    print("Control: the pull of another row with as many keys.\n")
    stories = held_out_stories(lab.folder)
    fables = kept(fables_config("causal_lm", 400))
    rows, at = [], {}
    for seed in lab.seeds:
        run = lab.train("pull-fables", fables, seed)
        at[seed] = {step: pulled(lab, run, step, stories) for step in (*steps, 40)}
    correlations = {}
    for step in STEPS:
        row = [f"{step} to {2 * step}"]
        for name in ("learned", "frozen", "fables"):
            pairs = [following(at[seed][step], at[seed][2 * step], "decoder") if name == "fables" else
                     following(reverse_lines[name, seed, step], reverse_lines[name, seed, 2 * step], "cross")
                     for seed in lab.seeds]
            correlations[name, step] = [mean(p[i] for p in pairs) for i in range(2)]
            row += [cell([p[i] for p in pairs], 2) for i in range(2)]
        rows.append(row)
    table(("steps", "reverse", "control", "W_Q, W_K frozen", "control", "fables", "control"), rows)
    shows(*(f"{title}: {correlations[name, 20][0]:.2f} at step 20, control {correlations[name, 20][1]:.2f}."
            for name, title in (("learned", "Reverse"), ("frozen", "Frozen"), ("fables", "Fables"))))
    if Decoder:
        settling(lab, stories, fables)
    else:
        print("\nWhether the weights settle before the values is left out: that needs numpy.")
    lab.done()


if __name__ == "__main__":
    main()
