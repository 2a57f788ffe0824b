"""Called by lesson.sh --course, scripts/package.sh and the tests: runs notebooks of docs/course and writes them, with their output, as HTML.

    course.py HEED FOLDER [NOTEBOOK...]      (default: all)

The notebooks lie in the repository without output. A cell with "expect" in its metadata must print that text, spaces aside: what is the
same on every processor. Packages: python3-nbclient, python3-ipykernel, python3-markdown (Debian).
"""
import html
import json
import os
import pathlib
import re
import sys
import tempfile

import markdown
import nbclient
import nbformat

from heed_runs import ROOT
from lesson import LOOK

COURSE = ROOT / "docs/course"
CODE = """
pre.in { border-left: 3px solid #0b4f9e; } pre.out { background: none; border-left: 3px solid #c9d0d9; } img { max-width: 100%; }
"""


def executed(path, heed, folder):
    """The notebook with the output of all cells, run in this folder. Exits if a cell fails or does not print what it should."""
    notebook = nbformat.read(path, as_version=4)
    os.environ.update(PYDEVD_DISABLE_FILE_VALIDATION="1", HEED_BINARY=str(pathlib.Path(heed).resolve()), PYTHONPATH=str(ROOT / "scripts/package"))
    try:
        nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    except nbclient.exceptions.CellExecutionError as error:
        sys.exit(f"{path}: {error}")
    for cell in notebook.cells:
        expected, printed = cell.metadata.get("expect", ""), " ".join(texts(cell))
        if "".join(expected.split()) not in "".join(printed.split()):
            sys.exit(f"{path}: this cell should print {expected}\n{cell.source}\nIt printed:\n{printed}")
    return notebook


def texts(cell):
    """What a code cell printed, without its pictures."""
    outputs = cell.get("outputs", [])
    return [out["text"] if out.output_type == "stream" else out["data"].get("text/plain", "") for out in outputs if out.output_type != "error"]


def shown(output):
    data = output.get("data", {})
    if "image/png" in data:
        return f'<img alt="" src="data:image/png;base64,{data["image/png"]}">'
    if "text/html" in data:
        return "".join(data["text/html"])
    return f'<pre class="out">{html.escape(output.get("text") or data.get("text/plain", ""))}</pre>'


def page(notebook, title):
    body = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            body.append(markdown.markdown(cell.source, extensions=["tables", "fenced_code", "md_in_html"]))
        else:
            body += [f'<pre class="in">{html.escape(cell.source)}</pre>', *map(shown, cell.outputs)]
    return (f'<!DOCTYPE html>\n<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(title)}</title><style>{LOOK}{CODE}</style>\n" + "\n".join(body) + "</html>\n")


def main():
    heed, folder, *names = sys.argv[1:]
    out = pathlib.Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    for path in map(pathlib.Path, names or sorted(COURSE.glob("*.ipynb"))):
        print(path.name, file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="heed-course-") as place:
            notebook = executed(path, heed, place)
        (out / f"{path.stem}.html").write_text(page(notebook, path.stem))


if __name__ == "__main__":
    main()
