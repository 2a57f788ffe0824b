#!/usr/bin/env python3
"""Writes tables of pairs that ask whether a model learns a rule: what it is tested on is put together otherwise than what it
was trained on.

    make_splits.py scan TASKS SPLIT [--out PREFIX] [--valid N] [--seed S]
    make_splits.py cogs TRAIN GEN [--out PREFIX] [--valid N] [--seed S]
    make_splits.py own SPLIT [--out PREFIX] [--valid N] [--seed S]

scan  TASKS is tasks.txt of SCAN (Lake and Baroni 2018; github.com/brendenlake/SCAN): a command and the actions that it means.
cogs  train.tsv and gen.tsv of COGS (Kim and Linzen 2020; github.com/najoungkim/COGS), or of another form of it: source, target
      and the kind of generalisation.
own   a small language of commands made here, which stands in for SCAN where it is not at hand.

    SPLIT       trained on                                          tested on
    simple      four fifths of the commands, by chance              the rest
    length-N    commands that mean at most N actions                longer ones
    jump        commands without "jump", and "jump" itself, which   "jump" inside of commands
                makes up a tenth of the lines (own: "knock")

The files are PREFIX.train.tsv, PREFIX.valid.tsv (N lines taken from the former by chance, 500) and PREFIX.test.tsv; of COGS
also PREFIX.test.kinds. The same arguments write the same bytes with every Python from 3.9.
"""
import argparse
import itertools
import pathlib
import random
import sys

# A command is one part, or two that are joined; a part is a verb with a manner and a number of times.
VERBS = {"knock": ["KNOCK"], "wave": ["WAVE"], "spin": ["SPIN"], "ring": ["RING"], "rest": []}
SIDES = {"": [], " east": ["EAST"], " west": ["WEST"]}
TIMES = {"": 1, " again": 2, " thrice": 3, " four times": 4}
JOINS = {" then ": lambda a, b: a + b, " once done with ": lambda a, b: b + a}


def own_commands():
    parts = {}
    for (verb, act), (side, turn), (times, n) in itertools.product(VERBS.items(), SIDES.items(), TIMES.items()):
        if act or turn:
            parts[verb + side + times] = (turn + act) * n
    commands = {source: actions for source, actions in parts.items()}
    for (a, first), (b, second), (join, order) in itertools.product(parts.items(), parts.items(), JOINS.items()):
        commands[a + join + b] = order(first, second)
    return [(source, " ".join(actions)) for source, actions in commands.items()]


def scan_commands(path):
    pairs = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        source, found, target = line.partition(" OUT: ")
        if not found or not source.startswith("IN: "):
            sys.exit(f"make_splits.py: {path}:{number}: expected a line of SCAN's tasks.txt (IN: ... OUT: ...)")
        pairs.append((source[len("IN: "):], target))
    return pairs


def shuffled(items, draw):
    items = list(items)
    for i in range(len(items) - 1, 0, -1):  # by random() alone, which no version changes
        j = int(draw.random() * (i + 1))
        items[i], items[j] = items[j], items[i]
    return items


def split(pairs, kind, word, draw):
    """What to train on, and to test on."""
    if kind == "simple":
        pairs = shuffled(pairs, draw)
        return pairs[len(pairs) // 5:], pairs[:len(pairs) // 5]
    if kind == "jump":
        alone = [p for p in pairs if p[0] == word]
        rest = [p for p in pairs if word not in p[0].split()]
        return rest + alone * (len(rest) // 9), [p for p in pairs if word in p[0].split() and p[0] != word]
    try:
        longest = int(kind.removeprefix("length-"))
    except ValueError:
        sys.exit(f"make_splits.py: {kind}: expected simple, length-N or jump")
    short = [len(p[1].split()) <= longest for p in pairs]
    return [p for p, s in zip(pairs, short) if s], [p for p, s in zip(pairs, short) if not s]


def write(prefix, name, pairs):
    text = "".join(f"{source}\t{target}\n" for source, target, *_ in pairs)
    pathlib.Path(f"{prefix}.{name}.tsv").write_bytes(text.encode())


def rows(path):
    found = [line.split("\t") for line in path.read_text().splitlines() if line]
    wrong = next((i for i, row in enumerate(found, 1) if len(row) != 3), None)
    if wrong:
        sys.exit(f"make_splits.py: {path}:{wrong}: expected three columns with tabs between them, as COGS has them")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("scan", "cogs", "own"))
    parser.add_argument("arguments", nargs="+", metavar="FILE or SPLIT", help="as above")
    parser.add_argument("--out", help="prefix of the file names (default: the task, or TASK-SPLIT)")
    parser.add_argument("--valid", type=int, default=500, help="lines to validate on (default: 500)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    args = parser.parse_args()
    expected = {"scan": 2, "cogs": 2, "own": 1}[args.task]
    if len(args.arguments) != expected:
        parser.error(f"{args.task} takes {expected} arguments; found {len(args.arguments)}")
    draw = random.Random(args.seed)
    prefix = args.out or (args.task if args.task == "cogs" else f"{args.task}-{args.arguments[-1]}")
    if args.task == "cogs":
        train, test = (rows(pathlib.Path(file)) for file in args.arguments)
        pathlib.Path(f"{prefix}.test.kinds").write_text("".join(row[2] + "\n" for row in test))
    else:
        pairs = own_commands() if args.task == "own" else scan_commands(pathlib.Path(args.arguments[0]))
        train, test = split(pairs, args.arguments[-1], "knock" if args.task == "own" else "jump", draw)
    train = shuffled(train, draw)
    parts = {"valid": train[:args.valid], "train": train[args.valid:], "test": test}
    for name, pairs in parts.items():
        if not pairs and (args.valid or name != "valid"):
            sys.exit(f"make_splits.py: no line is left for {prefix}.{name}.tsv: "
                     f"{len(train)} to train and validate on (--valid {args.valid}), {len(test)} to test on")
    for name, pairs in parts.items():
        write(prefix, name, pairs)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"make_splits.py: {error.filename}: {error.strerror}")
