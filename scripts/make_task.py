#!/usr/bin/env python3
"""Writes pairs of lines for a task whose correct attention is known, and that attention.

    make_task.py TASK [--lines N] [--valid N] [--test N] [--min-length A] [--max-length B]
                 [--test-max-length B] [--alphabet K] [--seed S] [--out PREFIX]

    task      source                          target          unit   length counts
    copy      3 17 3 40                       3 17 3 40       token  tokens
    reverse   3 17 3 40                       40 3 17 3       token  tokens
    sort      3 17 3 40                       3 3 17 40       token  tokens
    shift     3 17 3 40                       17 3 40 3       token  tokens (each moves left)
    recall    7 31 4 12 ? 4 7                 12 31           token  pairs of a key and its value
    dates     Tuesday, 3 March 1998           1998-03-03      char   (no lengths; a dozen formats)
    addition  57+408                          465             char   digits of each number

Tokens are the integers 0 to K-1 (K is 50 by default), separated by one space. The files are
PREFIX.source, PREFIX.target and PREFIX.gold.jsonl. With --valid or --test they are
PREFIX.train.source, PREFIX.train.target, PREFIX.valid.* and PREFIX.test.*, and only valid and test
have gold. No source occurs twice, within a part or across parts. --test-max-length allows test
lines that are longer than the training lines.

Gold is JSON Lines, one object per line of the source:
    {"line":0,"unit":"token","alignment":[[s,...],...]}
`line` counts from 0. alignment[t] lists, in rising order, the source positions (from 0; whitespace
tokens, or characters for unit "char") that determine target position t:
  sort      every source token of that value
  recall    the value of the requested key
  dates     a digit of the year: that digit. A digit of the month: the whole name of the month, or
            the same digit if the month is a number. A digit of the day: that digit. The zero
            before a one-digit day or month: that one digit. Hyphens: nothing ([]). The weekday
            never matters.
  addition  the two digits of the column, and the columns to its right that determine the carry:
            the next one, and one more as long as the digits of a column add up to 9.

The same arguments write the same bytes with every Python from 3.9: all randomness comes from
random.Random(int).random(), and the names of months and days do not depend on the locale.
"""

import argparse
import datetime
import json
import pathlib
import random
import sys

MONTHS = ("January February March April May June July August September October November "
          "December").split()
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
# W is the weekday, D the day, O the day as 1st, 2nd, 3rd, M the month by name, N by number, Y the
# year; w and m are cut to three letters. Separators give the order: 28.3.1998, but 3/28/1998.
DATE_FORMATS = [
    "W, D M Y", "D M Y", "M D, Y", "w D m Y", "D m Y", "m D, Y", "W, M D, Y",
    "the O of M Y", "M the O, Y", "O M Y", "D.N.Y", "N/D/Y",
]
EPOCH = datetime.date(1900, 1, 1).toordinal()
DAYS = datetime.date(2100, 1, 1).toordinal() - EPOCH


class Draw:
    def __init__(self, seed):
        self.generator = random.Random(seed)

    def below(self, n):
        return int(self.generator.random() * n)

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def distinct(self, count, n):
        pool = list(range(n))
        for i in range(count):  # a Fisher-Yates shuffle of the first places
            j = i + self.below(n - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:count]


def tokens(draw, low, high, alphabet):
    return [draw.below(alphabet) for _ in range(draw.between(low, high))]


def copy(draw, *sizes):
    s = tokens(draw, *sizes)
    return s, s, [[i] for i in range(len(s))]


def reverse(draw, *sizes):
    s = tokens(draw, *sizes)
    return s, s[::-1], [[len(s) - 1 - i] for i in range(len(s))]


def sort(draw, *sizes):
    s = tokens(draw, *sizes)
    t = sorted(s)
    return s, t, [[i for i, x in enumerate(s) if x == y] for y in t]


def shift(draw, *sizes):
    s = tokens(draw, *sizes)
    return s, s[1:] + s[:1], [[(i + 1) % len(s)] for i in range(len(s))]


def recall(draw, low, high, alphabet):
    pairs = draw.between(low, min(high, alphabet))
    keys = draw.distinct(pairs, alphabet)
    values = [draw.below(alphabet) for _ in keys]
    asked = draw.distinct(draw.between(1, pairs), pairs)
    source = [x for pair in zip(keys, values) for x in pair] + ["?"] + [keys[i] for i in asked]
    return source, [values[i] for i in asked], [[2 * i + 1] for i in asked]


