#!/usr/bin/env python3
"""Checks the page of `heed report A B --live` in headless Chromium: what is typed on one side is read on both, heads are chosen
together for two steps of one run and alone for two seeds, and models with other tokens are refused.

    tests/pages/check_pair_page.py HEED [PICTURES]
"""
import json
import subprocess
import time

from checks import check, check_page, train

TEXT = {"data": {"train": "s", "valid_fraction": 0}, "objective": {"type": "causal_lm", "target_length": 32}, "tokenizer": {"type": "word"},
        "model": {"d_model": 16, "n_heads": 4, "d_ff": 16, "dropout": 0, "encoder_layers": 0, "decoder_layers": 2}}
made = {}


def make_page(heed, folder):
    made.update(heed=heed, folder=folder)
    (folder / "s").write_text("the old miller saw the river\nthe river saw the mill\n" * 40)
    for name, more in ("one", {}), ("two", {"seed": 2}), ("chars", {"tokenizer": {"type": "char"}}):
        train(heed, folder, {**TEXT, **more, "train": {"max_steps": 20, "save_every": 10, "keep_last": 0}}).rename(folder / name)
    made["steps"] = pair("one/checkpoints/step-00000010", "one/checkpoints/step-00000020")
    return pair("one", "two")


def pair(a, b, status=0):
    page = made["folder"] / f"{len(made)}.html"
    done = subprocess.run([made["heed"], "report", made["folder"] / a, made["folder"] / b, "--live", "--html", page, "--quiet"], capture_output=True)
    check(done.returncode == status, f"{a} and {b}: {done.stderr.decode()}")
    return page


def listen(browser):
    """The frames are of another origin for a page of a file: what they tell the page is what can be seen of them."""
    browser.value("told = [{}, {}]; addEventListener('message', ({ source, data: { hash } }) => { if (hash) "
                  "told[frames.findIndex((f) => f.contentWindow === source)] = Object.fromEntries(new URLSearchParams(hash.slice(1))); })")
    time.sleep(1)


def tell(browser, i, **state):
    """As if somebody did that in frame i."""
    browser.value(f"frames[{i}].focus(); frames[{i}].contentWindow.postMessage({{ hash: '#' + new URLSearchParams({json.dumps(state)}), own: [] }}, '*')")


def wait(browser, expression):
    for _ in range(200):
        if browser.value(expression):
            return
        time.sleep(0.05)
    check(False, f"{expression} never holds: {browser.value('told')}")


def check_seeds(browser, page):
    browser.open(page, 1400)
    listen(browser)
    tell(browser, 0, text="the old miller", head="decoder.1.3")
    wait(browser, "told[0].text === 'the old miller' && told[1].text === 'the old miller'")
    check(browser.value("told[0].head") == "decoder.1.3", "the chosen head")
    heights = browser.value("frames.map((f) => f.clientHeight)")
    check(min(heights) > 900, f"the frames are {heights} px high")
    tell(browser, 1, text="the river", head="decoder.0.2")
    wait(browser, "told[0].text === 'the river' && told[1].head === 'decoder.0.2'")
    time.sleep(0.7)
    check(browser.value("told[0].head") != "decoder.0.2", "a head of another seed is chosen, too")
    check(browser.value("document.documentElement.scrollWidth") <= 1400, "scrolls sideways")
    check(not browser.errors, f"{browser.errors}")


def check_steps(browser, page):
    browser.open(made["steps"], 1400)
    listen(browser)
    tell(browser, 0, text="the river saw", head="decoder.1.3")
    wait(browser, "told[1].text === 'the river saw' && told[1].head === 'decoder.1.3'")
    check(not browser.errors, f"{browser.errors}")
    pair("one", "chars", status=2)


check_page("pair", make_page, check_seeds, check_steps)
