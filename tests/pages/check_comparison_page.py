#!/usr/bin/env python3
"""Checks the page of `heed report RUN RUN` in headless Chromium (apt install chromium), and takes pictures.

    tests/pages/check_comparison_page.py HEED [PICTURES]

Looks, keyboard, and that curves and table are those of both runs.
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
    (folder / "s").write_text("".join(f"a{i % 7} b{i % 5} word\n" for i in range(1200)))
    for name, d_ff, seed in (("one", 16, 1), ("two", 24, 1), ("three", 16, 3)):
        train(heed, folder, {**CONFIG, "seed": seed, "model": {**CONFIG["model"], "d_ff": d_ff}}).rename(folder / name)
        made[name] = str(folder / name)
    made["folder"] = folder
    subprocess.run([heed, "report", made["one"], made["two"], made["three"], "--html", folder / "page.html"], check=True)
    return folder / "page.html"


def check_content(browser, page):
    browser.open(page, 1440)
    charts = "[...document.querySelectorAll('svg.chart')]"
    check(browser.value(charts + ".length") == 7, "other charts")
    check(browser.value(charts + ".every((c) => c.querySelectorAll('path[class^=line-]').length === 2)"), "a chart lacks a group")
    check(browser.value(charts + ".filter((c) => c.querySelector('polygon.band.line-0')).length") >= 5, "no range of the seeds")
    text = lambda selector: browser.value(f"document.querySelector('{selector}').textContent")
    luck = browser.value("[...document.querySelectorAll('#luck tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))")
    check([row[1] for row in luck] == ["accuracy", "nats per token", "bits per byte"], f"compared are {luck}")
    check(luck[0][0] == f"{made['two']} less {made['one']}, {made['three']}" and " to " in luck[0][5], f"compared are {luck}")
    check("seeds" in text("#luck .scroll p"), text("#luck"))
    rows = browser.value("[...document.querySelectorAll('#differences tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))")
    check(["model.d_ff", "16", "24", "16"] in rows, f"the difference is not in the table: {rows}")
    check([row[0] for row in rows] == ["steps", "best held-out loss", "at step", "bits per byte", "accuracy", "model.d_ff", "seed"],
          f"rows are {rows}")
    stops = tab_stops(browser, 8)
    check([stop for stop in stops if stop[1] != "A"][:3] == [("axes", "INPUT"), ("scales", "INPUT"), ("charts", "svg")],
          f"tab stops are {stops}")
    legend = "document.querySelector('.legend').textContent"
    check(browser.value(legend).split() == f"{made['one']} and 1 moremean and range of 2 that differ in seed alone {made['two']}".split(),
          f"the legend says {browser.value(legend)}")
    looks = browser.value("[...document.querySelectorAll('.legend')[0].querySelectorAll('path')].map((e) => e.getAttribute('class'))")
    check([look.split()[0] for look in looks] == ["line-0", "line-1"] and len(set(looks)) == 2, f"lines look {looks}")
    label = "document.querySelectorAll('svg.chart')[1].getAttribute('aria-label')"
    check(" at step 1 to " in browser.value(label) and " at step 6," in browser.value(label), browser.value(label))
    even = browser.value("document.querySelector('svg.chart path.line-0').getAttribute('d')")
    browser.value("document.querySelectorAll('#scales input')[1].click()")
    check(browser.value("document.querySelector('svg.chart path.line-0').getAttribute('d')") != even, "the axis is not logarithmic")
    browser.value("document.querySelectorAll('#axes input')[1].click()")
    check(" at minute " in browser.value(label), browser.value(label))
    check(browser.value("minutesAt({ steps: [100, 200], minutes: [1, 3] }, 150)") == 2, "minutes between two lines")
    check(browser.value("[50, 300].map((s) => minutesAt({ steps: [100, 200], minutes: [1, 3] }, s))") == [0.5, 5], "minutes around")
    check(browser.value("Number.isNaN(minutesAt({ steps: [100], minutes: [null] }, 100))"), "minutes from nowhere")
    browser.open(page, 1440)
    words = words_of(saved(browser, made["folder"] / "saved", "button.save"))
    check(made["one"] + " and 1 more" in words and made["two"] in words, f"the saved picture says {words}")


if __name__ == "__main__":
    check_page("comparison", make_page, check_content)
