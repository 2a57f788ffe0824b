#!/usr/bin/env python3
"""Checks the page of `heed report` in headless Chromium (apt install chromium), and takes pictures.

    tests/pages/check_report_page.py HEED [PICTURES]

As check_attention_page.py: no request, no script error, no sideways scrolling, contrast, at 360 and 1440 pixels, light
and dark; slider, kinds and heads by keyboard, a visible focus, names for assistive software, a text for every chart,
which says what metrics.jsonl says, lines that keep their spikes, and a sentence without script. Some fifteen seconds.
"""
import json
import re
import subprocess

from checks import FOCUS, changes, check, check_page, go_to, tab_stops, train

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
    run = train(heed, folder, CONFIG)
    page = folder / "page.html"
    subprocess.run([heed, "report", run, "--output", page], check=True)
    return page


def check_charts(browser, page):
    """Each has a title, lines and a text; those of the curves say what the metrics say."""
    check(page.stat().st_size < 5_000_000, "larger than 5 MB")
    browser.open(page, 1440)
    charts = browser.value("[...document.querySelectorAll('svg.chart')].map((c) => [c.getAttribute('role'), "
                           "c.getAttribute('aria-label'), c.querySelectorAll('path:not(.grid)').length])")
    check(len(charts) >= 6 + 4 + 6, f"{len(charts)} charts")
    check(all(role == "img" and words and lines for role, words, lines in charts), "a chart has no text or no line")
    words = [chart[1] for chart in charts]
    for title in ("Loss (nats per token)", "Perplexity", "Accuracy", "Learning rate", "Gradient norm", "Speed",
                  "Weight norm", "Update / weight", "Cosine", "Entropy (nats): encoder self-attention, layer 0",
                  "Entropy (nats): cross-attention, layer 1"):
        check(any(x.startswith(title) for x in words), f"no chart of {title}")
    check(not any("BLEU" in x for x in words), "a chart of BLEU, which was not measured")
    events = [json.loads(x) for x in (page.parent / "run" / "metrics.jsonl").read_text().splitlines()]
    for name, kind in (("training", "train"), ("held out", "valid")):
        first, *_, last = (e for e in events if e["kind"] == kind)
        expected = (f"{name} from {first['loss']:.3g} at step {first['step']} to {last['loss']:.3g} at step 60, "
                    f"least {min(e['loss'] for e in events if e['kind'] == kind):.3g} at step ")
        check(expected in words[0], f"the loss is “{words[0]}”, not “{expected}”")
    entropy = next(x for x in words if x.startswith("Entropy"))
    check(all(f"head {h} " in entropy for h in range(4)) and "uniform " in entropy, f"lines of “{entropy}”")
    best = min((e for e in events if e["kind"] == "valid"), key=lambda e: e["loss"])
    check(f"best held-out loss {best['loss']:.3g} nats per token (perplexity {best['perplexity']:.3g}) "
          f"at step {best['step']}." in browser.value("about()"), "the best isn't in the header")
    browser.value("valid.bleu = valid.steps.map(() => 12.3); data.best.by_bleu = true")
    check("best held-out BLEU 12.3 (loss " in browser.value("about()"), "the best by BLEU isn't in the header")


def check_lines(browser, page):
    """Many points are thinned without losing a spike; lines can be told apart; a number reads as people write it."""
    browser.open(page, 1440)
    browser.value("globalThis.svg = (lines) => chart('Loss', lines)[0].querySelector('svg.chart').outerHTML;"
                  "globalThis.points = (n) => [...Array(n).keys()].map((i) => [i + 1, 1]);")
    svg = browser.value("{ const p = points(20000); p[12344][1] = 7; p[777][1] = 0.25; svg([{name: '', points: p}]) }")
    check("least 0.25 at step 778, largest 7 at step 12.3k" in svg, "the text of many points")
    check(len(svg) < 10000, f"many points take {len(svg)} bytes")
    # The line reaches the top and the bottom of the drawing area, 8 and 168 from above.
    check(re.search(r"L[0-9.]+ 8\.0", svg) and re.search(r"L[0-9.]+ 168\.0", svg), "a spike is lost")
    few = browser.value("svg([{name: '', points: points(300)}])")
    check(re.search('"line-0 dash-0" d="([^"]*)"', few)[1].count("L") == 299, "not all of few points are drawn")
    many = browser.value("svg([{name: 'uniform', points: [[1, 2]], control: true}, "
                         "...points(12).map((_, i) => ({name: 'head ' + i, points: [[1, 1]]}))])")
    for look in ("line-control", "line-0 dash-0", "line-4 dash-4", "line-0 dash-1", "line-1 dash-3"):
        check(f'class="{look}"' in many, f"no line is {look}")
    gaps = browser.value("svg([{name: '', points: [[1, null], [2, 3], [3, null], [4, 5]]}])")
    check('Loss: from 3 at step 2 to 5 at step 4, least 3' in gaps, "values that are none")
    check(browser.value("chart('Loss', [{name: '', points: [[1, null]]}]).length") == 0, "a chart of nothing")
    check(browser.value("chart('Loss', [{name: '', points: [[1, 0]]}], {logarithmic: true}).length") == 0,
          "a logarithm of 0")
    for x, text in ((0, "0"), (1.005, "1"), (12.34, "12.3"), (0.01234, "0.0123"), (9.06e-7, "9.06e-7"), (1234.5, "1235"),
                    (12345, "12.3k"), (999_960, "1.0M"), (1.5e8, "150.0M"), (2e9, "2e+9"), (-0.5, "-0.5")):
        got = browser.value(f"short({x})")
        check(got == text, f"{x} is shown as {got}, not {text}")


def check_texts(browser, page):
    browser.open(page, 1440)
    terms = browser.value("[...document.querySelectorAll('dt')].map((e) => e.textContent)")
    check(terms == ["before training", *(f"step {n}" for n in range(10, 61, 10)), "reference"], f"texts of {terms}")
    body = browser.value("document.body.innerText")
    for part in ("What it wrote", "Parameters", "encoder.layers.0.self_attn.q_proj.weight", '"max_steps": 60'):
        check(part in body, f"there is no “{part}”")
    rows = browser.value("document.querySelectorAll('#curves tbody tr').length")
    check(rows == 6 + 3, f"{rows} rows of numbers")
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(page, 1440)
    shown = browser.value("document.body.innerText")
    check("scripts are switched off" in shown and "Curves" not in shown, f"without script it says “{shown}”")
    browser.call("Emulation.setScriptExecutionDisabled", value=False)


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


if __name__ == "__main__":
    check_page("report", make_page, check_charts, check_lines, check_texts, check_keyboard)
