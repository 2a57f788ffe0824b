#!/usr/bin/env python3
"""Checks the page of `heed explain --html` in headless Chromium (apt install chromium), and takes pictures.

    tests/pages/check_explanation_page.py HEED [PICTURES]

As check_attention_page.py: looks, keyboard, and that the tables say what --json says, also of tokens that look like HTML.
"""
import json
import subprocess

from checks import check, check_page, tab_stops, train

CONFIG = {
    "data": {"source": "s", "target": "s", "valid_fraction": 0.2},
    "tokenizer": {"type": "word"}, "objective": {"type": "seq2seq"},
    "model": {"d_model": 16, "n_heads": 4, "d_ff": 16, "encoder_layers": 1, "decoder_layers": 2},
    "train": {"max_steps": 2},
}
HOSTILE = "<img/src=x/onerror=alert(1)></script>"
made = {}


def rows(browser, table):
    return browser.value(f"[...document.querySelectorAll('#{table} tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))")


def make_page(heed, folder):
    (folder / "s").write_text("".join(f"a{i % 7} b{i % 5} {HOSTILE}\n" for i in range(100)))
    run = train(heed, folder, CONFIG)
    page = folder / "page.html"
    explain = [heed, "explain", run, f"a1 b2 {HOSTILE}", "--target", "a1", "--answer", HOSTILE, "--against", "b2"]
    subprocess.run([*explain, "--html", page], check=True, capture_output=True)
    made["said"] = json.loads(subprocess.run([*explain, "--json"], check=True, capture_output=True).stdout)
    return page


def check_tables(browser, page):
    said = made["said"]
    browser.open(page, 1440)
    check(browser.value("document.querySelectorAll('img').length") == 0, "a token became an element")
    check(HOSTILE in browser.value("document.getElementById('title').textContent"), "the answer is not in the title")
    check([row[:2] for row in rows(browser, "lens")] == [[str(l["layer"]), str(l["rank"])] for l in said["lens"]], "the lens")
    shares = sorted((abs(p["share"]) for p in said["shares"]), reverse=True)
    shown = [abs(float(row[1].replace("−", "-"))) for row in rows(browser, "shares")]
    check(len(shown) == len(shares) and all(abs(a - b) < 1e-4 for a, b in zip(shown, shares)), f"shares are {shown}")
    check(len(rows(browser, "weights")) == len(said["head"]["weights"]), "not every key has a weight")
    answer = rows(browser, "answers")[0]
    check(answer[1:] == [str(said["answer"]["id"]), f"{said['answer']['logit']:.4f}".replace("-", "−"), f"{said['answer']['probability']:.4f}"], f"{answer}")
    text = browser.value("document.body.innerText").replace("−", "-")
    for number in (said["norm"]["divisor"], said["head"]["log_sum"], said["head"]["length"], said["lens"][-1]["log_sum"]):
        check(f"{number:.4f}" in text, f"{number} is not on the page")
    check(", ".join(map(str, said["ids"])) in text, "the ids")
    check(all(float(row[2]) != 0 for row in rows(browser, "pull")), "a pull of 0")
    check(len(rows(browser, "pull")) == min(30, sum(len(h["pull"]) for h in said["pull"])), "the pull")
    stops = tab_stops(browser, 10)
    check("lens-title" in [place for place, _ in stops] or len(stops) >= 4, f"tab stops are {stops}")


if __name__ == "__main__":
    check_page("explanation", make_page, check_tables)
