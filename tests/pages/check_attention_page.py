#!/usr/bin/env python3
"""Checks the page of `heed attend --html` in headless Chromium (apt install chromium), and takes pictures.

    tests/pages/check_attention_page.py HEED [PICTURES]

HEED is the program; pictures go to the folder PICTURES if it is given. Trains a small model on hostile words,
then checks, at 360, 900 and 1440 pixels, light and dark: no request but the page itself, no script error, no
sideways scrolling, every text at least 4.5 : 1 against its background, everything reachable and usable by
keyboard with a visible focus, names for assistive software, numbers as tables. Then what the page says:
where it opens, labels of rows, next tokens, lines between words, patterns in words, saved pictures, the page of
chosen heads, and that a large model's page fits its box and opens in time. Some twenty seconds.
"""
import json
import subprocess

from checks import FOCUS, changes, check, check_page, go_to, saved, tab_stops, train, words_of

HOSTILE = ["</script><script>document.title='hacked'</script>", "<img/src=x/onerror=alert(1)>", "<!--", "&amp;"]
TEXT = " ".join(HOSTILE) + " word"
CONFIG = {
    "data": {"source": "s", "target": "s", "valid_fraction": 0},
    "tokenizer": {"type": "word"}, "objective": {"type": "seq2seq"},
    "model": {"d_model": 16, "n_heads": 4, "d_ff": 16, "encoder_layers": 2, "decoder_layers": 2},
    "train": {"max_steps": 2},
}
LARGE = {
    "data": {"train": "s", "valid_fraction": 0}, "tokenizer": {"type": "word"},
    "objective": {"type": "causal_lm", "target_length": 128},
    "model": {"d_model": 24, "n_heads": 12, "d_ff": 24, "encoder_layers": 0, "decoder_layers": 12}, "train": {"max_steps": 1},
}
SUMMARY = "document.getElementById('summary').textContent"
PATTERN = "document.getElementById('pattern').textContent"
LINES = "[...document.querySelectorAll('#lines line')].filter((e) => e.style.display === '').length"
made = {}


def make_page(heed, folder):
    (folder / "s").write_text("".join(f"{a} {b} word\n" for a in HOSTILE for b in HOSTILE))
    run = train(heed, folder, CONFIG)
    attend = [heed, "attend", run, TEXT, "--target", TEXT]
    page = folder / "page.html"
    subprocess.run([*attend, "--html", page], check=True)
    made["maps"] = json.loads(subprocess.run([*attend, "--json"], check=True, capture_output=True).stdout)
    made["folder"] = folder
    made["heed"] = heed
    return page


def check_keyboard(browser, page):
    browser.open(page, 1440)
    check("hacked" not in browser.value("document.title"), "a token became script")
    check(browser.value("document.querySelectorAll('main img').length") == 0, "a token became an element")
    stops = [stop for stop in tab_stops(browser, 40) if stop[1] != "A"]  # words of the glossary
    expected = [("kinds", "INPUT"), ("heads", "BUTTON"), ("save", "BUTTON"), ("views", "INPUT"), ("head", "DIV"),
                ("queries", "BUTTON")]
    check(stops[:6] == expected, f"tab stops are {stops}")
    check(len(stops) == 8 and stops[7] == ("glossary", "SUMMARY"), f"tab stops are {stops}")  # the numbers too

    browser.open(page, 1440)
    go_to(browser, "heads", 8)
    browser.press("Home")
    changes(browser, "ArrowRight", PATTERN, "the arrow key doesn't choose the next head")
    changes(browser, "ArrowDown", PATTERN, "the arrow key doesn't choose the next layer")
    check("layer 1, head 1" in browser.value(PATTERN), "arrow keys don't move by rows and columns")
    changes(browser, "End", PATTERN, "the end key doesn't choose the last head")
    check(browser.value(FOCUS)[0] == "heads", "the focus is lost when a head is chosen")
    go_to(browser, "queries", 8)
    changes(browser, "ArrowLeft", SUMMARY, "the arrow key doesn't choose another token")
    go_to(browser, "kinds", 8)
    changes(browser, "ArrowUp", PATTERN, "the arrow key doesn't choose another attention")
    check(browser.value("document.querySelectorAll('#map tbody tr').length") == 6, "rows of the table")
    check(browser.value("document.querySelectorAll('#numbers td').length") > 0, "numbers of a token")
    check(browser.value("document.documentElement.lang") == "en", "no language")


