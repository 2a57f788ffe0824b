#!/usr/bin/env python3
"""Writes a corpus of short English fables, and what each pronoun in them refers to.

    make_fables.py [--stories N] [--seed S] [--out PREFIX]      (default PREFIX: data/fables)

PREFIX.txt         ASCII; one story per paragraph, a blank line between stories.
PREFIX.gold.jsonl  one JSON object per pronoun, in the order of the text. All numbers are character
                   offsets into PREFIX.txt, counted from 0, as half-open ranges [begin, end):
  story            [begin, end] of the story that contains the pronoun
  pronoun          [begin, end, word]
  noun             [[begin, end, word]] of the nearest earlier noun or name of the referent; two of
                   them if the pronoun stands for a pair ("they" for the fox and the hen)
  mentions         [[begin, end], ...] all earlier nouns and names of the referent in the story
  nearest          [begin, end, word] of the nearest earlier noun or name, whatever it refers to:
                   a control that always chooses the nearest noun
Pronouns are personal, possessive and reflexive ones of all persons. I and you refer to the speaker
and the listener.

The grammar is in fables/: words.py, casting.py, writer.py, and the plots in animals.py, people.py
and treasures.py.
The text depends only on the seed: all randomness comes from random.Random(int).random(), whose
sequence is the same in every version of Python.
"""

import argparse
import bisect
import json
import pathlib
import random
import re
import sys

from fables import animals, people, treasures, words
from fables.writer import PRONOUNS, Writer

PLOTS = animals.PLOTS + people.PLOTS + treasures.PLOTS


def story(rng):
    writer = Writer(rng)
    writer.pick(PLOTS)(writer)
    return writer


def nouns_of(writer):
    """Every noun of the story as (begin, end): characters, things and scenery."""
    spans = {span for e in writer.roles.values() for span in e.mentions}
    known = words.SCENERY | {e.noun for e in writer.roles.values()}
    spans |= {m.span() for m in re.finditer(r"[A-Za-z]+", writer.text) if m[0].lower() in known}
    return sorted(spans)


def gold_of(writer, offset):
    text, nouns = writer.text, nouns_of(writer)

    def span(pair, word=True):
        begin, end = pair
        return [begin + offset, end + offset] + ([text[begin:end]] if word else [])

    for begin, end, referents in writer.pronouns:
        nearest = nouns[bisect.bisect_left(nouns, (begin, end)) - 1]
        yield {"story": [offset, offset + len(text)], "pronoun": span((begin, end)),
               "noun": [span(mentions[-1]) for mentions in referents],
               "mentions": [span(m, False) for m in sorted(sum(referents, []))],
               "nearest": span(nearest)}


def check(text, gold):
    assert text.isascii() and "  " not in text and " \n" not in text and "\n\n\n" not in text
    assert not re.search(r"[{}\[\]|]", text), "markup left in the text"
    for g in gold:
        for begin, end, *word in [g["pronoun"], g["nearest"], *g["noun"]]:
            assert [text[begin:end]] == word and end <= g["pronoun"][1]
        for begin, end in g["mentions"]:
            assert g["story"][0] <= begin < end < g["pronoun"][0]
    listed = [g["pronoun"][0] for g in gold]
    found = [m.start() for m in re.finditer(r"[A-Za-z]+", text) if m[0].lower() in PRONOUNS]
    assert listed == found, "pronouns missing from the gold file: " + str(
        sorted({text[i - 20:i + 10] for i in set(found) ^ set(listed)})[:9])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stories", type=int, default=640, help="how many (default: 640)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    parser.add_argument("--out", help="prefix of the file names (default: data/fables)", default=str(pathlib.Path(__file__).parent.parent / "data/fables"))
    args = parser.parse_args()

    rng = random.Random(args.seed)
    text, gold, told = "", [], set()
    while len(told) < args.stories:
        writer = story(rng)
        if writer.text in told:
            continue
        told.add(writer.text)
        text += "\n\n" if text else ""
        gold += gold_of(writer, len(text))
        text += writer.text
    text += "\n"
    check(text, gold)
    pathlib.Path(args.out + ".txt").write_bytes(text.encode("ascii"))
    lines = "".join(json.dumps(g, separators=(",", ":")) + "\n" for g in gold)
    pathlib.Path(args.out + ".gold.jsonl").write_bytes(lines.encode("ascii"))


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"make_fables.py: cannot write {error.filename}: {error.strerror}")
