#!/usr/bin/env python3
"""Measures how fast heed and PyTorch train, taking turns on one machine, and prints a Markdown table.

    scripts/dev/compare_pytorch.py [--rounds N] [--seconds S] [--workloads ABCDEM] [--heed PATH] [--python PATH]
                                   [--precisions float32 bfloat16]

In each round, for each workload from make_workloads.py and each precision, it measures heed and then PyTorch in three
settings:
  out of the box   PyTorch's defaults, no variables set
  threads          one thread per core, tcmalloc, the CPU's widest vectors; from PyTorch 2.4 on its own attention and fused
                   Adam, before that Adam's foreach form; Debian's PyTorch also gets OpenBLAS with OpenMP
  processes        the same libraries, two processes with one thread and half of the batch each
bfloat16 is heed's train.precision and PyTorch's autocast. "tuned" is the faster of the last two, by median. A ratio is
heed's tokens/s divided by PyTorch's in the same round. The table shows the median over the rounds, with the lowest and
highest in parentheses. On M heed packs its sequences, while PyTorch pads batches of pairs, in random order or grouped by
length (bucketed).

Needs libtcmalloc-minimal4 and a Python with PyTorch (--python; by default Debian's python3-torch, which needs
libopenblas0-openmp). Nothing else should run on the machine.
"""
import argparse
import dataclasses
import datetime
import glob
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from heed_runs import CORES, DEFAULT_HEED, cpu, cpu_field  # noqa: E402
from make_workloads import WORKLOADS, write  # noqa: E402