def check_opening(browser, page):
    """The page opens on the sharpest cross-attention head and the last row, and shows the texts."""
    browser.open(page, 1440)
    cross = made["maps"]["cross"]
    words = [t != "</s>" for t in made["maps"]["source_tokens"]]
    layer, head = max(((i, h) for i in range(2) for h in range(4)), key=lambda x: sum(
        max(w for w, is_word in zip(row, words) if is_word) for row in cross[x[0]][x[1]]))
    check(f"cross-attention, layer {layer}, head {head}: " in browser.value(PATTERN), f"opens on {browser.value(PATTERN)}")
    check(browser.value(SUMMARY).startswith("After “word”, row 5, "), f"opens on {browser.value(SUMMARY)}")
    check(browser.value("[...document.querySelectorAll('#texts dd')].map((e) => e.textContent)") == [TEXT, TEXT], "texts")
    tops = browser.value("[...document.querySelectorAll('#heads button')].map((b) => b.getBoundingClientRect().top)")
    check(len(set(tops)) == 2 and len(set(tops[:4])) == 1, f"a layer is not a row: {tops}")
    labels = browser.value("[...document.querySelectorAll('#map tbody th')].map((e) => e.textContent)")
    best = browser.value("data.next[5][0].token")
    check(labels[0] == "<s> → " + HOSTILE[0] and labels[4] == "&amp; → word" and labels[5] == "word ⇢ " + best,
          f"labels are {labels}")
    rows = browser.value("[...document.querySelectorAll('#next-tokens tr')].map((r) => r.cells[0].textContent)")
    check(len(rows) == 5 and rows[0] == best, f"next tokens are {rows}")
    check(browser.value("data.next.every((row) => row.every(({ p }, i) => p > 0 && p < 1 && !(row[i + 1]?.p > p)))"), "next")
    go_to(browser, "kinds", 8)
    changes(browser, "ArrowRight", PATTERN, "the arrow key doesn't choose the encoder")
    check(browser.value("document.getElementById('next').hidden"), "an encoder predicts tokens")
    check("→" not in browser.value("document.getElementById('map').textContent"), "an encoder's rows have arrows")


def check_lines(browser, page):
    browser.open(page, 1440)
    go_to(browser, "views", 8)
    browser.press("ArrowRight")
    changes(browser, "ArrowRight", LINES, "the lines aren't shown")
    many = sum(w >= 0.02 for row in browser.value("queries().map((_, q) => weights(q))") for w in row)
    check(browser.value(LINES) == many, f"{browser.value(LINES)} lines, not {many}")
    for _ in range(5):  # to two words of the glossary, to the box, to the tokens looked at, to the rows
        browser.press("Tab")
    place, tag, visible, name = browser.value(FOCUS)
    check((place, tag, visible) == ("lines", "g", True), f"the focus is on {place} {tag}")
    changes(browser, "ArrowDown", SUMMARY, "a row's word doesn't choose the row")
    check(browser.value(LINES) == sum(w >= 0.02 for w in browser.value("weights(1)")), "lines of other words")
    picture = saved(browser, made["folder"] / "saved", "#save button")
    check("<s> → </script><scr…" in words_of(picture), f"the saved lines say {words_of(picture)}")
    browser.value("document.querySelector('#views input').click()")
    words = words_of(saved(browser, made["folder"] / "saved", "#save button"))
    cells = browser.value("[...document.querySelectorAll('#map td')].map((e) => e.textContent).filter((t) => t)")
    check(words[0].startswith("cross-attention, layer ") and words[1:1 + len(cells)] == cells, f"the saved map says {words}")
    browser.value("kind().keys = queries().map((_, i) => ['⟹'.repeat(12), 'word', '😀'.repeat(20)][i % 3]);"
                  "document.querySelectorAll('#views input')[2].click()")
    outside = browser.value("[...document.querySelectorAll('#lines text')].filter((e) => e.getBBox().x < 0)"
                            ".map((e) => e.textContent)")
    check(outside == [], f"wide letters are cut off: {outside}")
    check(browser.value("cut('😀'.repeat(20)) === '😀'.repeat(13) + '…'"), "a letter is cut in half")


