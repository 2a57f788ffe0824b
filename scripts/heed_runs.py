"""Shared by the scripts that run heed: calling it, the provenance of a figure, means with their spread."""
import json
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CORES = len(os.sched_getaffinity(0))
SPEEDRUNS = ROOT / "configs" / "speedruns.jsonl"
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
    if git("status", "--porcelain", "--", ":/", f":(exclude,top){SPEEDRUNS.relative_to(ROOT)}"):  # it grows with results
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
        for line in open("/proc/cpuinfo"):
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
