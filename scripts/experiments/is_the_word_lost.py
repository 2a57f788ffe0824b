#!/usr/bin/env python3
"""Attention returns one vector, a sum over all words. Doesn't the sum lose which word mattered?

In reversed lines we know which source token determines each target token. Three methods try to identify it: the largest
weight, the largest contribution ||weight * V W_O|| (both summed over the heads of cross-attention), and an experiment on
the model: replace one source token and see which target token loses the most log-probability. If the sum had lost the
word, the experiment could not find it. All three choose among the words of the line, not the end of line.

Controls: a model trained with uniform weights in cross-attention, whose sum mixes all words equally; the untrained model;
guessing (one over length).
"""
import json

from common import DATA, INITIAL, Lab, cell, mean, merged, shows, table, task_config, test_files

LINES = 60


def largest(values):
    return max(range(len(values)), key=values.__getitem__)


def by_attention(lab, run, checkpoint, lines):
    """The shares of target tokens for which the gold source token has the largest weight and the largest contribution."""
    right = {"weight": [], "contribution": []}
    read = lab.heed.lines("attend", run, *checkpoint, *test_files("reverse"), "--limit", LINES, "--contributions")
    for (_, target), maps in zip(lines, read):
        n = len(target.split())
        for measure, key in (("weight", "cross"), ("contribution", "contribution_cross")):
            for t in range(n):
                sums = [sum(head[t][s] for head in maps[key][0]) for s in range(n)]
                right[measure].append(largest(sums) == n - 1 - t)
    return mean(right["weight"]), mean(right["contribution"])


def by_replacing(lab, run, checkpoint, lines):
    """The same share for the source token whose replacement costs the target token the most log-probability."""
    sources, targets = [], []
    for source, target in lines:
        tokens = source.split()
        for s in range(-1, len(tokens)):  # -1: nothing is replaced
            changed = [str((int(x) + 7) % 20) if i == s else x for i, x in enumerate(tokens)]
            sources.append(" ".join(changed))
            targets.append(target)
    files = [lab.folder / f"replaced.{side}" for side in ("source", "target")]
    for file, texts in zip(files, (sources, targets)):
        file.write_text("".join(t + "\n" for t in texts))
    scored = [json.loads(line)["token_logprobs"] for line in
              lab.heed("score", run, *checkpoint, "--file", files[0], "--target-file", files[1], "--json").splitlines()]
    right, at = [], 0
    for source, _ in lines:
        n = len(source.split())
        whole, replaced = scored[at], scored[at + 1:at + 1 + n]
        at += n + 1
        for t in range(n):
            right.append(largest([whole[t] - r[t] for r in replaced]) == n - 1 - t)
    return mean(right)


def main():
    lab = Lab(__doc__, seeds=3)
    texts = [(DATA / f"reverse.test.{side}").read_text().splitlines()[:LINES] for side in ("source", "target")]
    lines = list(zip(*texts))
    config = task_config("reverse", 300)
    uniform = merged(config, {"model": {"attention": {"cross": {"uniform": True}}}})
    guess = mean(1 / len(s.split()) for s, _ in lines for _ in s.split())
    rows = {w: [[], [], []] for w in ("largest weight", "largest contribution", "replacing a token")}
    for seed in lab.seeds:
        learned, even = lab.train("reverse", config, seed), lab.train("reverse-cross-uniform", uniform, seed)
        for column, model in enumerate(((learned, ()), (even, ()), (learned, INITIAL))):
            for name, value in zip(rows, (*by_attention(lab, *model, lines), by_replacing(lab, *model, lines))):
                rows[name][column].append(value)
    print(f"How often each method identifies the source token that matters ({LINES} test lines, reversing).\n")
    table(("method", "trained", "trained, uniform weights", "untrained", "guessing"),
          [(name, cell(a), "all equal" if name == "largest weight" else cell(u), cell(b), f"{guess:.3f}")
           for name, (a, u, b) in rows.items()])
    replacing, mixed, before = rows["replacing a token"]
    lost = min(replacing) <= max(guess, *before)
    shows(f"Replacing a token identifies the right word in {100 * mean(replacing):.0f} % of cases, guessing in "
          f"{100 * guess:.0f} %: the layers after the sum {'may not be able to' if lost else 'can still'} tell which word "
          "mattered.", f"With uniform weights it is {100 * mean(mixed):.0f} %.",
          f"The largest weight is right in {100 * mean(rows['largest weight'][0]):.0f} %, the largest contribution in "
          f"{100 * mean(rows['largest contribution'][0]):.0f} %.")
    lab.done()


if __name__ == "__main__":
    main()