def check_pull(browser, page):
    """The third view is the pull, in shares of the head's strongest; without --pull there is none."""
    browser.open(page, 1440)
    check(browser.value("document.querySelectorAll('#views input').length") == 3, "a view without --pull")
    check(browser.value("document.getElementById('about-view').textContent === ''"), "the pull is explained without --pull")
    pulled = made["folder"] / "pulled.html"
    attend = [made["heed"], "attend", made["folder"] / "run", TEXT, "--target", TEXT, "--pull"]
    subprocess.run([*attend, "--html", pulled], check=True)
    maps = json.loads(subprocess.run([*attend, "--json"], check=True, capture_output=True).stdout)["pull"]["cross"]
    for width in (360, 1440):
        browser.open(pulled, width)
        browser.value("document.querySelectorAll('#views input')[2].click()")
        check(browser.value("document.documentElement.scrollWidth") <= width, "the pull scrolls sideways")
        check(not browser.errors, f"{browser.errors}")
    layer, head = browser.value("[at.layer, at.head]")
    strongest = max(abs(x) for row in maps[layer][head] for x in row)
    shares = [x / strongest for row in maps[layer][head] for x in row]
    cells = browser.value("[...document.querySelectorAll('#map td')].map((e) => Number(e.textContent.replace('−', '-')))")
    check(len(cells) == len(shares) and all(abs(c - 100 * x) <= 0.6 for c, x in zip(cells, shares)), f"cells are {cells}")
    check("nats per unit of score" in browser.value("document.querySelector('#map caption').textContent"), "no caption")
    check("The loss pulls it to" in browser.value(SUMMARY), "the pull is not said in words")
    words = words_of(saved(browser, made["folder"] / "saved", "#save button"))
    check(words[0].endswith(", pull"), f"the saved map says {words}")


def check_patterns(browser, page):
    """Heads are described as --json describes them, and right-to-left tokens keep arrows in their place."""
    browser.open(page, 1440)
    for p in made["maps"]["patterns"]:
        kind = browser.value(f"data.kinds.findIndex((k) => k.name === '{p['kind']}')")
        browser.value(f"choose({{ kind: {kind}, layer: {p['layer']}, head: {p['head']} }})")
        check(browser.value(PATTERN).endswith(f"layer {p['layer']}, head {p['head']}: {p['sentence']}"), p)
        check("in this text (" in p["sentence"], p)
    check(browser.value("shown('\u05d0\u05d1') + shown('a b')") == "\u2068\u05d0\u05d1\u2069a␣b", "isolation")
    check(browser.value("[...document.querySelectorAll('#texts dd')].every((e) => e.dir === 'auto')"), "direction of texts")


