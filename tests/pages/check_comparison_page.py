#!/usr/bin/env python3
"""Checks the page of `heed report RUN RUN` in headless Chromium (apt install chromium), and takes pictures.

    tests/pages/check_comparison_page.py HEED [PICTURES]

As check_attention_page.py: looks, keyboard, and that curves and table are those of both runs.
"""
import subprocess

from checks import check, check_page, saved, tab_stops, train, words_of

CONFIG = {
    "data": {"train": "s", "valid_fraction": 0.2}, "tokenizer": {"type": "char"}, "objective": {"type": "causal_lm", "target_length": 16},
    "model": {"d_model": 16, "n_heads": 2, "d_ff": 16, "encoder_layers": 0, "decoder_layers": 1},
    "train": {"max_steps": 6, "log_every": 1, "eval_every": 2},
}
made = {}


def make_page(heed, folder):
    (folder / "s").write_text("".join(f"a{i % 7} b{i % 5} word\n" for i in range(200)))
    for name, d_ff in (("one", 16), ("two", 24)):
        train(heed, folder, {**CONFIG, "model": {**CONFIG["model"], "d_ff": d_ff}}).rename(folder / name)
    made.update(folder=folder, one=str(folder / "one"), two=str(folder / "two"))
    subprocess.run([heed, "report", made["one"], made["two"], "--html", folder / "page.html"], check=True)
    return folder / "page.html"


def check_content(browser, page):
    browser.open(page, 1440)
    charts = "[...document.querySelectorAll('svg.chart')]"
    check(browser.value(charts + ".length") == 7, "other charts")
    check(browser.value(charts + ".every((c) => c.querySelectorAll('path[class^=line-]').length === 2)"), "a chart lacks a run")
    rows = browser.value("[...document.querySelectorAll('tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))")
    check(["model.d_ff", "16", "24"] in rows, f"the difference is not in the table: {rows}")
    check([row[0] for row in rows] == ["steps", "best held-out loss", "at step", "bits per byte", "accuracy", "model.d_ff"],
          f"rows are {rows}")
    check(tab_stops(browser, 3)[0] == ("curves", "BUTTON"), "the first tab stop")
    words = words_of(saved(browser, made["folder"] / "saved", "button.save"))
    check(made["one"] in words and made["two"] in words, f"the saved picture says {words}")


if __name__ == "__main__":
    check_page("comparison", make_page, check_content)
