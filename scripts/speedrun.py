#!/usr/bin/env python3
"""How good a config gets, and how fast: trains it with several seeds to the end of its schedule and keeps the result.

    scripts/speedrun.py CONFIG --target loss '<=' 1.88 [--seeds 3] [--set KEY=VALUE]... [--data KEY=FILE]... [--note TEXT]

The time is for `heed train`, from start to end. The metric comes from `heed evaluate` (loss, perplexity, bits_per_byte,
accuracy, bleu, chrf, exact_match) on the config's held-out data, with the last checkpoint or an average of the last ones.
No seed is left out and no checkpoint is chosen. A seed that diverges counts as null, without seconds and steps, and misses
any target.
--data train=FILE is --set data.train=FILE with a path relative to the current folder.

Prints a table row and appends a JSON object to a file of results (default: configs/speedruns.jsonl), even if the target is
missed: what did not help is a result too. --note says what was tried. config_sha256 is the hash of the effective config as
`heed config` prints it with these --set, data_sha256 those of the texts.
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

from heed_runs import (CORES, DEFAULT_HEED, SPEEDRUNS, Heed, append_result, config_file, cpu, mean, provenance,
                       result_cells, table_row)

COMPARISONS = {"<=": operator.le, ">=": operator.ge}
TRANSLATED = ("bleu", "chrf", "exact_match")
METRICS = ("loss", "perplexity", "bits_per_byte", "accuracy", *TRANSLATED)
DIVERGED = 5


def pair(text):
    key, equals, value = text.partition("=")
    if not (key and equals and value):
        raise argparse.ArgumentTypeError(f"{text}: expected KEY=VALUE")
    return key, value


def finite(text):
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def measured(heed, run, options):
    """The metric of a finished run."""
    checkpoint = "last"
    if options.average:
        steps = heed.json("average", run, "--last", options.average)["steps"]
        checkpoint = f"average-{steps[0]}-{steps[-1]}"
    metric = options.target[0]
    translate = ["--bleu", "--beam-size", 5, "--tokenize", options.tokenize] if metric in TRANSLATED else []
    figures = heed.json("evaluate", run, "--checkpoint", checkpoint, *translate)
    if metric not in figures:
        sys.exit(f"speedrun.py: heed evaluate gives no {metric} for this run")
    return figures[metric]


def cannot_measure(settings, options):
    """Why nothing could be measured in a run with these settings, or None."""
    metric, train, data = options.target[0], settings["train"], settings["data"]
    if metric in TRANSLATED and settings["objective"]["type"] != "seq2seq":
        return f"{metric} measures translations; the objective is {settings['objective']['type']}"
    if metric == "bits_per_byte" and settings["objective"]["type"] in ("masked_lm", "span_corruption"):
        return f"{settings['objective']['type']} does not score every byte, so it has no bits_per_byte"
    if metric == "bits_per_byte" and (data["lowercase"] or data["normalize"] != "none"):
        return "data.lowercase or data.normalize changes the bytes of the text, so it has no bits_per_byte"
    if not data["valid_fraction"] and not any(data.get(key) for key in ("valid", "valid_source", "valid_pairs")):
        return f"{metric} needs held-out text, but data.valid_fraction is 0 and no file is held out"
    saved = train["keep_last"] or math.inf
    if train["save_every"] == 0:
        saved = 1
    elif isinstance(train["save_every"], int) and train["max_steps"] > 0:
        saved = min(saved, math.ceil(train["max_steps"] / train["save_every"]))
    if options.average and options.average > saved:
        return f"--average {options.average}, but only {saved} saved checkpoints are kept (train.save_every, train.keep_last)"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=pathlib.Path, help="a config, or the name of one in configs/")
    parser.add_argument("--target", nargs=3, required=True, metavar=("METRIC", "OP", "VALUE"),
                        help="what the mean over the seeds should reach; OP is <= or >=")
    parser.add_argument("--seeds", type=int, default=3, help="how many, starting from the config's own (default: 3)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as for heed train")
    parser.add_argument("--data", action="append", default=[], type=pair, metavar="KEY=FILE", help="train, valid, source, ...")
    parser.add_argument("--average", type=int, metavar="N", help="measure the average of the last N checkpoints")
    parser.add_argument("--tokenize", choices=["13a", "none"], default="13a", help="how BLEU splits lines (default: 13a)")
    parser.add_argument("--note", default="", help="what you are trying, in a sentence")
    parser.add_argument("--results", type=pathlib.Path, default=SPEEDRUNS)
    parser.add_argument("--heed", default=DEFAULT_HEED, help="the program (default: build/heed)")
    parser.add_argument("--threads", type=int, default=CORES, help="default: one per core")
    options = parser.parse_args()
    metric, comparison, value = options.target
    try:
        wanted = finite(value)
    except ValueError:
        wanted = None
    if metric not in METRICS or comparison not in COMPARISONS or wanted is None or options.seeds < 1:
        parser.error(f"expected --target METRIC '<=' VALUE or '>=' VALUE, METRIC one of {', '.join(METRICS)}; and at least one seed")
    heed, config = Heed(options.heed), config_file(options.config)
    commit, reasons = provenance(config, heed.program)
    sets = [part for text in options.set for part in ("--set", text)]
    files = [part for key, file in options.data for part in ("--set", f"data.{key}={pathlib.Path(file).resolve()}")]
    effective = heed("config", config, *sets)
    settings = json.loads(heed("config", config, *sets, *files))
    seed, reason = settings["seed"], cannot_measure(settings, options)
    if reason:
        parser.error(f"{config.name}: {reason}")
    try:
        options.results.open("a").close()
    except OSError as error:
        parser.error(f"--results: {error}")
    values, seconds, steps = [], [], []
    with tempfile.TemporaryDirectory(prefix="heed-speedrun-") as folder:
        for number in range(seed, seed + options.seeds):
            run = pathlib.Path(folder) / f"seed-{number}"
            print(f"speedrun.py: training {config.stem} with seed {number}", file=sys.stderr)
            begin = time.monotonic()
            trained = heed("train", config, "--run", run, *sets, *files, "--set", f"seed={number}", "--threads",
                           options.threads, "--quiet", allowed=(DIVERGED,))
            if trained is None:
                values.append(None)
                continue
            seconds.append(time.monotonic() - begin)
            values.append(measured(heed, run, options))
            steps.append(json.loads((run / "checkpoints" / "last" / "state.json").read_text())["step"])
        origin = json.loads((run / "origin.json").read_text())
    ended = [value for value in values if value is not None]
    reached = len(ended) == len(values) and COMPARISONS[comparison](mean(ended), wanted)
    result = {
        "date": str(datetime.date.today()), "config": config.name, "set": options.set, "note": options.note,
        "target": " ".join(options.target), "reached": reached, "metric": metric, "values": values,
        "seconds": [round(s, 2) for s in seconds], "steps": steps,
        "mean": mean(ended) if ended else None, "lowest": min(ended, default=None), "highest": max(ended, default=None),
        "mean_seconds": round(mean(seconds), 2) if seconds else None,
        "seeds": list(range(seed, seed + options.seeds)), "average": options.average, "tokenize": options.tokenize,
        "config_sha256": hashlib.sha256(effective.encode()).hexdigest(),
        "data_sha256": [origin[key] for key in ("data_sha256", "valid_sha256") if key in origin],
        "cpu": cpu(), "core_type": origin["core_type"], "threads": options.threads, "commit": commit, "clean": not reasons,
        "reasons": reasons}
    append_result(options.results, result)
    print(table_row([*result_cells(result), options.note, f"config {result['config_sha256'][:10]}"]))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("speedrun.py: stopped; an unfinished run leaves no result")