DEBIAN_PYTHON = "/usr/bin/python3"
HERE = pathlib.Path(__file__).resolve().parent
VARIABLES = ["LD_LIBRARY_PATH", "LD_PRELOAD", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ATEN_CPU_CAPABILITY"]


@dataclasses.dataclass(frozen=True)
class Setting:
    name: str
    variables: dict
    arguments: list


def library(pattern, package):
    found = sorted(glob.glob(f"/usr/lib/*/{pattern}"))
    if not found:
        sys.exit(f"/usr/lib/*/{pattern} is missing: apt-get install {package}")
    return found[0]


def pytorch_settings(python):
    version = subprocess.run([python, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True)
    if version.returncode != 0:
        sys.exit(f"{python} has no PyTorch: {version.stderr}")
    form = "--newer" if tuple(map(int, version.stdout.split(".")[:2])) >= (2, 4) else "--foreach"
    libraries = {"LD_PRELOAD": library("libtcmalloc_minimal.so.4", "libtcmalloc-minimal4")}
    if python == DEBIAN_PYTHON:
        libraries["LD_LIBRARY_PATH"] = os.path.dirname(library("openblas-openmp/libopenblas.so.0", "libopenblas0-openmp"))
    if "avx512f" in cpu_field("flags").split():
        libraries["ATEN_CPU_CAPABILITY"] = "avx512"
    return [
        Setting("out of the box", {}, []),
        Setting("threads", libraries | {"OMP_NUM_THREADS": str(CORES)}, [form, "--threads", str(CORES)]),
        Setting("processes", libraries | {"OMP_NUM_THREADS": "1"}, [form, "--threads", "1", "--procs", "2"]),
    ]


def run_json(command, variables):
    """The command's output, parsed as JSON. It does not inherit VARIABLES."""
    env = {k: v for k, v in os.environ.items() if k not in VARIABLES} | variables
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


class HeedBench:
    """`heed bench`. A short run determines how many steps fill the measuring time."""

    def __init__(self, path, seconds):
        self.path, self.seconds, self.steps = path, seconds, {}

    def bench(self, config, precision, steps):
        return run_json([self.path, "bench", str(config), "--json", "--threads", str(CORES), "--steps", str(steps),
                         "--set", f"train.precision={precision}"], {})

    def measure(self, config, precision):
        if (config, precision) not in self.steps:
            speed = self.bench(config, precision, 5)["steps_per_second"]
            self.steps[config, precision] = max(5, round(speed * self.seconds))
        return self.bench(config, precision, self.steps[config, precision])


def measure_round(heed, settings, args, folder):
    """{(workload and precision, "heed") or (workload and precision, order, setting name): result}"""
    results = {}
    for name, precision in itertools.product(args.workloads, args.precisions):
        row = f"{name} {precision}"
        results[row, "heed"] = heed.measure(folder / f"{name}.json", precision)
        for order in ["random", "bucketed"] if WORKLOADS[name].spread else [""]:
            data = ["--data", str(folder), "--order", order] if order else []
            data += ["--bfloat16"] if precision == "bfloat16" else []
            for s in settings:
                command = [args.python, str(HERE / "bench_pytorch.py"), name, "--seconds", str(args.seconds)]
                results[row, order, s.name] = run_json(command + data + s.arguments, s.variables)
        print(f"  {row}: heed {results[row, 'heed']['tokens_per_second']:.0f} tokens/s, PyTorch " + ", ".join(
            f"{' '.join(key[1:]).strip()} {r['tokens_per_second']:.0f}"
            for key, r in results.items() if key[0] == row and key[1] != "heed"), file=sys.stderr)
    return results


def median(rounds, key, field):
    return statistics.median(r[key][field] for r in rounds)


def ratio(rounds, name, key):
    values = [r[name, "heed"]["tokens_per_second"] / r[key]["tokens_per_second"] for r in rounds]
    return f"{statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def table(rounds, args):
    head = ["workload", "heed, tokens/s", "share of sgemm peak", "over PyTorch tuned", "tuned is",
            "over PyTorch out of the box", "PyTorch tuned, tokens/s", "out of the box, tokens/s",
            "peak memory, MiB: heed", "tuned", "out of the box"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name in (f"{name} {precision}" for name in args.workloads for precision in args.precisions):
        for order in ["random", "bucketed"] if WORKLOADS[name[0]].spread else [""]:
            plain = (name, order, "out of the box")
            tuned = max([(name, order, "threads"), (name, order, "processes")],
                        key=lambda key: median(rounds, key, "tokens_per_second"))
            heed = (name, "heed")
            label = {"random": ", padded, random order", "bucketed": ", padded, bucketed"}.get(order, "")
            cells = [name + label, f"{median(rounds, heed, 'tokens_per_second'):.0f}",
                     f"{100 * median(rounds, heed, 'utilisation'):.0f} %", ratio(rounds, name, tuned), tuned[2],
                     ratio(rounds, name, plain)]
            cells += [f"{median(rounds, key, 'tokens_per_second'):.0f}" for key in (tuned, plain)]
            cells += [f"{median(rounds, key, 'peak_rss_mib'):.0f}" for key in (heed, tuned, plain)]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def conditions(args, heed_version, rounds, settings):
    torch = next(r["torch"] for r in rounds[0].values() if "torch" in r)
    peak = statistics.median(r[key]["sgemm_gflops"] for r in rounds for key in r if key[1] == "heed")
    lines = [f"{datetime.date.today()}, {cpu()}, {CORES} cores, "
             f"dropout 0.1; {args.rounds} rounds in turn, {args.seconds:g} s per measurement; sgemm peak "
             f"{peak:.0f} GFLOP/s.",
             f"heed: `{heed_version}`, `--threads {CORES}`. PyTorch {torch} of {args.python}:"]
    for s in settings:
        words = [f"{k}={v}" for k, v in s.variables.items()] + s.arguments
        lines.append(f"- {s.name}: " + (f"`{' '.join(words)}`" if words else "nothing set"))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="how many times to measure everything (default: 3)")
    parser.add_argument("--seconds", type=float, default=12.0, help="how long one measurement takes (default: 12)")
    parser.add_argument("--workloads", default="".join(WORKLOADS), help="their letters (default: all)")
    parser.add_argument("--heed", default=str(DEFAULT_HEED), help="the program (default: build/heed)")
    parser.add_argument("--python", default=DEBIAN_PYTHON, help=f"with PyTorch (default: {DEBIAN_PYTHON})")
    parser.add_argument("--precisions", nargs="+", choices=["float32", "bfloat16"], default=["float32", "bfloat16"],
                        help="default: both")
    args = parser.parse_args()
    unknown = set(args.workloads) - set(WORKLOADS)
    if unknown or args.rounds < 1:
        parser.error(f"workloads are {', '.join(WORKLOADS)}; at least one round is needed")
    settings = pytorch_settings(args.python)
    try:
        version = subprocess.run([args.heed, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"{error}\nBuild heed first (scripts/quickstart.sh), or give its path with --heed")
    with tempfile.TemporaryDirectory() as folder:
        write(pathlib.Path(folder))
        heed, rounds = HeedBench(args.heed, args.seconds), []
        for i in range(args.rounds):
            print(f"round {i + 1} of {args.rounds}", file=sys.stderr)
            rounds.append(measure_round(heed, settings, args, pathlib.Path(folder)))
    print(conditions(args, " ".join(version.split()), rounds, settings) + "\n")
    print(table(rounds, args))
    return 0


if __name__ == "__main__":
    sys.exit(main())
