#!/usr/bin/env python3
"""Checks the page of `heed ablate --html` in headless Chromium (apt install chromium), and takes pictures.

    tests/pages/check_ablation_page.py HEED [PICTURES]

As check_attention_page.py: looks, keyboard, and that rows, bars and the saved picture say what --json says.
"""
import json
import subprocess

from checks import check, check_page, saved, tab_stops, train, words_of

CONFIG = {
    "data": {"source": "s", "target": "s", "valid_fraction": 0.2},
    "tokenizer": {"type": "word"}, "objective": {"type": "seq2seq"},
    "model": {"d_model": 16, "n_heads": 4, "d_ff": 16, "encoder_layers": 2, "decoder_layers": 2},
    "train": {"max_steps": 2},
}
NAMES = "[...document.querySelectorAll('#parts tbody th')].map((e) => e.textContent)"
made = {}


def make_page(heed, folder):
    (folder / "s").write_text("".join(f"a{i % 7} b{i % 5} word\n" for i in range(100)))
    run = train(heed, folder, CONFIG)
    page = folder / "page.html"
    subprocess.run([heed, "ablate", run, "--html", page], check=True)
    made["parts"] = json.loads(subprocess.run([heed, "ablate", run, "--json"], check=True, capture_output=True).stdout)["parts"]
    made["folder"] = folder
    return page


def check_rows(browser, page):
    browser.open(page, 1440)
    check(browser.value(NAMES) == [p["name"] for p in made["parts"]], "parts are not those of --json")
    widths = browser.value("[...document.querySelectorAll('#parts .bar')].map((e) => e.width.baseVal.value)")
    longest = max(made["parts"], key=lambda p: abs(p["difference"]))
    check(widths[made["parts"].index(longest)] == max(widths), "the longest bar is not the largest difference")
    check(browser.value("document.querySelectorAll('#parts .interval').length") == len(made["parts"]), "intervals")
    stops = tab_stops(browser, 10)
    check(stops[:2] == [("save", "BUTTON"), ("sorts", "INPUT")], f"tab stops are {stops}")
    browser.value("document.querySelectorAll('#sorts input')[1].click()")
    heads = [p["name"] for p in made["parts"] if p["sort"] == "head"]
    check(browser.value(NAMES) == heads, "the choice shows other parts")
    words = words_of(saved(browser, made["folder"] / "saved", "#save button"))
    check(words[1::2] == heads, f"the saved picture says {words}")


if __name__ == "__main__":
    check_page("ablation", make_page, check_rows)
