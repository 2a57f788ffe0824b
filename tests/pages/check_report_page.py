#!/usr/bin/env python3
"""Checks the page of `heed report` in headless Chromium (apt install chromium), and takes pictures.

    tests/pages/check_report_page.py HEED [PICTURES]

As check_attention_page.py: no request, no script error, no sideways scrolling, contrast, at 360 and 1440 pixels, light
and dark; slider, kinds and heads by keyboard, a visible focus, names for assistive software, a text for every picture,
and a page that is readable without script. Some fifteen seconds.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from browser import Browser
from checks import FOCUS, changes, check, check_looks, finish, go_to, pictures_folder, tab_stops

CONFIG = {
    "data": {"train": "text", "valid_fraction": 0.1}, "tokenizer": {"type": "word"},
    "objective": {"type": "prefix_lm", "source_length": 24, "target_length": 24},
    "model": {"d_model": 16, "n_heads": 4, "d_ff": 16, "encoder_layers": 2, "decoder_layers": 2},
    "train": {"batch_tokens": 300, "max_steps": 60, "log_every": 10, "eval_every": 20, "save_every": 10, "keep_last": 0},
}
WORDS = "the quick <b>brown</b> fox jumps over lazy dogs and </script> a sleeping & snoring cat".split()


def make_page(heed, folder):
    (folder / "text").write_text("".join(" ".join(WORDS[(i * i + 3 * j) % len(WORDS)] for j in range(9)) + ".\n"
                                         for i in range(400)))
    (folder / "config.json").write_text(json.dumps(CONFIG))
    subprocess.run([heed, "train", folder / "config.json", "--run", folder / "run", "--quiet"], check=True)
    page = folder / "page.html"
    subprocess.run([heed, "report", folder / "run", "--output", page], check=True)
    return page


def check_static(page):
    text = page.read_text()
    check(len(text) < 5_000_000, "larger than 5 MB")
    body = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    charts = re.findall(r'<svg class="chart"[^>]*>', body)
    check(len(charts) >= 6 + 4 + 6, f"{len(charts)} charts without script")
    check(all('role="img"' in c and 'aria-label="' in c for c in charts), "a chart has no text")
    for part in ("What it wrote", "before training", "step 60", "Parameters", "max_steps"):
        check(part in body, f"without script there is no “{part}”")


def check_keyboard(browser, page):
    browser.open(page, 1440)
    check(browser.value("document.querySelectorAll('main b').length") == 0, "a word became an element")
    stops = tab_stops(browser, 60)
    for place in [("step", "INPUT"), ("kinds", "INPUT"), ("heads", "BUTTON"), ("learning", "SUMMARY"),
                  ("parameters", "DIV"), ("config", "DIV")]:
        check(place in stops, f"{place} can't be reached; tab stops are {stops}")
    check(sum(place == "heads" for place, _ in stops) == 1, "the heads are more than one stop of the tab key")

    caption = "document.querySelector('#weights caption').textContent"
    cells = "[...document.querySelectorAll('#weights td')].map((c) => c.textContent).join()"
    browser.open(page, 1440)
    check("step 60" in browser.value(caption), "the last checkpoint isn't shown first")
    go_to(browser, "step", 60)
    for key in ("Home", "ArrowRight", "End", "ArrowLeft"):
        changes(browser, key, caption, f"{key} doesn't move the slider")
    changes(browser, "Home", cells, "the map isn't another one before training")
    check("before training" in browser.value("document.getElementById('step').getAttribute('aria-valuetext')"),
          "the slider has no text")
    go_to(browser, "heads", 60)
    changes(browser, "ArrowRight", caption, "the arrow key doesn't choose the next head")
    check(browser.value(FOCUS)[0] == "heads", "the focus is lost when a head is chosen")
    go_to(browser, "kinds", 60)
    changes(browser, "ArrowUp", caption, "the arrow key doesn't choose another attention")
    go_to(browser, "learning", 60)
    changes(browser, "Enter", "document.querySelectorAll('#learning details[open]').length", "a summary doesn't open")


def main():
    heed = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        page = make_page(heed, pathlib.Path(folder))
        check_static(page)
        check_looks(browser, page, pictures_folder(), "report")
        check_keyboard(browser, page)
    finish()


if __name__ == "__main__":
    main()
