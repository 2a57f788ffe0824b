#!/usr/bin/env python3
"""Weighs the C++ in src/ by folder: files, lines of code and tokens. How much is there to read?

    scripts/dev/weight.py                   of the checkout that one stands in
    scripts/dev/weight.py --at COMMIT       of a commit; several: side by side
    scripts/dev/weight.py --ceiling FILE    exits with 1 above what the JSON allows: {"files": N, "lines": N, "tokens": N}

A line of code is not blank, no comment and no #include. Tokens do not depend on where lines are broken. Each 8 characters of a
string count as one more, because prose is read as well. .ci/run checks scripts/dev/weight_ceiling.json.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

LITERAL = r'"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])*'"
COMMENT = re.compile(rf"({LITERAL})|//[^\n]*|/\*.*?\*/", re.DOTALL)
OPERATOR = r"::|->|<<|>>|&&|\|\||\+\+|--|[-+*/%&|^<>=!]="
TOKEN = re.compile(rf"{LITERAL}|[A-Za-z_]\w*|\d[\w.']*|{OPERATOR}|\S")
COLUMNS = ("files", "lines", "tokens")


def git(*args):
    return subprocess.run(["git", *args], stdout=subprocess.PIPE, check=True).stdout.decode(errors="replace")


def weight(text):
    """The lines of code and the tokens of a text."""
    code = [line for line in COMMENT.sub(lambda found: found[1] or " ", text).split("\n")
            if line.strip() and not line.lstrip().startswith("#include")]
    tokens = [token for line in code for token in TOKEN.findall(line)]
    return len(code), len(tokens) + sum((len(t) - 2) // 8 for t in tokens if t[0] == '"' and len(t) > 1)


def weights(commit):
    """{folder: [files, lines, tokens]}, and of "all", of a commit or (None) of the files here."""
    top = pathlib.Path(git("rev-parse", "--show-toplevel").strip())
    names = git("-C", top, *(["ls-tree", "-r", "--name-only", commit] if commit else ["ls-files"]), "src").splitlines()
    sums = {}
    for name in names:
        if name.endswith((".h", ".cpp")):
            text = git("show", f"{commit}:{name}") if commit else (top / name).read_text(errors="replace")
            folder = name.split("/")[1] if name.count("/") > 1 else "main"
            for place in (folder, "all"):
                sums[place] = [a + b for a, b in zip(sums.get(place, (0, 0, 0)), (1, *weight(text)))]
    return sums


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--at", action="append", metavar="COMMIT")
    parser.add_argument("--ceiling", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    tables = [weights(commit) for commit in options.at or [None]]
    print(f"{'':10}" + "{:>8}{:>8}{:>9}".format(*COLUMNS) * len(tables))
    for folder in sorted(set().union(*tables), key=lambda name: (name == "all", name)):
        print(f"{folder:10}" + "".join("{:8}{:8}{:9}".format(*table.get(folder, (0, 0, 0))) for table in tables))
    if options.ceiling:
        limits = json.loads(options.ceiling.read_text())
        over = [f"{found:,} {name} (at most {limits[name]:,})" for name, found in zip(COLUMNS, tables[-1]["all"])
                if found > limits[name]]
        if over:
            sys.exit("src/ is heavier than it may be: " + ", ".join(over))


if __name__ == "__main__":
    main()
