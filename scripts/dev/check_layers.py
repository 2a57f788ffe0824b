#!/usr/bin/env python3
"""Checks the order of the folders in src/. A file includes only its own folder and those to its left:

    base < math < config < text < nn < step < data < decode < store < evaluate < show < train < cli < main.cpp

Also checks that the heart (math/, nn/, step/) includes no heavy header (JSON, command line, logging, formatting), directly or through our
headers.

    scripts/dev/check_layers.py [SRC]      prints a line per violation; exits with 1 if there are any
"""
import argparse
import pathlib
import re
import sys

ORDER = ["base", "math", "config", "text", "nn", "step", "data", "decode", "store", "evaluate", "show",
         "train", "cli"]
HEAVY = re.compile(r"(nlohmann/(?!json_fwd\.hpp)|CLI/|spdlog/|fmt/)")
LIGHT = ["math", "nn", "step"]
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def includes_of(path):
    """The includes of a file: [(line number, name, whether it is quoted)]."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            found.append((number, match[1] or match[2], match[1] is not None))
    return found


def folder_of(name):
    return name.split("/")[0] if "/" in name else ""


def violations(src):
    """One line per violation in the tree `src`, which consists of the folders in ORDER and main.cpp."""
    files = sorted(p for p in src.rglob("*") if p.suffix in (".h", ".cpp"))
    includes = {p.relative_to(src).as_posix(): includes_of(p) for p in files}
    found = []
    for name, lines in includes.items():
        folder = folder_of(name)
        if folder not in ORDER and name != "main.cpp":
            found.append(f"{name}: not in one of the folders {', '.join(ORDER)}")
            continue
        rank = ORDER.index(folder) if folder else len(ORDER)
        for number, target, quoted in lines:
            other = folder_of(target)
            if quoted and other not in ORDER:
                found.append(f'{name}:{number}: "{target}" does not name its folder (base/error.h)')
            elif quoted and ORDER.index(other) > rank:
                found.append(f'{name}:{number}: {folder} may not include "{target}": {other} comes later')
        if folder in LIGHT:
            chain = way_to_heavy(name, includes)
            if chain:
                found.append(f"{name}: heavy header reached: {' -> '.join(chain)}")
    return found


def way_to_heavy(name, includes):
    """The chain of includes from `name` to a heavy header, or None."""
    seen, ways = {name}, [[name]]
    for way in ways:  # breadth first: the list grows while the loop runs
        for _, target, _ in includes.get(way[-1], []):
            if HEAVY.match(target):
                return way + [target]
            if target in includes and target not in seen:
                seen.add(target)
                ways.append(way + [target])
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("src", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2] / "src")
    found = violations(parser.parse_args().src)
    for line in found:
        print(line)
    print(f"folder order: {len(found)} violations" if found else "folder order: kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
