"""Shared by the scripts that run heed: calling it, provenance, means with their spread, results as rows of a table."""
import json
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CORES = len(os.sched_getaffinity(0))
SPEEDRUNS = ROOT / "configs" / "speedruns.jsonl"
MEASURED = ROOT / "configs" / "measured.jsonl"
MEASURED_PAGE = ROOT / "configs" / "MEASURED.md"
DEFAULT_HEED = pathlib.Path(os.environ.get("HEED_BINARY", ROOT / "build" / "heed"))


class Heed:
    """The program. If a command fails, heed says why and the script exits, unless its exit code is allowed."""

    def __init__(self, program):
        self.program = pathlib.Path(program).resolve()
        if not self.program.exists():
            sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {program} does not exist; build it (scripts/quickstart.sh) or "
                     "name another with --heed")

    def __call__(self, *arguments, stdin=None, allowed=()):
        """Standard output of a command, or None if it ended with one of the allowed exit codes."""
        line = list(map(str, arguments))
        done = subprocess.run([self.program, *line], stdin=stdin, stdout=subprocess.PIPE, text=True)
        if done.returncode in allowed:
            return None
        if done.returncode != 0:
            sys.exit(f"{pathlib.Path(sys.argv[0]).name}: heed {' '.join(line)} ended with exit code {done.returncode}")
        return done.stdout

    def json(self, *arguments):
        return json.loads(self(*arguments, "--json"))

    def lines(self, *arguments):
        """The JSON objects of a command that prints one a line, as they come."""
        line = [*map(str, arguments), "--json"]
        with subprocess.Popen([self.program, *line], stdout=subprocess.PIPE, encoding="utf-8") as process:
            yield from map(json.loads, process.stdout)
        if process.returncode != 0:
            sys.exit(f"{pathlib.Path(sys.argv[0]).name}: heed {' '.join(line)} ended with exit code {process.returncode}")


def tensors(data):
    """Name, type, shape, begin and end of every tensor of a safetensors file."""
    start = 8 + int.from_bytes(data[:8], "little")
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            yield name, entry["dtype"], entry["shape"], start + begin, start + end


def config_file(name):
    """The config of this path or, if there is no such file, of this name in configs/."""
    return name if name.is_file() else ROOT / "configs" / f"{str(name).removesuffix('.json')}.json"


