#!/usr/bin/env python3
"""Trains a config with one or more seeds and prints what it reaches: a row of a table in configs/MEASURED.md and a JSON object.

    scripts/measure.py CONFIG [--seeds N] [--set KEY=VALUE]... [--data KEY=FILE]... [--tokenize none] [--append]
    scripts/measure.py CONFIG --target loss '<=' 1.88 --seeds 3 [--average N] [--note TEXT] [--append]

The config is trained --seeds times, with its own seed and the next ones; a figure is then "mean (lowest to highest)". No seed
is left out. --data train=FILE is --set data.train=FILE with a path relative to the current folder.

Without --target: all figures of `heed evaluate` on the config's held-out data, with the best checkpoint:
  text     loss (nats per token), perplexity, bits per byte, accuracy of the next token
  masked   masked perplexity, pseudo-perplexity and accuracy of the masked tokens
  pairs    as text, plus BLEU, chrF2 and exact lines of translations with beam 5; the same for the last checkpoint,
           and for the average of the last 10 if the config keeps that many. If the validation files are called
           X.valid.Y and X.test.Y exists too, the test files are translated.

With --target: how good it gets, and how fast. The metric (loss, perplexity, bits_per_byte, accuracy, bleu, chrf, exact_match)
is that of the last checkpoint, or of an average of the last ones: no checkpoint is chosen. The time is for `heed train`, from
start to end. A seed that diverges counts as null, without seconds and steps, and misses any target. config_sha256 is the hash
of the effective config as `heed config` prints it with these --set, data_sha256 those of the texts.

--append adds the object to configs/measured.jsonl, or with --target to configs/speedruns.jsonl, even if the target is missed:
what did not help is a result too. scripts/dev/measured_tables.py makes the page's tables from these files.

A figure is clean if it can be reproduced: the commit contains the config, nothing has changed since, heed is not older
than its sources, and this call trained the run without a stop. Otherwise the row says "not clean" and why.
"""
import argparse
import datetime
import hashlib
import json
import math
import operator
import pathlib
import sys
import tempfile
import time

from heed_runs import (CORES, DEFAULT_HEED, FIGURES, MEASURED, SPEEDRUNS, Heed, config_file, cpu, mean, provenance,
                       result_cells, table_row)

AVERAGED = 10  # checkpoints
COMPARISONS = {"<=": operator.le, ">=": operator.ge}
TRANSLATED = ("bleu", "chrf", "exact_match")
METRICS = ("loss", "perplexity", "bits_per_byte", "accuracy", *TRANSLATED)
DIVERGED = 5
NOT_BY_THIS_CALL = "the run was not trained by this call"


def pair(text):
    key, equals, value = text.partition("=")
    if not (key and equals and value):
        raise argparse.ArgumentTypeError(f"{text}: expected KEY=VALUE")
    return key, value


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=pathlib.Path, help="a config, or the name of one in configs/")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds to train with (default: 1)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as for heed train")
    parser.add_argument("--data", action="append", default=[], type=pair, metavar="KEY=FILE", help="train, valid, source, ...")
    parser.add_argument("--target", nargs=3, metavar=("METRIC", "OP", "VALUE"),
                        help="what the mean over the seeds should reach; OP is <= or >=")
    parser.add_argument("--average", type=int, metavar="N", help="with --target: measure the average of the last N checkpoints")
    parser.add_argument("--note", default="", help="what you are trying, in a sentence")
    parser.add_argument("--heed", default=DEFAULT_HEED, help="the program (default: build/heed)")
    parser.add_argument("--threads", type=int, default=CORES, help="default: one per core")
    parser.add_argument("--tokenize", choices=["13a", "none"], default="13a",
                        help="how BLEU splits lines; none: at spaces, for data that is tokenised (default: 13a)")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER",
                        help="keep the runs here; an existing run is finished and measured, not trained again")
    parser.add_argument("--append", action="store_true", help="add the result to the file of results")
    options = parser.parse_args()
    if options.target:
        metric, comparison, value = options.target
        try:
            wanted = float(value)
        except ValueError:
            wanted = math.nan
        if metric not in METRICS or comparison not in COMPARISONS or not math.isfinite(wanted):
            parser.error(f"expected --target METRIC '<=' VALUE or '>=' VALUE, METRIC one of {', '.join(METRICS)}")
    if options.seeds < 1 or (options.average and not options.target):
        parser.error("expected at least one seed, and --average with --target")
    return parser, options


