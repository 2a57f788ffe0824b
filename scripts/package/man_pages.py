#!/usr/bin/env python3
"""Writes the man pages of heed and of its commands from what --help says.

Help is a title, a usage, a list of options (or of commands) and paragraphs, with empty lines between. The date of the
pages is SOURCE_DATE_EPOCH.
"""
import argparse
import os
import pathlib
import re
import subprocess
import time

TEXT_COLUMN = 20  # where the explanation of an option begins


def escaped(line):
    line = line.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + line if line[:1] in (".", "'") else line


def listed(lines):
    """Items, each at column 2, with a text beside or below it that is indented further."""
    out = []
    for line in lines:
        if not line.startswith("  "):
            out += [".PP", escaped(line)]
        elif line.startswith(" " * 10):
            out.append(escaped(line.strip()))
        else:
            column = len(line)  # the text is below it
            if gap := re.match(r"  [a-z]+  +(?=\S)", line):  # a command
                column = gap.end()
            elif line[TEXT_COLUMN - 1:TEXT_COLUMN] == " " and not re.fullmatch("[A-Z]+", line[TEXT_COLUMN:]):
                column = TEXT_COLUMN
            out += [".TP", "\\fB" + escaped(line[:column].strip()) + "\\fR"]
            if line[column:]:
                out.append(escaped(line[column:]))
    return out


def paragraph(lines):
    if any(line.startswith(" ") for line in lines):  # an example or a table
        return [".PP", ".nf"] + [escaped(line) for line in lines] + [".fi"]
    return [".PP"] + [escaped(line) for line in lines]


def page(name, help_text, version, date):
    title, usage, *blocks = [block.split("\n") for block in help_text.rstrip("\n").split("\n\n")]
    what = " ".join(title).removeprefix("heed ").rstrip(".")
    out = [f'.TH {name.upper()} 1 "{date}" "{version}" "User Commands"', ".SH NAME", f"{name} \\- {escaped(what)}",
           ".SH SYNOPSIS"] + [escaped(re.sub("^usage: *", "", line).strip()) for line in usage] + [".SH DESCRIPTION"]
    out += listed(blocks[0])
    for block in blocks[1:]:
        out += listed(block) if block[0] == "more:" else paragraph(block)
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed", help="the program")
    parser.add_argument("folder", type=pathlib.Path, help="where the pages are written")
    args = parser.parse_args()
    folder = args.folder

    def said(*words):
        return subprocess.run([args.heed, *words], check=True, capture_output=True, text=True).stdout

    version = said("--version").split("\n")[0]
    date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"])))
    overview = said("--help")
    (folder / "heed.1").write_text(page("heed", overview, version, date))
    for command in re.findall(r"^  ([a-z]+) ", overview, re.MULTILINE):
        (folder / f"heed-{command}.1").write_text(page(f"heed-{command}", said(command, "--help"), version, date))


if __name__ == "__main__":
    main()
