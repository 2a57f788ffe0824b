#!/usr/bin/env python3
"""Makes the pictures for README.md from real runs.

    scripts/dev/pictures.py [--heed PROGRAM] [--out FOLDER] [--keep FOLDER]

    learning.svg               where the model that reverses lines looks, from its first step to its last
    pull.svg                   where its loss pulls that head, beside where it looks
    terminal.svg               commands from the quickstart, in the colours of a terminal
    report-{light,dark}.png    the quickstart's report: its first curves and its texts, as a browser shows them
    live.png                   the quickstart's live page, with a text typed

noun.svg and induction.svg come from scripts/experiments/does_a_head_know_the_noun.py and induction_heads.py, --picture FILE.
The models here are configs/reverse.json and configs/quickstart.json, with every checkpoint kept: some two minutes of training.
Runs go to a temporary folder, or stay in the folder of --keep and are reused. The .svg files need only heed. The .png
files need Chromium and are skipped without it.
"""
import argparse
import collections
import html
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from drawing import STYLE, page, svg, text  # noqa: E402
from heed_runs import DEFAULT_HEED, ROOT, Heed  # noqa: E402

sys.path.insert(0, str(ROOT / "tests" / "pages"))
from browser import Browser, find_chromium  # noqa: E402

STEPS = (1, 50, 100, 150, 1000)  # of learning.svg
PULLED = (10, 20, 50, 100, 400)  # of pull.svg
LINE = "3 17 9 12 5"
TOKENS, WRITTEN = [*LINE.split(), "⏎"], [*LINE.split()[::-1], "⏎"]
SIDE, GAP, TOP = 20, 22, 92  # of a cell, between maps, above them
WIDTH = 1060  # of the report
PULL_STYLE = STYLE + """
  .less { fill: #9a4700; } @media (prefers-color-scheme: dark) { .less { fill: #f2a65a; } }
"""
TERMINAL_STYLE = """
  text { fill: #e6e9ee; font: 14px ui-monospace, Menlo, Consolas, monospace; }
  .prompt { fill: #8fd18f; font-weight: 600; }
"""


def train(heed, config, *options):
    """Trains configs/CONFIG.json into runs/CONFIG, keeping every checkpoint, unless the run exists."""
    run = pathlib.Path("runs", config)
    if not run.exists():
        print(f"pictures.py: training {config}", file=sys.stderr)
        heed("train", ROOT / "configs" / f"{config}.json", "--quiet", "--set", "train.keep_last=0", *options)
    heed("resume", run, "--quiet")


def maps_at(heed, run, steps, *options):
    """What attend gives for LINE at each step, and the head that looks most at the token to write after the last one."""
    target = LINE.split()[::-1]
    found = [heed.json("attend", run, "--checkpoint", f"step-{step}", LINE, "--target", " ".join(target), *options)
             for step in steps]
    heads, n = found[-1]["cross"][0], len(target)
    return found, max(range(len(heads)), key=lambda h: sum(heads[h][i][n - 1 - i] for i in range(n)))


def head_map(x, y, rows, most=1, above=(), beside=()):
    """The map of a head, with tokens above and beside it: blue above 0, brown below, strongest at `most`."""
    size = len(rows) * SIDE
    return [*(text(x + (i + 0.5) * SIDE, y - 8, token, "middle muted") for i, token in enumerate(above)),
            *(text(x - 10, y + 15 + i * SIDE, token, "end muted") for i, token in enumerate(beside)),
            *(f'<rect class="{"cell" if w > 0 else "less"}" x="{x + k * SIDE}" y="{y + i * SIDE}" width="{SIDE}" height="{SIDE}" '
              f'fill-opacity="{abs(w) / most:.2f}"/>'
              for i, row in enumerate(rows) for k, w in enumerate(row) if abs(w) / most >= 0.005),
            f'<rect class="frame" x="{x}" y="{y}" width="{size}" height="{size}" rx="3"/>']


