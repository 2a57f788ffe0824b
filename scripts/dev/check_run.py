#!/usr/bin/env python3
"""Checks a run folder without heed.

    scripts/dev/check_run.py RUN [REFERENCE]

Checks that every checkpoint is intact (all checksums match, including that of state.json) and that best and last point to
one of them. With REFERENCE, a finished run of the same config, also checks that the last checkpoints have the same bytes,
that the links are the same, that metrics.jsonl has the same training and validation losses, each step once, and that
film.jsonl has the same bytes.
On a failure prints what is wrong and exits with 1. Needs only Python's standard library.
"""
import argparse
import hashlib
import json
import os
import sys


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def check_checkpoint(folder):
    """Raises unless the folder is intact; returns {name: bytes}."""
    files = {name: read(folder, name) for name in sorted(os.listdir(folder))}
    text = files["state.json"]
    state = json.loads(text)
    # The checksum is the last member: 64 digits before the final '"\n}\n'.
    assert text[-68:-4].decode() == state["checksum"], "checksum is not last"
    digest = hashlib.sha256(text[:-68] + text[-4:]).hexdigest()
    assert digest == state["checksum"], "state.json does not match its own checksum"
    assert set(files) == set(state["files"]) | {"state.json"}, "missing or unexpected files"
    for name, expected in state["files"].items():
        assert hashlib.sha256(files[name]).hexdigest() == expected, name + " is altered"
    return files


def check_run(run):
    checkpoints = os.path.join(run, "checkpoints")
    whole = {}
    for name in sorted(os.listdir(checkpoints)):
        path = os.path.join(checkpoints, name)
        if name.startswith("step-"):
            try:
                whole[name] = check_checkpoint(path)
            except Exception as error:  # any error means that this checkpoint is damaged
                raise AssertionError(f"{path}: {error!r}") from error
        elif name in ("best", "last"):
            target = os.readlink(path)
            assert os.path.isdir(os.path.join(checkpoints, target)), f"{path} dangles: {target}"
    return whole


def metrics(run):
    values = {}
    text = read(run, "metrics.jsonl").decode()
    assert text == "" or text.endswith("\n"), "metrics.jsonl ends in a torn line"
    for line in text.splitlines():
        entry = json.loads(line)
        if entry["kind"] in ("train", "valid"):
            key = entry["kind"], entry["step"]
            assert key not in values, f"metrics.jsonl has {key} twice"
            values[key] = entry["loss"]
    return values


def film(run):
    """Its lines, each with its newline, by kind and step. Empty: a run may have lost it."""
    path = os.path.join(run, "film.jsonl")
    lines = read(path).splitlines(keepends=True) if os.path.exists(path) else []
    entries = [json.loads(line) for line in lines]
    assert len({(e["kind"], e["step"]) for e in entries}) == len(lines), "film.jsonl has a step twice"
    return {(e["kind"], e["step"]): line for e, line in zip(entries, lines)}


def compare(run, reference, lines_lost=False):
    """Raises unless the run ended like its reference. lines_lost: metrics.jsonl and film.jsonl may lack lines, and a film
    that lost its probe may have begun again."""
    mine, theirs = check_run(run), check_run(reference)
    last = max(theirs)
    assert last in mine, f"{run} has no {last}"
    assert set(mine[last]) == set(theirs[last]), f"{last}: the files are not the same"
    for name, expected in theirs[last].items():
        assert mine[last][name] == expected, f"{last}/{name} differs from the reference's"
    for link in ("best", "last"):
        targets = [os.readlink(os.path.join(r, "checkpoints", link)) for r in (run, reference)]
        assert targets[0] == targets[1], f"{link} points to {targets[0]}, expected {targets[1]}"
    for name, lines in (("metrics.jsonl", metrics), ("film.jsonl", film)):
        mine, theirs = lines(run), lines(reference)
        if lines_lost:
            if any(kind == "probe" for kind, _ in mine.keys() - theirs.keys()):  # that film has frames of its own
                mine = {key: line for key, line in mine.items() if key in theirs and b'"end":true' not in line}
            theirs = {key: theirs[key] for key in theirs if key in mine}
        assert list(mine.items()) == list(theirs.items()), f"{name} differs from the reference's"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("reference", nargs="?")
    options = parser.parse_args()
    try:
        if options.reference:
            compare(options.run, options.reference)
        else:
            check_run(options.run)
    except AssertionError as error:
        sys.exit(f"check_run.py: {error}")


if __name__ == "__main__":
    main()
