"""Called by lesson.sh: docs/lesson.md as one HTML file. See there.

In the Markdown, `<!-- page: CONFIG | OPTIONS OF attend -->` is where a page stands: the model of configs/CONFIG.json, opened at
that text. What begins with "**What one sees**", or the answer after a "**Question.** *...*", opens on a click, pictures and
all, up to the next command and the paragraph before it. In print, lines to write on and empty grids stand in its place.
"""
import argparse
import html
import json
import os
import pathlib
import re
import shlex
import sys
import tempfile

from drawing import STYLE, svg, text
from heed_runs import ROOT, Heed

PAGE = re.compile(r"<!-- page: (\w+) \| (.*?) -->")
CELL, LETTER = 22, 8
LOOK = """
body { max-width: 46rem; margin: 0 auto; padding: 1rem; font: 1rem/1.45 system-ui, sans-serif; }
table { border-collapse: collapse; } td, th { text-align: left; padding: 0.15rem 0.8rem 0.15rem 0; border-bottom: 1px solid #c9d0d9; }
pre { background: #f3f5f8; color: #1a1f26; padding: 0.5rem 0.8rem; overflow-x: auto; border-radius: 6px; white-space: pre-wrap; }
details { border-left: 3px solid #0b4f9e; padding-left: 0.8rem; margin: 0.6rem 0; } summary { cursor: pointer; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; } figure button { font: inherit; padding: 0.3rem 0.8rem; }
.blank { display: none; } .blank .cell { fill: none; stroke: #8a94a0; opacity: 1; }
iframe { width: 100%; height: 52rem; border: 1px solid #c9d0d9; border-radius: 6px; }
@media (min-width: 80rem) { iframe { width: 76rem; margin-left: calc((46rem - 76rem) / 2); } }
@media print {
  body { max-width: none; padding: 0; font-size: 9.5pt; } iframe, figure button { display: none; } h2 { break-after: avoid; }
  figure, pre, tr, .blank { break-inside: avoid; } svg { max-height: 5.8cm; width: auto; } .teacher, details.sees:not([open]) { display: none; }
  details:not([open]) { border: 0; padding: 0; } details:not([open]) > :not(summary) { display: none; } summary { list-style: none; }
  details:not([open]) + .blank { display: block; break-before: avoid; }
  .blank::after { content: ""; display: block; height: 8mm; margin: 7mm 0 3mm; border: solid #8a94a0; border-width: 1px 0; }
}
@page { size: A4; margin: 1.6cm; }
"""
OPEN = """
for (const button of document.querySelectorAll("figure button")) button.addEventListener("click", () => {
  const page = JSON.parse(document.getElementById(button.dataset.page).textContent), frame = document.createElement("iframe");
  frame.title = button.textContent;
  frame.src = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  button.parentNode.replaceChildren(frame);
});
"""


def option(arguments, name):
    return arguments[arguments.index(name) + 1] if name in arguments else None


def picture(maps, arguments):
    """The map of the head that the options of attend name, as an SVG."""
    kind = option(arguments, "--kind") or "decoder"
    rows = maps[kind][0]["weights"] if isinstance(maps[kind][0], dict) else maps[kind]
    while isinstance(rows[0][0], list):
        rows = rows[0]
    queries = maps["target_tokens"] if kind != "encoder" else maps["source_tokens"]
    keys = maps["source_tokens"] if kind != "decoder" else maps["target_tokens"]
    left, top = LETTER * max(map(len, queries)) + 12, LETTER * max(map(len, keys)) + 12
    body = [f'<rect class="cell" x="{left + CELL * k}" y="{top + CELL * q}" width="{CELL - 1}" height="{CELL - 1}" opacity="{w:.3f}"/>'
            for q, row in enumerate(rows) for k, w in enumerate(row) if kind != "decoder" or k <= q]
    body += [text(left - 6, top + CELL * q + 15, token, "end") for q, token in enumerate(queries)]
    body += [f'<g transform="translate({left + CELL * k + 15} {top - 6}) rotate(-90)">{text(0, 0, token)}</g>' for k, token in enumerate(keys)]
    return svg(left + CELL * len(keys), top + CELL * len(queries), "Where the head looks", STYLE, body)


