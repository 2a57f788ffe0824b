#!/usr/bin/env python3
"""Writes the tables of configs/MEASURED.md from the results in configs/measured.jsonl and configs/speedruns.jsonl.

    scripts/dev/measured_tables.py [--check]

Results come from `scripts/measure.py --append`; lines with "by_hand" were written by hand.
A table is what is between its two marker comments. --check writes nothing: it prints what would change, and exits with
1 if anything would.

Options: results with a target for gpt.json with 320 steps and something else changed, each under its baseline: the
result with nothing else changed, from the same commit, CPU and number of threads. Repeated baselines make one row.

Results: all others, by config. Of the same config with the same --set only the newest is shown, but results with a
target, which are about time, keep a row for each CPU and number of threads.
"""
import argparse
import difflib
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from heed_runs import MEASURED, MEASURED_PAGE, SPEEDRUNS, cell, cpu_name, mean, result_cells, table_row  # noqa: E402

BASELINE = ["train.max_steps=320", "train.eval_every=320"]


def results_in(file):
    results = [json.loads(line) for line in file.read_text().splitlines()]
    for result in results:
        result["cpu"] = cpu_name(result)
    return results


def newest(results, *keys):
    """Of the results with the same values of these keys, the newest; of one day, the last in the file."""
    by_date = sorted(results, key=lambda result: result["date"])
    return list({str([result.get(key, []) for key in keys]): result for result in by_date}.values())


def option_rows(baselines, changes):
    """The baseline, which may have been repeated, and the changes to it, the lowest loss first."""
    losses = [loss for baseline in baselines for loss in baseline["values"]]
    seconds = [second for baseline in baselines for second in baseline["seconds"]]
    config, _, _, machine, origin = result_cells(baselines[0])
    yield [f"baseline: {config}; {machine}; {origin}", cell(losses, 4), "", cell(seconds, 1)]
    for change in sorted(changes, key=lambda change: change["mean"]):
        longer = round(100 * (mean(change["seconds"]) / mean(seconds) - 1))
        yield [", ".join(f"`{text}`" for text in change["set"][len(BASELINE):]), cell(change["values"], 4),
               f"{change['mean'] - mean(losses):+.4f}", f"{cell(change['seconds'], 1)}, {longer:+d} %"]


def tables():
    """{name: rows}; the first row has the titles."""
    speedruns = results_in(SPEEDRUNS)
    tried = [result for result in speedruns if result["config"] == "gpt.json" and result["metric"] == "loss"
             and result["set"][:len(BASELINE)] == BASELINE and None not in result["values"]]
    series = {}
    for result in tried:
        series.setdefault(str([result[key] for key in ("cpu", "threads", "commit", "average")]), []).append(result)
    options, shown = [["change", "loss", "against the baseline", "seconds"]], []
    latest = newest(tried, "set")
    for of_series in series.values():
        baselines = [result for result in of_series if result["set"] == BASELINE]
        changes = [result for result in of_series if result["set"] != BASELINE and result in latest]
        if baselines and changes:
            options += option_rows(baselines, changes)
            shown += baselines + changes
    others = [result for result in speedruns if result not in shown]
    results = newest(results_in(MEASURED), "config", "set")
    results += newest(others, "config", "set", "metric", "average", "cpu", "threads")
    results.sort(key=lambda result: (result["config"], result.get("set", [])))
    return {"results": [["config", "reaches", "time", "CPU", "date, commit"], *map(result_cells, results)],
            "options": options}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a table would change")
    options = parser.parse_args()
    old = new = MEASURED_PAGE.read_text()
    for name, (titles, *rows) in tables().items():
        begin, end = f"<!-- {name}, written by scripts/dev/measured_tables.py -->\n", f"<!-- end of {name} -->\n"
        before, rest = new.split(begin)
        _, after = rest.split(end)
        table = "".join(table_row(cells) + "\n" for cells in (titles, ["---"] * len(titles), *rows))
        new = f"{before}{begin}\n{table}\n{end}{after}"
    if options.check:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "the page", "the data"))
        sys.exit(old != new)
    MEASURED_PAGE.write_text(new)


if __name__ == "__main__":
    main()