def cannot_measure(settings, metric, average):
    """Why nothing could be measured in a run with these settings, or None."""
    train, data, kind = settings["train"], settings["data"], settings["objective"]["type"]
    if metric in TRANSLATED and kind != "seq2seq":
        return f"{metric} measures translations; the objective is {kind}"
    if metric == "bits_per_byte" and kind in ("masked_lm", "span_corruption"):
        return f"{kind} does not score every byte, so it has no bits_per_byte"
    if metric == "bits_per_byte" and (data["lowercase"] or data["normalize"] != "none"):
        return "data.lowercase or data.normalize changes the bytes of the text, so it has no bits_per_byte"
    if not data["valid_fraction"] and not any(data.get(key) for key in ("valid", "valid_source", "valid_pairs")):
        return f"{metric} needs held-out text, but data.valid_fraction is 0 and no file is held out"
    saved = train["keep_last"] or math.inf
    if train["save_every"] == 0:
        saved = 1
    elif isinstance(train["save_every"], int) and train["max_steps"] > 0:
        saved = min(saved, math.ceil(train["max_steps"] / train["save_every"]))
    if average and average > saved:
        return f"--average {average}, but only {saved} saved checkpoints are kept (train.save_every, train.keep_last)"
    return None


def without_folders(config):
    """heed config prints paths from the current folder, a run keeps them as they are written."""
    def name(path):
        return pathlib.Path(path).name if isinstance(path, str) else path
    return {**config, "data": {key: list(map(name, value)) if isinstance(value, list) else name(value)
                               for key, value in config["data"].items()}}


def train(heed, config, sets, run, threads):
    """Trains, or finishes an existing run; returns the seconds, or None if it diverged, and why the run is not clean."""
    begin, reasons = time.monotonic(), []
    options = ("--threads", threads, "--quiet")
    if not run.exists():
        if heed("train", config, "--run", run, *sets, *options, allowed=(DIVERGED,)) is None:
            return None, []
    else:
        wanted = json.loads(heed("config", config, *sets))
        if without_folders(json.loads((run / "config.json").read_text())) != without_folders(wanted):
            sys.exit(f"measure.py: {run} has another config; move it away")
        heed("resume", run, *options)
        reasons = [NOT_BY_THIS_CALL]
    seconds = time.monotonic() - begin
    # Every training process logs its plan.
    if sum(line.startswith("plan: ") for line in (run / "train.log").read_text().splitlines()) > 1:
        reasons.append("the run was resumed")
    return seconds, reasons


def averaged(heed, run, count):
    """The average of the last checkpoints, as --checkpoint takes it."""
    steps = heed.json("average", run, "--last", count)["steps"]
    return f"average-{steps[0]}-{steps[-1]}"


def metric_of(heed, run, options):
    metric = options.target[0]
    checkpoint = averaged(heed, run, options.average) if options.average else "last"
    translate = ["--bleu", "--beam-size", 5, "--tokenize", options.tokenize] if metric in TRANSLATED else []
    figures = heed.json("evaluate", run, "--checkpoint", checkpoint, *translate)
    if metric not in figures:
        sys.exit(f"measure.py: heed evaluate gives no {metric} for this run")
    return figures[metric]