def learning(heed, run):
    """At every step of STEPS, the head that looks most at the token to write after the last step."""
    maps, head = maps_at(heed, run, STEPS)
    test = ["--file", ROOT / "data" / "reverse.test.source", "--target-file", ROOT / "data" / "reverse.test.target"]
    left, size = 72, len(TOKENS) * SIDE
    width = left + len(STEPS) * size + (len(STEPS) - 1) * GAP + 18
    body = page(width, TOP + 190, "A transformer learns where to look",
                f"Its task is to write “{LINE}” backwards. A row is a token that it writes, a column a token that it reads;",
                "the stronger the colour, the more attention. ⏎ ends a line. Below: how many of 200 unseen lines are right.")
    body.append(text(18, TOP + 14, "writes", "words muted"))
    for frame, (step, found) in enumerate(zip(STEPS, maps)):
        x = left + frame * (size + GAP)
        body += head_map(x, TOP + 22, found["cross"][0][head], above=TOKENS, beside=WRITTEN if frame == 0 else ())
        right = heed.json("evaluate", run, "--checkpoint", f"step-{step}", *test, "--bleu", "--beam-size", 1)["exact_match"]
        body.append(text(x + size / 2, TOP + 162, f"step {step}", "title middle"))
        body.append(text(x + size / 2, TOP + 180, f"{right:.0f} % right", "words muted middle"))
    words = f"Attention maps at steps {', '.join(map(str, STEPS))}: a diagonal appears."
    return svg(width, TOP + 191, words, STYLE, body)


def pull(heed, run):
    """The weights and, below, the pull of the head that looks most at the token to write after the last step of PULLED."""
    frames, head = maps_at(heed, run, PULLED, "--pull")
    left, size = 90, len(TOKENS) * SIDE
    width = left + len(PULLED) * size + (len(PULLED) - 1) * GAP + 18
    body = page(width, TOP + 2 * size + 76, "The loss knows where to look before attention does",
                f"A model learns to write “{LINE}” backwards. Above: where a head looks. Below: where the loss pulls it,",
                "blue to more weight, brown to less, in shares of the strongest.")
    for frame, (step, maps) in enumerate(zip(PULLED, frames)):
        x, y = left + frame * (size + GAP), TOP + 22
        pulls, beside = maps["pull"]["cross"][0][head], WRITTEN if frame == 0 else ()
        body += head_map(x, y, maps["cross"][0][head], above=TOKENS, beside=beside)
        body += head_map(x, y + size + 16, pulls, max(abs(p) for row in pulls for p in row), beside=beside)
        body.append(text(x + size / 2, TOP + 2 * size + 62, f"step {step}", "title middle"))
    body += [text(18, TOP + 97, "looks", "words muted"), text(18, TOP + 113 + size, "pull", "words muted")]
    return svg(width, TOP + 2 * size + 77, f"Weights and pull of a head at steps {', '.join(map(str, PULLED))}: the pull shows "
               "the diagonal first.", PULL_STYLE, body)


def in_a_terminal(command):
    """What the command prints to a terminal."""
    screen, theirs = pty.openpty()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL,
                               env={**os.environ, "TERM": "xterm-256color"})
    os.close(theirs)
    out = b""
    while True:
        try:
            out += os.read(screen, 4096)
        except OSError:  # the other end is closed
            break
    os.close(screen)
    if process.wait() != 0:
        sys.exit(f"pictures.py: {command} failed")
    return out.decode().replace("\r\n", "\n")


