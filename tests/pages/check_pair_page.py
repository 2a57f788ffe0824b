#!/usr/bin/env python3
"""Checks the page of `heed report A B --live` in headless Chromium: what is typed on one side is read on both, heads are chosen
together for two steps of one run and alone for two seeds, and models with other tokens are refused.

    tests/pages/check_pair_page.py HEED [PICTURES]
"""
import functools
import json
import subprocess
import time

from checks import check, check_page, train, wait_until

TEXT = {"data": {"train": "s", "valid_fraction": 0}, "objective": {"type": "causal_lm", "target_length": 32}, "tokenizer": {"type": "word"},
        "model": {"d_model": 16, "n_heads": 4, "d_ff": 16, "dropout": 0, "encoder_layers": 0, "decoder_layers": 2}}
PAIRS = {"data": {"source": "t", "target": "t", "valid_fraction": 0}, "objective": {"type": "seq2seq"},
         "model": {**TEXT["model"], "encoder_layers": 1, "decoder_layers": 1}}
JOINED = {**PAIRS, "model": TEXT["model"]}
made = {}


def make_page(heed, folder):
    made.update(heed=heed, folder=folder)
    (folder / "s").write_text("the old miller saw the river\nthe river saw the mill\n" * 40)
    (folder / "t").write_text("the mill\nthe old river\n" * 40)
    for name, more in ("one", {}), ("two", {"seed": 2}), ("chars", {"tokenizer": {"type": "char"}}), ("able", PAIRS), ("idle", PAIRS), ("alone", JOINED), ("lazy", JOINED):
        steps = 1 if name in ("idle", "lazy") else 100 if name in ("able", "alone") else 20
        train(heed, folder, {**TEXT, **more, "train": {"max_steps": steps, "save_every": 10, "keep_last": 0}}).rename(folder / name)
    made["steps"] = pair("one/checkpoints/step-00000010", "one/checkpoints/step-00000020")
    return pair("one", "two")


def pair(a, b, status=0):
    page = made["folder"] / f"{len(made)}.html"
    done = subprocess.run([made["heed"], "report", made["folder"] / a, made["folder"] / b, "--live", "--html", page, "--quiet"], capture_output=True)
    check(done.returncode == status, f"{a} and {b}: {done.stderr.decode()}")
    return page


def side(i, id):
    return f"frames[{i}].contentDocument.getElementById('{id}')"


def type_text(browser, i, text):
    browser.value(f"{side(i, 'text')}.value = {json.dumps(text)}; {side(i, 'text')}.dispatchEvent(new Event('input'))")


def choose(browser, i, name):
    """A click on head `name` ("layer 1, head 3") in frame i."""
    browser.value(f"[...{side(i, 'heads')}.querySelectorAll('button')].find((b) => b.ariaLabel.includes({json.dumps(name)})).click()")


wait = functools.partial(wait_until, told="addresses", seconds=60)  # an untrained model writes 500 tokens


def chosen(i):
    return f"new URLSearchParams(addresses[{i}].slice(1)).get('head')"


def open_pair(browser, page, text):
    """The page with a text in the first frame, once the second one has answered."""
    browser.open(page, 1400)
    wait(browser, "addresses.every((address) => address)")
    wait(browser, f"{side(0, 'text')}.value !== '' && {side(0, 'text')}.value === {side(1, 'text')}.value")
    type_text(browser, 0, text)
    wait(browser, f"{side(1, 'text')}.value === {json.dumps(text)} && {chosen(0)} && {side(1, 'guesses')}.children.length > 0")
    time.sleep(3)  # each page chooses the head that costs most, after at most 2.3 s


def check_seeds(browser, page):
    open_pair(browser, page, "the old miller")
    first, second = browser.value(f"[{chosen(0)}, {chosen(1)}]")
    other = next(f"{i}.{j}" for i in range(2) for j in range(4) if f"decoder.{i}.{j}" not in (first, second))
    choose(browser, 1, "layer {}, head {}".format(*other.split(".")))
    wait(browser, f"{chosen(1)} === 'decoder.{other}'")
    time.sleep(0.7)
    check(browser.value(chosen(0)) == first, "a head of another seed is chosen, too")
    type_text(browser, 1, "the river")
    wait(browser, f"{side(0, 'text')}.value === 'the river'")
    heights = browser.value("frames.map((f) => f.clientHeight)")
    check(min(heights) > 900, f"the frames are {heights} px high")
    check(browser.value("document.documentElement.scrollWidth") <= 1400, "scrolls sideways")
    check(not browser.errors, f"{browser.errors}")


def check_steps(browser, page):
    open_pair(browser, made["steps"], "the river saw")
    choose(browser, 0, "layer 1, head 3")
    wait(browser, f"{chosen(0)} === 'decoder.1.3' && {chosen(1)} === 'decoder.1.3'")
    check(not browser.errors, f"{browser.errors}")
    pair("one", "chars", status=2)


def check_answers(browser, page):
    """Each model writes its own answer to a source: on opening, when a button is pressed, and at the address."""
    silent = "frames.every((f) => f.contentDocument.getElementById('on').textContent === 'Write on')"
    for a, b, box in ("able", "idle", "source"), ("alone", "lazy", "text"):
        browser.open(pair(a, b), 1400)
        answers = f"[0, 1].map((i) => {side('i', 'text')}.value)"
        wait(browser, "addresses.some((address) => address.includes('writes=1')) && " + silent)
        check(len(set(browser.value(answers))) == 2, f"{a} and {b} open with {browser.value(answers)}")
        browser.value(f"{side(0, box)}.value = 'the mill'; {side(0, box)}.dispatchEvent(new Event('input'))")
        wait(browser, f"{side(1, box)}.value === 'the mill' && addresses.every((address) => !address.includes('writes'))")
        browser.value(f"{side(1, 'on')}.click()")
        wait(browser, f"addresses[0].includes('writes=1') && {silent}")
        written = browser.value(answers)
        check(box == "text" or written[0] == "the mill", f"{a} and {b} write {written}")
        check(written[1] != written[0], f"{a} and {b} both write {written}")
        browser.value("location.reload()")
        time.sleep(1)
        wait(browser, f"{answers}.join() === {json.dumps(','.join(written))}")
        check(not browser.errors, f"{browser.errors}")


check_page("pair", make_page, check_seeds, check_steps, check_answers)