def translated_files(config, settings):
    """Options of evaluate: the test files next to the validation files, if there are any."""
    data = settings["data"]
    sides = [data["valid_pairs"]] if data["valid_pairs"] else [data["valid_source"], data["valid_target"]]
    files = [(config.parent / side.replace(".valid.", ".test.")).resolve() for side in sides]
    if all(".valid." in side and file.exists() for side, file in zip(sides, files)):
        return [part for option, file in zip(("--file", "--target-file"), files) for part in (option, file)]
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
            found[f"{where}, average of {AVERAGED}"] = heed.json(*translate, "--checkpoint", averaged(heed, run, AVERAGED))
    return {where: {key: of[key] for key in FIGURES if of.get(key) is not None} for where, of in found.items()}


def against_target(target, values, seconds, steps):
    """What a result with a target has beside the rest."""
    metric, comparison, wanted = target
    ended = [value for value in values if value is not None]
    reached = len(ended) == len(values) and COMPARISONS[comparison](mean(ended), float(wanted))
    return {"target": " ".join(target), "reached": reached, "metric": metric, "values": values,
            "seconds": [round(s, 2) for s in seconds], "steps": steps,
            "mean": mean(ended) if ended else None, "lowest": min(ended, default=None), "highest": max(ended, default=None),
            "mean_seconds": round(mean(seconds), 2) if seconds else None}


def main():
    parser, options = parse()
    heed, config = Heed(options.heed), config_file(options.config)
    commit, reasons = provenance(config, heed.program)
    sets = [part for text in options.set for part in ("--set", text)]
    effective = heed("config", config, *sets)
    sets += [part for key, file in options.data for part in ("--set", f"data.{key}={pathlib.Path(file).resolve()}")]
    settings = json.loads(heed("config", config, *sets))
    if options.target and (reason := cannot_measure(settings, options.target[0], options.average)):
        parser.error(f"{config.name}: {reason}")
    seeds = range(settings["seed"], settings["seed"] + options.seeds)
    results, seconds, steps = [], [], []
    with tempfile.TemporaryDirectory(prefix="heed-measure-") as temporary:
        for seed in seeds:
            run = (options.keep or pathlib.Path(temporary)) / f"{config.stem}-seed-{seed}"
            print(f"measure.py: training {config.stem} with seed {seed} into {run}", file=sys.stderr)
            took, more = train(heed, config, [*sets, "--set", f"seed={seed}"], run, options.threads)
            reasons += [r for r in more if r not in reasons]
            if took is None:
                if not options.target:
                    sys.exit(f"measure.py: seed {seed} diverged")
                results.append(None)
                continue
            seconds.append(took)
            steps.append(json.loads((run / "checkpoints" / "last" / "state.json").read_text())["step"])
            results.append(metric_of(heed, run, options) if options.target else
                           figures_of(heed, config, settings, run, options.tokenize))
        origin = json.loads((run / "origin.json").read_text())
    if NOT_BY_THIS_CALL in reasons:
        seconds = []
    result = {"date": str(datetime.date.today()), "config": config.name, "set": options.set, "note": options.note,
              "seeds": list(seeds), "tokenize": options.tokenize, "average": options.average,
              "config_sha256": hashlib.sha256(effective.encode()).hexdigest(),
              "data_sha256": [origin[key] for key in ("data_sha256", "valid_sha256") if key in origin],
              "cpu": cpu(), "core_type": origin["core_type"], "threads": options.threads, "commit": commit,
              "clean": not reasons, "reasons": reasons}
    if options.target:
        result |= against_target(options.target, results, seconds, steps)
    else:
        result |= {"objective": settings["objective"]["type"], "figures": results,
                   "minutes": [round(s / 60, 2) for s in seconds]}
    cells = result_cells(result)
    print(table_row([*cells, options.note, f"config {result['config_sha256'][:10]}"] if options.target else cells))
    print(json.dumps(result))
    if options.append:
        with (SPEEDRUNS if options.target else MEASURED).open("a") as file:
            file.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("measure.py: stopped; with --keep FOLDER the same call finishes the run, and its row says so")
