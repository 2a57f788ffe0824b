#!/usr/bin/env python3
"""Does a head look where it should? Scores every attention head of a run against gold links.

    scripts/gold.py RUN --gold FILE --file FILE [--target-file FILE] [--limit N] [--checkpoint C] [--json]

The gold says which source positions decide a target position (a model of pairs, its cross-attention; --file and
--target-file are the lines it is about) or which noun a pronoun refers to (a model of text, its self-attention; --file is
the text). data/README.md describes both formats.

  mass on gold    weight on the gold tokens, mean over the links
  argmax is gold  how often the token with the largest weight is gold (ties share the point)
  AER             alignment error rate (Och and Ney 2003), one token proposed for each link, all gold sure:
                  1 - 2 |proposed and gold| / (|proposed| + |gold|); 0 is best, 1 worst

Gold of a pronoun is the nearest noun of its referent; "any" accepts every earlier mention of it. The model reads the story
up to the pronoun, or as much of its end as fits. Gold of a target token is about the row that predicts it.

Controls: "untrained" is the same head with the weights that the run began with (--checkpoint initial). "uniform" is even
attention, the same weight on every token in sight. "shuffled" is the trained head scored against the gold of other positions
of the line (or the nouns of other referents of the story), the mean over all that share no token with the right one.
Intervals: 95 % of 1000 bootstrap resamples (Efron 1979; for corpora Koehn 2004) of lines or stories, the same for all heads;
none if fewer than ten of them have a link.

The last line is the verdict. A head has learnt the links if more than half of its weight lies on gold, and at least twice as
much as in every control. --json prints the same figures of all heads.
"""
import argparse
import json
import pathlib
import sys

from gold_links import GoldLine, pair_sets, pronoun_sets
from gold_scores import mass, score_heads, verdict, with_interval
from heed_runs import DEFAULT_HEED, Heed

SHOWN_HEADS = 12  # of one kind of attention


def scores(heed, options):
    """The figures of each kind of attention that the gold is about."""
    run = options.run if options.run.exists() else pathlib.Path("runs") / options.run
    try:
        config = json.loads((run / "config.json").read_text(encoding="utf-8"))
        gold = options.gold.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as e:
        sys.exit(f"gold.py: {e}")
    if not gold:
        sys.exit(f"gold.py: {options.gold} is empty.")
    pairs = config["objective"]["type"] == "seq2seq"
    if "pronoun" in GoldLine(options.gold, 1, gold[0]).object:
        if pairs:
            sys.exit(f"gold.py: {options.gold} is about pronouns of a text; this model was trained on pairs.")
        if options.target_file:
            sys.exit(f"gold.py: --target-file: {options.gold} is about one text, given by --file.")
    else:
        GoldLine(options.gold, 1, gold[0])["alignment"]
        if not pairs:
            sys.exit(f"gold.py: {options.gold} is about pairs; this model was trained on text.")
        if not options.target_file:
            sys.exit("gold.py: expected --target-file, the file with the target lines.")
    sets = (pair_sets if pairs else pronoun_sets)(options, gold, heed, config)
    for folder in (run, run.parent.parent):  # of a run, or of one of its checkpoints
        if (folder / "origin.json").exists():
            if begun := json.loads((folder / "origin.json").read_text(encoding="utf-8")).get("init_from"):
                for found in sets:
                    found.notes.append(f'"untrained" means the weights this run began with, those of "{begun}"')
            break
    return [score_heads(heed, options.run, options.checkpoint, found) for found in sets]


def table(kind):
    """The heads with the most mass on gold, best first."""
    mentions = "any_mass" in kind["uniform"]
    names = {"mass": "mass on gold", "accuracy": "argmax is gold", "aer": "AER"}
    if mentions:
        names |= {"any_mass": "mass on any", "any_accuracy": "argmax is any"}

    def row(head, weights, score):
        cells = [with_interval(score[name]) for name in names if score["links"]]
        if not score["links"]:
            cells = ["nothing to score"]
        elif score["links"] != kind["links"]:
            cells.append(f"{score['links']} links")
        return (f"{head:12}{weights:11}" + "".join(f"{cell:22}" for cell in cells)).rstrip()

    intervals = kind["uniform"]["mass"]["low"] is not None
    lines = [f"{kind['kind']} attention: {kind['links']:,} links of {kind['groups']:,} {kind['group']}"
             + (", 95 % intervals" if intervals else "")]
    if mentions:
        lines.append('gold is the nearest noun of the referent; "any" counts its earlier mentions too')
    lines += [f"note: {note}" for note in kind["notes"]]
    lines.append(("layer head  weights    " + "".join(f"{name:22}" for name in names.values())).rstrip())
    lines.append(row("any   any", "uniform", kind["uniform"]))
    ordered = sorted(kind["heads"], key=lambda head: -mass(head["trained"]))
    for head in ordered[:SHOWN_HEADS]:
        for name, weights in ((f"{head['layer']:<6}{head['head']}", "trained"), ("", "untrained"), ("", "shuffled")):
            lines.append(row(name, weights, head[weights]))
    if len(ordered) > SHOWN_HEADS:
        lines.append(f"{len(ordered) - SHOWN_HEADS} more heads: --json")
    return "\n".join(lines) + "\n"


MEANING = """\
Heads are sorted by the mass of their weights that lies on gold. argmax is gold: how often the largest weight does. AER:
alignment error rate, the share of wrong links; 0 is best, 1 worst.
uniform: even attention, the same weight on every token. untrained: the same head before training. shuffled: scored
against the gold of other places. A head has learnt the links if more than half of its weight lies on gold, and at least
twice as much as in all three.
"""


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=pathlib.Path, metavar="RUN", help="run folder or checkpoint folder")
    parser.add_argument("--gold", type=pathlib.Path, required=True, help="the links (data/README.md)")
    parser.add_argument("--file", type=pathlib.Path, required=True, help="the text, or the source lines, it is about")
    parser.add_argument("--target-file", type=pathlib.Path, help="the target lines it is about")
    parser.add_argument("--limit", type=int, help="use only this many lines of the gold file")
    parser.add_argument("--checkpoint", help="last, best, step-N or a path (default: best, else last)")
    parser.add_argument("--json", action="store_true", help="the figures of all heads as one JSON object")
    parser.add_argument("--heed", default=DEFAULT_HEED, help="the program (default: build/heed)")
    options = parser.parse_args(arguments)
    options.checkpoint = ("--checkpoint", options.checkpoint) if options.checkpoint else ()
    return options


def main():
    options = parse()
    kinds = scores(Heed(options.heed), options)
    verdicts = [(f"{k['kind']} attention: " if len(kinds) > 1 else "") + verdict(k) for k in kinds]
    if options.json:
        print(json.dumps({"kinds": [{**k, "verdict": verdict(k)} for k in kinds]}))
    else:
        print("\n".join(map(table, kinds)), MEANING, *verdicts, sep="\n")


if __name__ == "__main__":
    main()