def dates(draw, *_):
    date = datetime.date.fromordinal(EPOCH + draw.below(DAYS))
    month, day = MONTHS[date.month - 1], str(date.day)
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(0 if date.day in (11, 12, 13) else date.day % 10, "th")
    weekday = WEEKDAYS[date.weekday()]
    parts = {"W": weekday, "w": weekday[:3], "D": day, "O": day, "M": month, "m": month[:3],
             "N": str(date.month), "Y": str(date.year)}
    source, at = "", {}
    for letter in DATE_FORMATS[draw.below(len(DATE_FORMATS))]:
        part = parts[letter] if letter in parts else letter
        at[letter] = list(range(len(source), len(source) + len(part)))
        source += part + (suffix if letter == "O" else "")

    def number(places):  # two digits out of one or two
        return [places[:1], places[-1:]]
    name = at.get("M") or at.get("m")
    months = [name, name] if name else number(at["N"])
    days = number(at.get("D") or at["O"])
    return source, date.isoformat(), [[i] for i in at["Y"]] + [[]] + months + [[]] + days


def addition(draw, low, high, _):
    a, b = (draw.below(10 ** draw.between(low, high)) for _ in "ab")
    source, target = f"{a}+{b}", str(a + b)
    columns = []  # from the right: the positions of a column's digits, and their sum
    for k in range(len(target)):
        at = [end - k for end, length in ((len(str(a)) - 1, len(str(a))),
                                          (len(source) - 1, len(str(b)))) if k < length]
        columns.append((at, sum(int(source[i]) for i in at)))
    alignment = []
    for k in range(len(target) - 1, -1, -1):
        used = list(columns[k][0])
        for at, total in columns[:k][::-1]:
            used += at
            if total != 9:
                break
        alignment.append(sorted(used))
    return source, target, alignment


TASKS = {  # function, unit, default shortest and longest length
    "copy": (copy, "token", 1, 25), "reverse": (reverse, "token", 1, 25),
    "sort": (sort, "token", 1, 25), "shift": (shift, "token", 1, 25),
    "recall": (recall, "token", 1, 8), "dates": (dates, "char", 0, 0),
    "addition": (addition, "char", 1, 4),
}


def draw_pairs(args, draw, lines, high, seen):
    make = TASKS[args.task][0]
    pairs, misses = [], 0
    while len(pairs) < lines:
        source, target, alignment = make(draw, args.min_length, high, args.alphabet)
        if not isinstance(source, str):
            source, target = (" ".join(map(str, x)) for x in (source, target))
        misses = misses + 1 if source in seen else 0
        if misses > 10000:
            sys.exit(f"make_task.py: found only {len(seen)} different sources for {args.task}; "
                     "ask for fewer lines, longer ones or a larger alphabet")
        if source not in seen:
            seen.add(source)
            pairs.append((source, target, alignment))
    return pairs


def write(prefix, pairs, unit, gold):
    files = {"source": [p[0] for p in pairs], "target": [p[1] for p in pairs]}
    if gold:
        files["gold.jsonl"] = [
            json.dumps({"line": i, "unit": unit, "alignment": p[2]}, separators=(",", ":"))
            for i, p in enumerate(pairs)]
    for ending, lines in files.items():
        text = "".join(line + "\n" for line in lines)
        pathlib.Path(f"{prefix}.{ending}").write_bytes(text.encode("ascii"))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--lines", type=int, default=50000,
                        help="pairs to train on (default: 50000)")
    parser.add_argument("--valid", type=int, default=0, help="more pairs, for validation")
    parser.add_argument("--test", type=int, default=0, help="more pairs, for the test")
    parser.add_argument("--min-length", type=int, help="shortest line (default: 1)")
    parser.add_argument("--max-length", type=int, help="longest line (default: 25; recall 8, addition 4)")
    parser.add_argument("--test-max-length", type=int, help="longest line of the test (default: --max-length)")
    parser.add_argument("--alphabet", type=int, default=50, help="number of tokens (default: 50)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    parser.add_argument("--out", help="prefix of the file names (default: the task)")
    args = parser.parse_args()
    _, unit, low, high = TASKS[args.task]
    args.min_length = low if args.min_length is None else args.min_length
    args.max_length = high if args.max_length is None else args.max_length
    longest = args.max_length if args.test_max_length is None else args.test_max_length
    if not (low <= args.min_length <= min(args.max_length, longest)) or args.alphabet < 1:
        parser.error(f"lengths must rise from at least {low}, and the alphabet must not be empty")
    if args.task == "recall" and args.min_length > args.alphabet:
        parser.error("recall needs as many tokens in the alphabet as --min-length has keys")
    if args.lines < 0 or args.valid < 0 or args.test < 0:
        parser.error("numbers of lines must not be negative")

    prefix, draw, seen = args.out or args.task, Draw(args.seed), set()
    parts = [("train", args.lines, args.max_length), ("valid", args.valid, args.max_length),
             ("test", args.test, longest)]
    split = args.valid or args.test
    for name, lines, high in parts:
        if lines or name == "train":
            pairs = draw_pairs(args, draw, lines, high, seen)
            gold = name != "train" or not split
            write(f"{prefix}.{name}" if split else prefix, pairs, unit, gold)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"make_task.py: cannot write {error.filename}: {error.strerror}")
