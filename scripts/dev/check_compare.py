#!/usr/bin/env python3
"""Do the intervals of heed compare hold the truth as often as they say, and are its p those of sacreBLEU?

    scripts/dev/check_compare.py [HEED [TESTS]] [--folder DIR] [--runs 30] [--set KEY=VALUE]...

Trains small models that turn lines of numbers around and differ in seed alone (some seconds each; those in DIR are used
again), and measures each held-out pair with heed score and heed evaluate --bleu. With loss, token errors and exact match, TESTS (build/tests/heed_tests) simulates: 2,000 sets
of 200 pairs drawn from the differences of two runs, whose mean is known; 400 draws of three runs against three others,
which have no difference; 2,000 of these with 200 pairs drawn. Then, if sacrebleu is installed, compares p and intervals
of two runs with its own on the same translations. Minutes; not in CI.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = {
    "data": {"source": "s", "target": "t", "valid_source": "vs", "valid_target": "vt"}, "tokenizer": {"type": "word"},
    "objective": {"type": "seq2seq"},
    "model": {"d_model": 32, "n_heads": 4, "d_ff": 64, "encoder_layers": 1, "decoder_layers": 1},
    "optimizer": {"learning_rate": 0.005}, "train": {"batch_tokens": 1024, "max_steps": 300, "eval_every": 0, "keep_last": 1, "threads": 1},
}


def make_data(folder):
    drawn = random.Random(1)
    for name, n in (("", 3000), ("v", 400)):
        lines = [[str(drawn.randrange(30)) for _ in range(drawn.randint(3, 9))] for _ in range(n)]
        for side, words in (("s", lines), ("t", [line[::-1] for line in lines])):
            (folder / (name + side)).write_text("".join(" ".join(line) + "\n" for line in words))


def train(heed, folder, seeds, sets):
    (folder / "config.json").write_text(json.dumps(CONFIG))
    runs = [folder / f"run{seed}" for seed in seeds]
    for seed, run in zip(seeds, runs):
        if not run.exists():
            subprocess.run([heed, "train", folder / "config.json", "--run", run, "--quiet", "--set", f"seed={seed}", *sets], check=True)
    return runs


def of_pairs(heed, folder, run):
    """Of the held-out pairs, per figure: [(tokens, nats)], [(tokens, token errors)] and [(1, exact)]."""
    lines = subprocess.run([heed, "score", run, "--file", folder / "vs", "--target-file", folder / "vt", "--json"], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    figures = {"loss": [(len(line["ids"]), -line["logprob"]) for line in map(json.loads, lines)]}
    told = subprocess.run([heed, "evaluate", run, "--bleu", "--beam-size", "1", "--json"], check=True, capture_output=True, text=True).stdout
    figures["token errors"] = [(line["tokens"], line["token_errors"]) for line in json.loads(told)["lines"]]
    figures["exact match"] = [(1, float(line["exact"])) for line in json.loads(told)["lines"]]
    return figures


def simulate(tests, folder, measured):
    path = folder / "systems.txt"
    rows = [f"{units[0][0]} " + " ".join(str(nats) for _, nats in units) for units in zip(*measured)]
    path.write_text("\n".join([str(len(measured)), *rows]) + "\n")
    done = subprocess.run([tests, "--gtest_also_run_disabled_tests", "--gtest_filter=Comparison.DISABLED*"],
                          env={**os.environ, "HEED_SYSTEMS": str(path)}, capture_output=True, text=True)
    print("".join(line + "\n" for line in done.stdout.splitlines() if "cover" in line and "[" not in line or "ailure" in line), end="")
    return done.returncode == 0


def translations(heed, folder, run):
    return subprocess.run([heed, "translate", run, "--file", folder / "vs", "--quiet"], check=True, capture_output=True,
                          text=True).stdout.splitlines()


def beside_sacrebleu(heed, folder, runs):
    try:
        from sacrebleu.metrics import BLEU, CHRF
        from sacrebleu.significance import PairedTest
    except ImportError:
        print("sacrebleu is not installed: pip install sacrebleu")
        return True
    found = json.loads(subprocess.run([heed, "compare", *runs, "--json"], check=True, capture_output=True, text=True).stdout)["figures"]
    systems = [(run.name, translations(heed, folder, run)) for run in runs]
    references, fine = [(folder / "vt").read_text().splitlines()], True
    for test, key in (("bs", "p_bootstrap"), ("ar", "p_randomization")):
        _, scores = PairedTest(systems, {"BLEU": BLEU(), "chrF2": CHRF()}, references, test_type=test, n_ar_confidence=0)()
        for name, metric in (("BLEU", "bleu"), ("chrF2", "chrf")):
            theirs, ours = scores[name], found[metric]
            p, n = theirs[1].p_value, 1000 if test == "bs" else 10000
            near = abs(p - ours[key]) <= 6 * (max(p, 1 / n) / n) ** 0.5
            for side, of in (("first", theirs[0]), ("second", theirs[1])):
                low, high = ours[side + "_interval"]
                near = near and abs(ours[side] - of.score) < 1e-9 and abs((high - low) / 2 - of.ci) <= 0.15 * of.ci
            fine = fine and near
            print(f"{name}, {test}: heed {ours['first']:.2f} and {ours['second']:.2f}, p {ours[key]:.4f}, interval of the second "
                  f"± {(ours['second_interval'][1] - ours['second_interval'][0]) / 2:.2f}; sacreBLEU {theirs[0].score:.2f} and "
                  f"{theirs[1].score:.2f}, p {p:.4f}, ± {theirs[1].ci:.2f}{'' if near else ': NOT THE SAME'}")
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed", nargs="?", default=ROOT / "build" / "heed")
    parser.add_argument("tests", nargs="?", default=ROOT / "build" / "tests" / "heed_tests")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--set", action="append", default=[])
    args = parser.parse_args()
    folder = args.folder or pathlib.Path(tempfile.mkdtemp(prefix="heed_compare_"))
    folder.mkdir(exist_ok=True)
    make_data(folder)
    runs = train(args.heed, folder, range(1, args.runs + 1), [x for value in args.set for x in ("--set", value)])
    measured, fine = [of_pairs(args.heed, folder, run) for run in runs], True
    for figure in measured[0]:
        print(figure)
        fine = simulate(args.tests, folder, [of_run[figure] for of_run in measured]) and fine
    fine = beside_sacrebleu(args.heed, folder, runs[:2]) and fine
    raise SystemExit(0 if fine else 1)


if __name__ == "__main__":
    main()
