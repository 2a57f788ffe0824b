#!/usr/bin/env python3
"""Trains a tiny model for a million steps, which takes minutes, and watches its memory, speed and log.

    scripts/dev/soak.py [--heed PROGRAM] [--steps N]

Stops and resumes the run once. Prints what it measured. Fails if memory grows, if steps get slower, or if the log has a
gap, a repetition or a torn line.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from heed_runs import DEFAULT_HEED, ROOT  # noqa: E402

LOG_EVERY = 1000
CONFIG = {
    "data": {"train": str(ROOT / "data" / "fables.txt"), "valid_fraction": 0.1},
    "tokenizer": {"type": "char"},
    "model": {"d_model": 8, "n_heads": 2, "d_ff": 16, "encoder_layers": 0, "decoder_layers": 1, "dropout": 0.1},
    "objective": {"type": "causal_lm", "target_length": 16},
    "optimizer": {"learning_rate": 1e-3, "schedule": "constant"},
    "train": {"batch_tokens": 64, "log_every": LOG_EVERY, "eval_every": 10000, "save_every": 10000},
}


def resident_mib(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return None


def watch(command):
    """Runs the command and returns its memory in MiB, sampled ten times a second."""
    process, memory = subprocess.Popen(command), []
    while process.poll() is None:
        time.sleep(0.1)
        try:
            memory.append(resident_mib(process))
        except OSError:
            break
    if process.wait() != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {process.returncode}")
    return [m for m in memory if m]


def check(memory, lines, steps):
    """Prints the measurements and yields a sentence for each problem."""
    trained = [l for l in lines if l["kind"] == "train"]
    speed = [l["tokens_per_second"] for l in trained]
    tenth = max(1, len(speed) // 10)
    early, late = (statistics.median(s) for s in (speed[tenth:2 * tenth], speed[-tenth:]))
    settled, end = memory[len(memory) // 2], memory[-1]  # half-way, every buffer has reached its final size
    print(f"{steps:,} steps, {len(lines):,} lines of metrics, {len(memory):,} samples of memory")
    print(f"memory: {settled:.1f} MiB half-way, {end:.1f} at the end, {max(memory):.1f} at most")
    print(f"speed: {early:,.0f} tokens/s in the second tenth, {late:,.0f} in the last (medians)")
    if end > settled + 1:
        yield f"memory grew from {settled:.1f} to {end:.1f} MiB"
    if late < 0.8 * early:
        yield f"the steps got slower: {early:.0f} to {late:.0f} tokens/s"
    if [l["step"] for l in trained] != list(range(LOG_EVERY, steps + 1, LOG_EVERY)):
        yield "the train lines have unexpected steps"
    evaluated = [l["step"] for l in lines if l["kind"] == "valid"]
    if evaluated != sorted(set(evaluated)):
        yield "validations are repeated or out of order"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", default=DEFAULT_HEED, type=pathlib.Path, help="the program (default: build/heed)")
    parser.add_argument("--steps", default=1_000_000, type=int, help="a multiple of 1000 (default: a million)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heed-soak-") as folder:
        folder, heed = pathlib.Path(folder), options.heed.resolve()
        config, run = folder / "soak.json", folder / "run"
        CONFIG["train"]["max_steps"] = options.steps
        config.write_text(json.dumps(CONFIG))
        stop = options.steps // 3
        memory = watch([heed, "train", config, "--run", run, "--stop-at", str(stop), "--quiet"])
        print(f"stopped at step {stop:,} with {memory[-1]:.1f} MiB")
        memory = watch([heed, "resume", run, "--quiet"])
        lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        wrong = list(check(memory, lines, options.steps))
    for w in wrong:
        print("WRONG: " + w)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