def check_unpacking(browser, page):
    """A head of a film's frame is unpacked from its own bytes."""
    browser.open(page, 1440)
    wrong = browser.value("""(() => {
      const tokens = [...'abcde'], [layers, heads, size] = [2, 3, 25];
      const bytes = Uint8Array.from({ length: layers * heads * size }, (_, i) => (37 * i) % 256);
      data.kinds = [{ name: "encoder", layers, heads, queries: tokens, keys: tokens }];
      data.frames = [{ weights: [btoa(String.fromCharCode(...bytes))] }];
      Object.assign(at, { frame: 0, kind: 0 });
      return [...Array(layers * heads).keys()].filter((h) => {
        const mine = headWeights(Math.floor(h / heads), h % heads);
        return mine.length !== size || mine.some((w, j) => Math.abs(w - (bytes[h * size + j] / 255) ** 2) > 1e-6);
      });
    })()""")
    check(wrong == [], f"heads {wrong} are unpacked wrongly")


def check_chosen(browser, _):
    """The page of one head has no other, under its own numbers."""
    subprocess.run([made["heed"], "attend", made["folder"] / "run", TEXT, "--target", TEXT, "--layer", "1", "--head", "2",
                    "--html", made["folder"] / "one.html"], check=True)
    browser.open(made["folder"] / "one.html", 1440)
    check(browser.value("document.querySelectorAll('#heads button').length") == 1, "other heads are there")
    pattern = next(p for p in made["maps"]["patterns"] if (p["kind"], p["layer"], p["head"]) == ("cross", 1, 2))
    check(browser.value(PATTERN) == "cross-attention, layer 1, head 2: " + pattern["sentence"], browser.value(PATTERN))


def check_following(browser, page):
    """A page of a prompt shows what its file has become, and the head that was chosen; others stay."""
    text = page.read_text(encoding="utf-8")
    check('"reloads":false' in text, "the page of one text loads itself again")
    following = made["folder"] / "following.html"
    following.write_text(text.replace('"reloads":false', '"reloads":true'), encoding="utf-8")
    browser.open(following, 1440)
    browser.value("choose({ layer: 1, head: 3 }); document.querySelectorAll('#views input')[1].click()")
    following.write_text(text.replace('"reloads":false', '"reloads":true').replace('"about":"', '"about":"later, '), encoding="utf-8")
    for _ in range(3):  # the first may have begun before the file changed
        browser.loaded = False
        while not browser.loaded:
            browser.read()
        about = browser.value("document.getElementById('about').textContent")
        if about.startswith("later, "):
            break
    check(about.startswith("later, "), "an older text stays")
    check("layer 1, head 3: " in browser.value(PATTERN), f"another head: {browser.value(PATTERN)}")
    check(browser.value("document.querySelectorAll('#views input')[1].checked && at.view === 1"), "another view")
    check(not browser.errors, f"following: {browser.errors}")
    browser.open(page, 360)


def check_large(browser, _):
    """12 layers of 12 heads and 128 tokens: the page opens in less than two seconds of CPU time."""
    folder = made["folder"] / "large"
    folder.mkdir()
    (folder / "s").write_text("".join(f"a{i} " for i in range(200)) * 3)
    run = train(made["heed"], folder, LARGE)
    text = " ".join(f"a{i}" for i in range(127))
    subprocess.run([made["heed"], "attend", run, text, "--html", folder / "page.html"], check=True)
    browser.call("Performance.enable", timeDomain="threadTicks")
    browser.open(folder / "page.html", 1440)
    seconds = next(m["value"] for m in browser.call("Performance.getMetrics")["metrics"] if m["name"] == "TaskDuration")
    check(browser.value("document.querySelectorAll('#heads button').length") == 144, "heads are missing")
    check(browser.value("$('map').parentNode.scrollWidth - $('map').parentNode.clientWidth") <= 0, "the map leaves its box")
    check(browser.value("[...$('map').querySelectorAll('td')].some((e) => e.title)"), "a narrow cell has no number to point at")
    check(seconds < 2, f"a page of 144 heads needs {seconds:.1f} s")
    print(f"144 heads of 128 tokens: {seconds:.2f} s of a processor")


if __name__ == "__main__":
    check_page("attention", make_page, check_keyboard, check_opening, check_lines, check_pull, check_patterns, check_unpacking,
               check_following, check_chosen, check_large)
