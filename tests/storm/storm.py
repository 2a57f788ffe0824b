#!/usr/bin/env python3
"""A storm: kills and power cuts, failing calls, hostile files. Prints what is wrong and then exits with 1.

    tests/storm/storm.py [--kills N] [--faults N] [--hostile N] [--seed N] [--jobs N] [--heed build/heed]

kills: training is killed at a random one of its calls on files, also in the middle of a write; mostly the power goes
with it, which takes back what was not synced. Then every checkpoint that was in place must still be there, every
checkpoint that is there must be whole, and the resumed run must end in the bytes of one that was never stopped. Some
trainings are --force over a finished run, which must stay whole under its own or another name.
faults: every call fails with some probability (no space, I/O errors, short writes and reads, too many files); heed must
say so and exit as documented, and the run must resume to the same bytes.
hostile: see hostile.py. Needs a C compiler and Python's standard library.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "cli")]
import crashes
import hostile
import runs


def corpus(folder, changes):
    """Writes the texts that the configs use, and a config."""
    test = runs.RunsTest()
    test.folder = folder
    (folder / "a.txt").write_text(runs.text(900))
    test.pairs(60)
    test.config("c", **changes)


def crash_job(job, options, calls, work):
    """A share of the kills and faults, in a folder of its own."""
    draw = random.Random(f"{options.seed} {job}")
    kills, faults, ends, findings = 0, 0, collections.Counter(), []
    configs = list(crashes.CONFIGS)
    stages = {}
    for name in configs:
        folder = work / f"{name}-{job}"
        (folder / "texts").mkdir(parents=True)
        corpus(folder / "texts", crashes.CONFIGS[name])
        stages[name] = crashes.Crashes(options.heed, calls, folder, name, draw)
    turn = 0
    while kills * options.jobs < options.kills or faults * options.jobs < options.faults:
        stage = stages[configs[turn % len(configs)]]
        turn += 1
        try:
            if kills * options.jobs < options.kills:
                kills += stage.crash()
            if faults * options.jobs < options.faults:
                done = stage.fault()
                faults += len(done)
                ends.update(done)
        except (crashes.Finding, subprocess.TimeoutExpired) as error:
            kept = shutil.copytree(stage.root, work / f"finding-{job}-{turn}", symlinks=True)
            findings.append(f"{stage.name}, turn {turn} of job {job} ({kept}): {error}")
            if len(findings) > 4:
                break
    return kills, faults, ends, findings


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--faults", type=int, default=60)
    parser.add_argument("--hostile", type=int, default=400)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--heed", type=lambda p: str(Path(p).resolve()), default=str(ROOT / "build" / "heed"))
    options = parser.parse_args()
    print(f"storm: seed {options.seed}", flush=True)
    work = Path(tempfile.mkdtemp(prefix="heed_storm_"))
    calls = work / "calls.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", calls, HERE / "calls.c", "-ldl", "-lpthread"], check=True)
    findings = []
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        def run(job, *arguments, jobs=options.jobs):
            """What all shares of a job count, how their commands ended, in words, and the seconds; adds what they found."""
            start = time.time()
            counts, ends = [0, 0], collections.Counter()
            for future in [pool.submit(job, number, options, *arguments) for number in range(jobs)]:
                *counted, e, found = future.result()
                counts = [a + b for a, b in zip(counts, [*counted, 0, 0])]
                ends.update(e)
                findings.extend(found)
            codes = ", ".join(f"{code}: {n}" for code, n in sorted(ends.items(), key=str))
            return *counts, sum(ends.values()), f"(exit codes {codes}), {time.time() - start:.0f} s"

        kills, faults, _, words = run(crash_job, calls, work, jobs=options.jobs if options.kills + options.faults > 0 else 0)
        print(f"storm: {kills} kills and power cuts, {faults} trainings with failing calls {words}", flush=True)
        *_, n, words = run(hostile.job, work)
        print(f"storm: {n} runs on hostile files {words}")
    for finding in findings:
        print("storm: FINDING " + finding)
    if findings:
        sys.exit(f"storm: {len(findings)} findings with --seed {options.seed}; what they left is in {work}")
    shutil.rmtree(work)
    print("storm: nothing found")


if __name__ == "__main__":
    main()
