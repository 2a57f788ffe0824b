"""Called by lesson.sh: docs/lesson.md as one HTML file. See there.

In the Markdown, `<!-- page: CONFIG | OPTIONS OF attend -->` is where a page stands: the model of configs/CONFIG.json, opened at
that text. A paragraph that begins with "**What one sees**", or the answer after a "**Question.** *...*", opens on a click.
"""
import html
import json
import os
import pathlib
import re
import shlex
import sys
import tempfile

import markdown

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
iframe { width: 100%; height: 52rem; border: 1px solid #c9d0d9; border-radius: 6px; }
@media (min-width: 80rem) { iframe { width: 76rem; margin-left: calc((46rem - 76rem) / 2); } }
@media print {
  body { max-width: none; padding: 0; font-size: 9.5pt; } iframe, figure button { display: none; } h2 { break-after: avoid; }
  details:not([open]) > :not(summary) { display: none; } figure, pre, tr { break-inside: avoid; } figure svg { max-height: 5.5cm; }
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
            for q, row in enumerate(rows) for k, w in enumerate(row) if w]
    body += [text(left - 6, top + CELL * q + 15, token, "end") for q, token in enumerate(queries)]
    body += [f'<g transform="translate({left + CELL * k + 15} {top - 6}) rotate(-90)">{text(0, 0, token)}</g>' for k, token in enumerate(keys)]
    return svg(left + CELL * len(keys), top + CELL * len(queries), "Where the head looks", STYLE, body)


class Pages:
    """The pages to type to, made as the text is read: one model for each config."""

    def __init__(self, heed):
        self.heed, self.scripts = heed, []

    def figure(self, found):
        config, arguments = found[1], shlex.split(html.unescape(found[2]))
        run, page = pathlib.Path("runs", config), pathlib.Path(f"{len(self.scripts)}.html")
        if not run.exists():
            print(f"lesson.py: training {config}", file=sys.stderr)
            self.heed("train", config, "--quiet")
        self.heed("attend", run, *arguments, "--html", page, "--quiet")
        drawn = picture(self.heed.json("attend", run, *arguments), arguments)
        number = f"page-{len(self.scripts)}"
        content = json.dumps(page.read_text()).replace("<", "\\u003c")
        self.scripts.append(f'<script type="application/json" id="{number}">{content}</script>')
        head = f"{option(arguments, '--kind')}, layer {option(arguments, '--layer')}, head {option(arguments, '--head')}"
        return (f"<figure>{drawn}<figcaption><code>{config}</code>: where {head} looks</figcaption>"
                f'<p><button type="button" data-page="{number}">Open this model, to type to</button></p></figure>')


def folded(page):
    """Answers open on a click: what stands after "What one sees" or a question, to the next heading, figure or question."""
    answer = r"((?:(?!<h[123]|<!--|<p><strong>|<hr).)*)"
    for summary in r"<strong>What one sees\.?</strong>", r"<strong>Question\.</strong> <em>.*?</em>":
        page = re.sub(f"<p>({summary}){answer}",
                      lambda m: f"<details><summary>{m[1]}</summary><p>{m[2].strip()}</details>\n", page, flags=re.S)
    return page


def main():
    heed, out = Heed(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    source = (ROOT / "docs" / "lesson.md").read_text()
    title = re.search(r"^# (.*)$", source, re.M)[1]
    with tempfile.TemporaryDirectory(prefix="heed-lesson-") as folder:
        os.chdir(folder)  # so that pages name runs as a reader's do
        pages = Pages(heed)
        body = markdown.markdown(source, extensions=["tables", "fenced_code", "toc"])
        body = PAGE.sub(pages.figure, folded(body))
        body = re.sub(r'href="(?!#|https?:)[^"]*"', "", body)  # other files are not in this one
    out.write_text(f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
                   f"<title>{html.escape(title)}</title><style>{LOOK}</style></head>\n<body>\n{body}\n{''.join(pages.scripts)}\n"
                   f"<script>{OPEN}</script>\n</body></html>\n")
    print(f"wrote {out}: open it in a browser, or print it")


main()
