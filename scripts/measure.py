#!/usr/bin/env python3
"""Trains a config as it stands and prints its results: a row of the table in configs/MEASURED.md and a JSON object.

    scripts/measure.py CONFIG [--seeds N] [--heed PROGRAM] [--tokenize none] [--keep FOLDER] [--append]

--append adds the object to configs/measured.jsonl; scripts/dev/measured_tables.py makes the page's tables from that file.

Every figure comes from one uninterrupted run. With --seeds N the config is trained N times, with its own seed and the
next N - 1; a figure is then "mean (lowest to highest)".

Measured on the config's held-out data, with the best checkpoint:
  text     loss (nats per token), perplexity, bits per byte, accuracy of the next token
  masked   pseudo-perplexity and accuracy of the masked tokens
  pairs    as text, plus BLEU, chrF2 and exact lines of translations with beam 5; the same for the last checkpoint,
           and for the average of the last 10 if the config keeps that many. If the validation files are called
           X.valid.Y and X.test.Y exists too, the test files are translated.

A figure is clean if it can be reproduced: the commit contains the config, nothing has changed since, heed is not older
than its sources, and this call trained the run without a stop. Otherwise the row says "not clean" and why.
"""
import argparse
import datetime
import json
import pathlib
import sys
import tempfile
import time

from heed_runs import (CORES, DEFAULT_HEED, FIGURES, MEASURED, Heed, append_result, config_file, cpu, provenance,
                       result_cells, table_row)

AVERAGED = 10  # checkpoints


def without_folders(config):
    """heed config prints paths from the current folder, a run keeps them as they are written."""
    def name(path):
        return pathlib.Path(path).name if isinstance(path, str) else path
    return {**config, "data": {key: list(map(name, value)) if isinstance(value, list) else name(value)
                               for key, value in config["data"].items()}}


def train(heed, config, run, seed, threads):
    """Trains, or finishes an existing run; returns the minutes and why the run is not clean."""
    begin = time.monotonic()
    options = ("--threads", threads, "--quiet")
    if not run.exists():
        heed("train", config, "--run", run, "--set", f"seed={seed}", *options)
        reasons = []
    else:
        wanted = json.loads(heed("config", config, "--set", f"seed={seed}"))
        if without_folders(json.loads((run / "config.json").read_text())) != without_folders(wanted):
            sys.exit(f"measure.py: {run} has another config; move it away")
        heed("resume", run, *options)
        reasons = ["the run was not trained by this call"]
    # Every training process logs its plan.
    if sum(line.startswith("plan: ") for line in (run / "train.log").read_text().splitlines()) > 1:
        reasons.append("the run was resumed")
    return (time.monotonic() - begin) / 60, reasons


def translated_files(config, settings):
    """Options of evaluate: the test files next to the validation files, if there are any."""
    data = settings["data"]
    sides = [data["valid_source"], data["valid_target"]]
    files = [(config.parent / side.replace(".valid.", ".test.")).resolve() for side in sides]
    if all(".valid." in side and file.exists() for side, file in zip(sides, files)):
        return ["--file", files[0], "--target-file", files[1]]
    return []


def figures_of(heed, config, settings, run, tokenize):
    """{where: evaluate's JSON object}"""
    found = {"held out": heed.json("evaluate", run)}
    if settings["objective"]["type"] == "seq2seq":
        files = translated_files(config, settings)
        where = "test" if files else "held out"
        translate = ["evaluate", run, *files, "--bleu", "--beam-size", 5, "--tokenize", tokenize]
        found[where] = heed.json(*translate)
        found[f"{where}, last"] = heed.json(*translate, "--checkpoint", "last")
        if len(list((run / "checkpoints").glob("step-*"))) >= AVERAGED:
            steps = heed.json("average", run, "--last", AVERAGED)["steps"]
            found[f"{where}, average of {AVERAGED}"] = heed.json(
                *translate, "--checkpoint", f"average-{steps[0]}-{steps[-1]}")
    return {where: {key: of[key] for key in FIGURES if of.get(key) is not None} for where, of in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=pathlib.Path, help="a config, or the name of one in configs/")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds to train with (default: 1)")
    parser.add_argument("--heed", default=DEFAULT_HEED, help="the program (default: build/heed)")
    parser.add_argument("--threads", type=int, default=CORES, help="default: one per core")
    parser.add_argument("--tokenize", choices=["13a", "none"], default="13a",
                        help="how BLEU splits lines; none: at spaces, for data that is tokenised (default: 13a)")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER",
                        help="keep the runs here; an existing run is finished and measured, not trained again")
    parser.add_argument("--append", action="store_true", help="add the result to configs/measured.jsonl")
    options = parser.parse_args()
    config = config_file(options.config)
    heed = Heed(options.heed)
    commit, reasons = provenance(config, heed.program)
    settings = json.loads(heed("config", config))
    minutes, figures = [], []
    with tempfile.TemporaryDirectory(prefix="heed-measure-") as temporary:
        folder = options.keep or pathlib.Path(temporary)
        for seed in range(settings["seed"], settings["seed"] + options.seeds):
            run = folder / f"{config.stem}-seed-{seed}"
            print(f"measure.py: training {config.stem} with seed {seed} into {run}", file=sys.stderr)
            took, more = train(heed, config, run, seed, options.threads)
            minutes.append(took)
            reasons += [r for r in more if r not in reasons]
            figures.append(figures_of(heed, config, settings, run, options.tokenize))
    trained_here = "the run was not trained by this call" not in reasons
    result = {"config": config.name, "clean": not reasons, "reasons": reasons, "commit": commit,
              "date": str(datetime.date.today()), "cpu": cpu(), "threads": options.threads, "seeds": options.seeds,
              "objective": settings["objective"]["type"], "tokenize": options.tokenize,
              "minutes": [round(took, 2) for took in minutes] if trained_here else None, "figures": figures}
    print(table_row(result_cells(result)))
    print(json.dumps(result))
    if options.append:
        append_result(MEASURED, result)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("measure.py: stopped; with --keep FOLDER the same call finishes the run, and its row says so")
