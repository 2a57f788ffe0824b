#!/usr/bin/env python3
"""Writes the text of a config in which a head must learn to look at one place.

    make_texts.py TEXT [--lines N] [--seed S] [--out PREFIX]

    induction  random tokens, and then the same again: what follows a token is what followed it last time
    noun       passages in which the word after a pronoun is what its noun always does

Both are smaller forms of what scripts/experiments/induction_heads.py and does_a_head_know_the_noun.py train on; these say
more. The files are PREFIX.txt and, of noun, PREFIX.gold.jsonl: which noun the pronouns of the last twelfth stand for, in the
format of data/README.md. The same arguments write the same bytes.
"""
import argparse
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "experiments"))
from does_a_head_know_the_noun import PATTERNS, Passage  # noqa: E402
from induction_heads import write_lines  # noqa: E402

STEMS = range(16)  # of the nouns: three kinds of each, 48 nouns


def induction(prefix, rng, lines):
    write_lines(pathlib.Path(f"{prefix}.txt"), rng, lines)


def noun(prefix, rng, lines):
    passages = [Passage(rng, PATTERNS, STEMS) for _ in range(lines)]
    pathlib.Path(f"{prefix}.txt").write_text("".join(p.text + "\n" for p in passages))
    offset, gold = 0, []
    for p in passages:
        gold.append(p.gold(offset, [p.noun]))
        offset += len(p.text) + 1
    pathlib.Path(f"{prefix}.gold.jsonl").write_text("".join(gold[-(lines // 12):]))


TEXTS = {"induction": induction, "noun": noun}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", choices=TEXTS)
    parser.add_argument("--lines", type=int, default=3000, help="lines of the text (default: 3000)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    parser.add_argument("--out", help="prefix of the file names (default: the name of the text)")
    options = parser.parse_args()
    TEXTS[options.text](options.out or options.text, random.Random(options.seed), options.lines)


if __name__ == "__main__":
    main()