class Pages:
    """The pages to type to, made as the text is read: one model for each config."""

    def __init__(self, heed, count):
        self.heed, self.count, self.scripts = heed, count, []

    def figure(self, found):
        config, arguments = found[1], shlex.split(html.unescape(found[2]))
        run, page = pathlib.Path("runs", config), pathlib.Path(f"{len(self.scripts)}.html")
        trained = run.exists()
        print(f"[{len(self.scripts) + 1}/{self.count}] {config}: {'is there' if trained else 'training'}", file=sys.stderr)
        if not trained:
            self.heed("train", config, "--quiet")
        self.heed("attend", run, *arguments, "--html", page, "--quiet")
        drawn = picture(self.heed.json("attend", run, *arguments), arguments)
        number = f"page-{len(self.scripts)}"
        content = json.dumps(page.read_text()).replace("<", "\\u003c")
        self.scripts.append(f'<script type="application/json" id="{number}">{content}</script>')
        kind = "cross-attention" if "cross" in arguments else "attention"
        head = f"{kind}, layer {option(arguments, '--layer')}, head {option(arguments, '--head')}"
        return (f"<figure>{drawn}<figcaption><code>{config}</code>: {head}</figcaption>"
                f'<p><button type="button" data-page="{number}">Open this model, to type to</button></p></figure>')


def folded(page):
    """Answers open on a click: see above. What is for the teacher alone is not printed."""
    answer = r"((?:(?!<h[123]|<p><strong>|<hr|<pre|<p>(?:(?!</p>).)*</p>\s*<pre).)*)"
    def fold(found):
        drawn = "".join(re.findall("<svg.*?</svg>", found[2], re.S))
        grid = drawn and f"<p>Where does it look? Colour the cells.</p>{drawn}"
        sees = ' class="sees"' if "What one sees" in found[1] else ""
        return f'<details{sees}><summary>{found[1]}</summary><p>{found[2].strip()}</details>\n<div class="blank">{grid}</div>\n'
    for summary in r"<strong>What one sees\.?</strong>", r"<strong>Question\.</strong> <em>.*?</em>":
        page = re.sub(f"<p>({summary}){answer}", fold, page, flags=re.S)
    return page.replace("<p><strong>Before the lesson", '<p class="teacher"><strong>Before the lesson')


def main():
    import markdown  # here, because tests of what is above do without it
    parser = argparse.ArgumentParser(prog="lesson.sh", usage="lesson.sh [OUT.html] [--runs DIR]")
    parser.add_argument("heed")
    parser.add_argument("out", nargs="?", default="lesson.html", type=pathlib.Path)
    parser.add_argument("--runs", type=pathlib.Path)
    options = parser.parse_args()
    if options.runs and not options.runs.is_dir():
        parser.error(f"{options.runs} is no folder")
    heed, out = Heed(options.heed), options.out.resolve()
    there = sorted(options.runs.resolve().iterdir()) if options.runs else []
    source = (ROOT / "docs" / "lesson.md").read_text()
    title = re.search(r"^# (.*)$", source, re.M)[1]
    with tempfile.TemporaryDirectory(prefix="heed-lesson-") as folder:
        os.chdir(folder)  # so that pages name runs as a reader's do
        os.mkdir("runs")
        for run in there:
            os.symlink(run, pathlib.Path("runs", run.name))
        pages = Pages(heed, len(PAGE.findall(source)))
        body = markdown.markdown(source, extensions=["tables", "fenced_code", "toc"])
        body = folded(PAGE.sub(pages.figure, body))
        body = re.sub(r'href="(?!#|https?:)[^"]*"', "", body)  # other files are not in this one
    out.write_text(f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
                   f"<title>{html.escape(title)}</title><style>{LOOK}</style></head>\n<body>\n{body}\n{''.join(pages.scripts)}\n"
                   f"<script>{OPEN}</script>\n</body></html>\n")
    print(f"wrote {out}: open it in a browser, or print it")


if __name__ == "__main__":
    main()