def git(*arguments):
    """Standard output of git in this repository, or None without git or a repository."""
    try:
        done = subprocess.run(["git", "-C", ROOT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def provenance(config, program):
    """The commit, and why a figure from it is not clean."""
    commit = git("rev-parse", "--short=10", "HEAD")
    if commit is None:
        return None, ["the commit is unknown"]
    reasons = []
    grows_with_results = [f":(exclude,top){file.relative_to(ROOT)}" for file in (SPEEDRUNS, MEASURED, MEASURED_PAGE)]
    if git("status", "--porcelain", "--", ":/", *grows_with_results):
        reasons.append("there are uncommitted changes")
    if git("ls-files", "--error-unmatch", str(config.resolve())) is None:
        reasons.append("the config is not in the commit")
    changed = git("log", "-1", "--format=%ct", "--", "src", "CMakeLists.txt")
    if changed and program.stat().st_mtime < int(changed):
        reasons.append("heed is older than its sources")
    return commit, reasons


def cpu_field(key):
    """A field of /proc/cpuinfo, such as "model name", or an empty string."""
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    except OSError:
        pass
    return ""


def cpu():
    """Such as "AMD EPYC, family 25, model 1": CPUs with the same name may be years apart."""
    name = cpu_field("model name") or platform.processor() or "unknown CPU"
    return name + "".join(f", {what} {cpu_field(key)}" for what, key in (("family", "cpu family"), ("model", "model"))
                          if cpu_field(key))


# The CPU's name alone does not tell generations apart; OpenBLAS's core type does.
CPUS = {("AMD EPYC", "Zen"): "AMD EPYC (Zen 3)", ("AMD EPYC", "Cooperlake"): "AMD EPYC (Zen 4)",
        ("AMD EPYC, family 25, model 17", "Cooperlake"): "AMD EPYC (Zen 4)",
        ("AMD EPYC, family 25, model 17", "Haswell"): "AMD EPYC (Zen 4)",  # a portable run
        ("AMD EPYC, family 26, model 2", "Haswell"): "AMD EPYC (Zen 5)"}


def cpu_name(result):
    """The CPU of a result, as its row calls it."""
    return CPUS.get((result["cpu"], result.get("core_type")), result["cpu"])


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def cell(values, digits=3):
    """"mean (lowest to highest)" of one number per seed."""
    values = list(values)
    text = f"{mean(values):.{digits}f}"
    if len(values) > 1:
        text += f" ({min(values):.{digits}f} to {max(values):.{digits}f})"
    return text


# Key of evaluate's JSON object: its wording in a row, factor, digits.
FIGURES = {"loss": ("loss {}", 1, 4), "perplexity": ("perplexity {}", 1, 3),
           "masked_perplexity": ("masked perplexity {}", 1, 3), "pseudo_perplexity": ("pseudo-perplexity {}", 1, 3),
           "bits_per_byte": ("{} bits per byte", 1, 4), "accuracy": ("{} % right", 100, 2), "bleu": ("BLEU {}", 1, 2),
           "chrf": ("chrF2 {}", 1, 2), "exact_match": ("{} % of lines exact", 1, 2),
           "unknown_tokens": ("{} unknown tokens", 1, 0)}


def figure(key, values, tokenize):
    """One number per seed, in words."""
    text, factor, digits = FIGURES[key]
    words = text.format(cell([value * factor for value in values], digits))
    return words + f" ({tokenize})" * (key == "bleu")


def reaches(result):
    """All figures of a result, in words."""
    figures, parts = result["figures"], []
    for where in figures[0]:
        if not all(where in of for of in figures):  # a seed kept fewer than ten checkpoints
            continue
        values = {key: [of[where][key] for of in figures if key in of[where]] for key in FIGURES}
        words = [figure(key, of_key, result["tokenize"]) for key, of_key in values.items() if of_key]
        parts.append(f"{where}: {', '.join(words)}")
    return "; ".join(parts)


def reaches_target(result):
    """The metric and the target of a result that has one, in words."""
    ended = [value for value in result["values"] if value is not None]
    diverged = len(result["values"]) - len(ended)
    words = [f"{diverged} diverged"] if diverged else []
    if ended:
        words.insert(0, figure(result["metric"], ended, result["tokenize"]))
    average = f" (average of the last {result['average']})" if result["average"] else ""
    return f"{', '.join(words)}{average}; {result['target']}: {'yes' if result['reached'] else 'no'}"


def result_cells(result):
    """A row of the table of results: config, what it reaches, time, CPU and threads, date and commit."""
    if "figures" in result:
        words, seeds, minutes = reaches(result), len(result["figures"]), result["minutes"]
        took = f"{cell(minutes, 1 if mean(minutes) >= 1 else 2)} min" if minutes else "unknown"
    elif "values" in result:  # with a target
        words, seeds, seconds = reaches_target(result), len(result["values"]), result["seconds"]
        took = (f"{cell(seconds, 1 if mean(seconds) < 1000 else 0)} s, "
                f"{' and '.join(map(str, sorted(set(result['steps']))))} steps" if seconds else "")
    else:  # by hand
        words, seeds, took = result["reaches"], 1, result["time"]
    changes = ", ".join(f"`{text}`" for text in result.get("set", []))
    config = f"`{result['config']}`" + f" with {changes}" * bool(changes) + f", {seeds} seeds" * (seeds > 1)
    threads = f", {result['threads']} thread" + "s" * (result["threads"] > 1) if result["threads"] else ""
    origin = f"{result['date']}, {result['commit'] or 'commit unknown'}"
    if result.get("by_hand"):
        origin += f"{result['remark']}, by hand"
    if result.get("reasons"):
        origin += f", **not clean**: {'; '.join(result['reasons'])}"
    return [config, words, took, cpu_name(result) + threads, origin]


def table_row(cells):
    return "| " + " | ".join(cells) + " |"
