#!/usr/bin/env python3
"""Checks the page of `heed attend --html` in headless Chromium (apt install chromium), and takes pictures.

    tests/pages/check_attention_page.py HEED [PICTURES]

HEED is the program; pictures go to the folder PICTURES if it is given. Trains a small model on hostile words,
then checks, at 360 and 1440 pixels, light and dark: no request but the page itself, no script error, no
sideways scrolling, every text at least 4.5 : 1 against its background, everything reachable and usable by
keyboard with a visible focus, names for assistive software, numbers as tables. Some ten seconds.
"""
import subprocess

from checks import FOCUS, changes, check, check_page, go_to, tab_stops, train

HOSTILE = ["</script><script>document.title='hacked'</script>", "<img/src=x/onerror=alert(1)>", "<!--", "&amp;"]
CONFIG = {
    "data": {"source": "s", "target": "s", "valid_fraction": 0},
    "tokenizer": {"type": "word"}, "objective": {"type": "seq2seq"},
    "model": {"d_model": 16, "n_heads": 4, "d_ff": 16, "encoder_layers": 2, "decoder_layers": 2},
    "train": {"max_steps": 2},
}


def make_page(heed, folder):
    (folder / "s").write_text("".join(f"{a} {b} word\n" for a in HOSTILE for b in HOSTILE))
    run = train(heed, folder, CONFIG)
    text = " ".join(HOSTILE) + " word"
    page = folder / "page.html"
    subprocess.run([heed, "attend", run, "--source", text, "--target", text, "--html", page], check=True)
    return page


def check_keyboard(browser, page):
    browser.open(page, 1440)
    check("hacked" not in browser.value("document.title"), "a token became script")
    check(browser.value("document.querySelectorAll('main img').length") == 0, "a token became an element")
    stops = tab_stops(browser, 30)
    expected = [("kinds", "INPUT"), ("heads", "BUTTON"), ("queries", "BUTTON")]
    check(stops[:3] == expected, f"tab stops are {stops}")
    check(len(stops) == 6, f"tab stops are {stops}")  # the numbers and the two tables of the head
    summary = "document.getElementById('summary').textContent"
    title = "document.getElementById('head-title').textContent"

    browser.open(page, 1440)
    go_to(browser, "heads", 8)
    changes(browser, "ArrowRight", title, "the arrow key doesn't choose the next head")
    changes(browser, "End", title, "the end key doesn't choose the last head")
    check(browser.value(FOCUS)[0] == "heads", "the focus is lost when a head is chosen")
    go_to(browser, "queries", 8)
    changes(browser, "ArrowRight", summary, "the arrow key doesn't choose the next token")
    go_to(browser, "kinds", 8)
    changes(browser, "ArrowUp", title, "the arrow key doesn't choose another attention")
    check(browser.value("document.querySelectorAll('#weights tbody tr').length") == 6, "rows of the table")
    check(browser.value("document.querySelectorAll('#numbers td').length") > 0, "numbers of a token")
    check(browser.value("document.documentElement.lang") == "en", "no language")


if __name__ == "__main__":
    check_page("attention", make_page, check_keyboard)