def xterm(colour):
    """A colour of the 6 x 6 x 6 cube of xterm."""
    return "#%02x%02x%02x" % tuple((0, 95, 135, 175, 215, 255)[(colour - 16) // d % 6] for d in (36, 6, 1))


def terminal(heed, commands):
    """A terminal window with the commands and their output."""
    wide, high, body, y = 8.43, 20, [], 62
    widest = 0
    for command in commands:
        body += [text(20, y, "$", "prompt"), text(20 + 2 * wide, y, " ".join(f'"{c}"' if " " in c else c for c in command))]
        y += high
        for line in in_a_terminal([heed.program, *command[1:]]).rstrip().split("\n"):
            column = 0
            for codes, part in re.findall(r"(?:\x1b\[([0-9;]*)m)?([^\x1b]*)", line):
                colours = re.fullmatch(r"48;5;(\d+);38;5;(\d+)", codes or "")
                x = 20 + column * wide
                if colours and part:
                    body.append(f'<rect x="{x:.1f}" y="{y - 15}" width="{len(part) * wide + 0.5:.1f}" height="{high + 0.5}" '
                                f'fill="{xterm(int(colours[1]))}"/>')
                look = f' style="fill: {xterm(int(colours[2]))}"' if colours else ""
                for word in re.finditer(r"\S+", part):
                    body.append(f'<text x="{x + word.start() * wide:.1f}" y="{y}" '
                                f'textLength="{len(word[0]) * wide:.1f}"{look}>{html.escape(word[0])}</text>')
                column += len(part)
            widest = max(widest, column)
            y += high
        y += high // 2
    width = round(40 + max(widest, 88) * wide)
    window = [f'<rect width="{width}" height="{y}" rx="10" fill="#1d2127"/>',
              f'<path d="M0 38V10a10 10 0 0 1 10-10H{width - 10}a10 10 0 0 1 10 10V38Z" fill="#2c323b"/>',
              *(f'<circle cx="{x}" cy="19" r="6" fill="{c}"/>'
                for x, c in ((22, "#ec6a5e"), (42, "#f4bf4f"), (62, "#61c554")))]
    label = "; ".join(" ".join(c) for c in commands)
    return svg(width, y, f"A terminal: {label}", TERMINAL_STYLE, window + body)


def rows_of_png(data):
    """Width and rows of (r, g, b) of a PNG of 8 bits without interlacing."""
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert depth == 8 and kind in (2, 6)
    size, packed, at = {2: 3, 6: 4}[kind], b"", 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        if name == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    raw, before, rows = zlib.decompress(packed), bytearray(width * size), []
    for r in range(height):
        begin = r * (width * size + 1)
        how, row = raw[begin], bytearray(raw[begin + 1:begin + 1 + width * size])
        for i in range(len(row) if how else 0):
            a, b, c = (row[i - size] if i >= size else 0), before[i], (before[i - size] if i >= size else 0)
            paeth = min((a, b, c), key=lambda x: abs(a + b - c - x))
            row[i] = (row[i] + (a, b, (a + b) // 2, paeth)[how - 1]) & 255
        rows.append([tuple(row[i:i + 3]) for i in range(0, len(row), size)])
        before = row
    return width, rows


def small_png(data):
    """The same picture in 12 colours: the most frequent ones that are not near each other. Plain areas keep theirs."""
    width, rows = rows_of_png(data)
    count = collections.Counter(c for row in rows for c in row)

    def distance(a, b):
        return sum((x - y) ** 2 for x, y in zip(a, b))

    palette, near = [], 4
    for colour, _ in count.most_common():
        if len(palette) < 12 and all(distance(colour, c) > near for c in palette):
            palette.append(colour)
            near = 4 if len(palette) < 4 else 900
    place = {c: min(range(len(palette)), key=lambda i: distance(c, palette[i])) for c in count}

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    lines, deflate = b"", zlib.compressobj(9, memLevel=5)  # shorter blocks suit these pictures: 0.5 % less
    for row in rows:
        halves = [place[c] for c in row] + [0] * (width % 2)
        lines += b"\0" + bytes(16 * a + b for a, b in zip(halves[::2], halves[1::2]))
    return (data[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", width, len(rows), 4, 3, 0, 0, 0)) +
            chunk(b"PLTE", bytes(x for c in palette for x in c)) + chunk(b"IDAT", deflate.compress(lines) + deflate.flush()) +
            chunk(b"IEND", b""))


def report(run, out):
    """Pictures of the report's first screen: the film."""
    with Browser() as browser:
        for look in ("light", "dark"):
            browser.open(run / "report.html", WIDTH, dark=look == "dark")
            bottom = browser.value("Math.ceil(document.getElementById('film').getBoundingClientRect().bottom)")
            (out / f"report-{look}.png").write_bytes(small_png(browser.picture(WIDTH, bottom + 12)))


def live(heed, run, out):
    """A picture of the live page's first screen."""
    heed("report", run, "--live", "--html", "live.html")
    with Browser() as browser:
        browser.open("live.html", WIDTH)
        browser.value("location.hash = '#text=The+fox+saw+the+king.+He+said+that+the&head=decoder.2.2'; $('how').open = false")
        while not browser.value("now !== null && !busy && now.counts[1] > 8"):
            time.sleep(0.1)
        (out / "live.png").write_bytes(small_png(browser.picture(WIDTH, 800)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", default=DEFAULT_HEED, help="the program (default: build/heed)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "pictures", help="default: docs/pictures")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the runs in this folder and reuse existing ones")
    options = parser.parse_args()
    heed = Heed(options.heed)
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="heed-pictures-") as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        os.chdir(folder)  # so that the pictures show the same run names as a reader's
        train(heed, "reverse", "--stop-at", 1, "--set", "train.save_every=10")
        train(heed, "quickstart")
        (out / "learning.svg").write_text(learning(heed, "runs/reverse"))
        (out / "pull.svg").write_text(pull(heed, "runs/reverse"))
        (out / "terminal.svg").write_text(terminal(heed, [
            ["heed", "neighbors", "runs/quickstart", "king", "-", "man", "+", "woman", "--top-k", "3"],
            ["heed", "attend", "runs/reverse", LINE, "--kind", "cross", "--head", "0"]]))
        if find_chromium():
            report(pathlib.Path("runs/quickstart"), out)
            live(heed, "runs/quickstart", out)
        else:
            print("pictures.py: Chromium is missing (apt install chromium), so no .png was updated",
                  file=sys.stderr)


if __name__ == "__main__":
    main()
