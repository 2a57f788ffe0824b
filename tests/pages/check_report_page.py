#!/usr/bin/env python3
"""Checks the page of `heed report` in headless Chromium (apt install chromium), and takes pictures.

    tests/pages/check_report_page.py HEED [PICTURES]

No request, no script error, no sideways scrolling, contrast, at 360, 900 and 1440 pixels,
light and dark; slider, kinds and heads by keyboard, a visible focus, names for assistive software, a text for every chart,
which says what metrics.jsonl says, lines that keep their spikes, yardsticks, values to read, the film, and a sentence
without script. Some twenty seconds.
"""
import json
import re
import subprocess
import time

from checks import FOCUS, changes, check, check_page, go_to, saved, tab_stops, train, wait_until, words_of

CONFIG = {
    "data": {"train": "text", "valid_fraction": 0.1}, "tokenizer": {"type": "word"},
    "objective": {"type": "prefix_lm", "source_length": 24, "target_length": 24},
    "model": {"d_model": 16, "n_heads": 4, "d_ff": 16, "encoder_layers": 2, "decoder_layers": 2},
    "optimizer": {"warmup_steps": 10},  # and rate 0 at the end
    "train": {"batch_tokens": 300, "max_steps": 60, "log_every": 10, "eval_every": 20, "save_every": 10, "keep_last": 0},
}
WORDS = "the quick <b>brown</b> fox jumps over lazy dogs and </script> a sleeping & snoring cat".split()

made = {}


def events_of(page):
    return [json.loads(line) for line in (page.parent / "run" / "metrics.jsonl").read_text().splitlines()]


def opened(page):
    """The data of a page, and what writes it into another page, after changes."""
    text, other = page.read_text(encoding="utf-8"), page.parent / "other.html"
    begin = text.index('id="data">') + len('id="data">')
    end = text.index("</script>", begin)
    data = json.loads(text[begin:end])

    def save():
        other.write_text(text[:begin] + json.dumps(data).replace("<", "\\u003c") + text[end:], encoding="utf-8")
        return other

    return data, save


def make_page(heed, folder):
    (folder / "text").write_text("".join(" ".join(WORDS[(i * i + 3 * j) % len(WORDS)] for j in range(9)) + ".\n"
                                         for i in range(400)))
    run = train(heed, folder, CONFIG)
    made["heed"] = heed
    page = folder / "page.html"
    subprocess.run([heed, "report", run, "--html", page], check=True)
    return page


def check_charts(browser, page):
    """Each has a title, lines and a text. (Their numbers: check_reading, and cli/report_test.py.)"""
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
    events = events_of(page)
    entropy = next(x for x in words if x.startswith("Entropy"))
    check(all(f"head {h} " in entropy for h in range(4)) and "uniform " in entropy, f"lines of “{entropy}”")
    best = min((e for e in events if e["kind"] == "valid"), key=lambda e: e["loss"])
    check(f"best held-out loss {best['loss']:.3g} nats per token (perplexity {best['perplexity']:.3g}) "
          f"at step {best['step']}." in browser.value("about()"), "the best isn't in the header")
    browser.value("data.metric = 'BLEU'; valid.metric = valid.steps.map(() => 12.3); data.best.by_metric = true")
    check("best held-out BLEU 12.3 (loss " in browser.value("about()"), "the best by BLEU isn't in the header")


def check_lines(browser, page):
    """Many points are thinned without losing a spike; lines can be told apart; numbers are written as people write them."""
    browser.open(page, 1440)
    browser.value("globalThis.svg = (lines) => chart('Loss', lines)[0].querySelector('svg.chart').outerHTML;"
                  "globalThis.points = (n) => [...Array(n).keys()].map((i) => [i + 1, 1]);")
    svg = browser.value("{ const p = points(20000); p[12344][1] = 7; p[777][1] = 0.25; svg([{name: '', points: p}]) }")
    check("least 0.25 at step 778, largest 7 at step 12.3k" in svg, "the text of many points")
    check(len(svg) < 10000, f"many points take {len(svg)} bytes")
    # The line reaches the top and bottom of the drawing area, at 8 and 168.
    check(re.search(r"L[0-9.]+ 8\.0", svg) and re.search(r"L[0-9.]+ 168\.0", svg), "a spike is lost")
    many = browser.value("svg([{name: 'uniform', points: [[1, 2]], control: true}, "
                         "...points(12).map((_, i) => ({name: 'head ' + i, points: [[1, 1]]}))])")
    for look in ("line-control", "line-0 dash-0", "line-4 dash-4", "line-0 dash-1", "line-1 dash-3"):
        check(f'class="{look}"' in many, f"no line is {look}")
    gaps = browser.value("svg([{name: '', points: [[1, null], [2, 3], [3, null], [4, 5]]}])")
    check('Loss: from 3 at step 2 to 5 at step 4, least 3' in gaps, "values that are none")
    check(browser.value("chart('Loss', [{name: '', points: [[1, null]]}]).length") == 0, "a chart of nothing")
    check(browser.value("chart('Loss', [{name: '', points: [[1, 0]]}], {logarithmic: true}).length") == 0,
          "a logarithm of 0")
    for x, text in ((0, "0"), (12.34, "12.3"), (9.06e-7, "9.06e-7"), (1234.5, "1235"), (999_960, "1.0M"), (-0.5, "-0.5")):
        got = browser.value(f"short({x})")
        check(got == text, f"{x} is shown as {got}, not {text}")


def check_reading(browser, page):
    """Values are read by keyboard and by pointing; the horizontal axis begins at 0; a chart can be saved."""
    browser.open(page, 1440)
    events = events_of(page)
    loss = {kind: {e["step"]: e["loss"] for e in events if e["kind"] == kind} for kind in ("train", "valid")}
    reading = "document.querySelector('#curves .reading').textContent"
    browser.value("document.querySelector('#curves svg.chart').focus()")
    training = f"training {loss['train'][60]:.3g} (mean of steps 51 to 60)"
    check(browser.value(reading) == f"step 60: {training}, held out {loss['valid'][60]:.3g}", f"reads {browser.value(reading)}")
    browser.press("ArrowLeft")
    expected = f"step 55.5: {training}, held out {loss['valid'][40]:.3g} (of step 40)"
    check(browser.value(reading) == expected, f"reads {browser.value(reading)}, not {expected}")
    browser.press("Home")
    check(browser.value(reading).startswith("step 1: training "), f"reads {browser.value(reading)}")
    browser.press("Enter")
    check(browser.value("frame().step") == 1, "Enter does not move the film to the step that is read")
    check(browser.value("document.querySelectorAll('#curves .cross circle').length") == 1, "no point is marked")
    browser.press("Tab")
    check(browser.value(reading) == "", "the values stay")
    box = browser.value("(() => { const b = document.querySelector('#curves svg.chart').getBoundingClientRect();"
                        "return [b.left, b.top, b.width, b.height]; })()")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + 0.97 * box[2], y=box[1] + box[3] / 2)
    check(browser.value(reading).startswith("step 60: "), f"pointing reads {browser.value(reading)}")
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, x=box[0] + 0.97 * box[2], y=box[1] + box[3] / 2)
    check(browser.value("frame().step") == 60, "a click on the curve does not move the film")
    check(browser.value("document.querySelectorAll('#curves circle.frame').length") == browser.value("filmed.filter((p) => p[1]).length"),
          "points of the film")
    ticks = browser.value("[...document.querySelectorAll('#curves svg.chart text')].filter((t) => "
                          "t.getAttribute('text-anchor') === 'middle').map((t) => t.textContent)")
    check(ticks[0] == "0", f"the axis begins at {ticks[0]}")
    words = words_of(saved(browser, page.parent / "saved", "#curves button.save"))
    check(words[0] == "Loss (nats per token)" and words[-2:] == ["training", "held out"], f"the saved chart says {words}")


def check_yardsticks(browser, page):
    """Yardsticks: lines near the losses and a table, or nothing. Why the losses differ, and a sentence about overfitting."""
    browser.open(page, 1440)
    remarks = "document.getElementById('remarks').textContent"
    names = "[...document.querySelectorAll('#yardsticks tbody tr')].map((r) => r.cells[0].textContent)"
    measured = next(e for e in events_of(page) if e["kind"] == "yardsticks")["values"]
    check(sorted(browser.value(names)) == sorted(["this model", *(y["name"] for y in measured)]),
          f"the run's yardsticks are shown as {browser.value(names)}")
    data, save = opened(page)
    best = data["valid"]["loss"][data["valid"]["steps"].index(data["best"]["step"])]

    def open_other():
        browser.open(save(), 1440)
        check(not browser.errors, f"yardsticks: {browser.errors}")

    levels = "[...document.querySelectorAll('text.level')].map((e) => e.textContent)"
    data["yardsticks"], data["uniform"] = [], best + 0.01  # as where nothing is held out
    open_other()
    check([level.split()[0] for level in browser.value(levels)] == ["uniform"], "no line of guessing")
    check(browser.value("document.getElementById('yardsticks').childElementCount") == 0, "yardsticks from nowhere")
    data["overfitting"], data["advice"] = "held-out loss turned at step 40", {"text": "", "command": ""}
    data["training_loss_note"] = "Training losses are measured with dropout."
    data["yardsticks"] = [{"name": "far", "nats_per_token": 900, "bits_per_byte": 450},
                          {"name": "unigram", "nats_per_token": best + 0.01, "bits_per_byte": (best + 0.01) / 2},
                          {"name": "xz", "nats_per_token": None, "bits_per_byte": 0.1}]
    open_other()
    check(browser.value(remarks) == "Held-out loss turned at step 40." + data["training_loss_note"], "remarks on the losses")
    near = browser.value(levels)
    check(len(near) == 1 and near[0].startswith("unigram "), f"lines of {near}")
    rows = browser.value(names)
    check(rows == ["far", "unigram", "this model", "xz"], f"rows of {rows}")
    check("beats far and unigram; it does not beat xz." in browser.value("document.getElementById('yardsticks').textContent"),
          "no verdict")
    bits = browser.value("document.querySelector('#yardsticks tr.chosen').cells[2].textContent")
    check(abs(float(bits) - best / 2) < 0.01, f"{bits} bits per byte")


def check_film(browser, page):
    """It plays from the first frame to the last, pauses on a key press, and shows the text of each frame."""
    browser.open(page, 1440)
    at, last = "at.frame", browser.value("data.frames.length - 1")
    name = "document.getElementById('step-name').textContent"
    text = "document.querySelector('.now .chosen').textContent"
    held_out, training = (next(e["loss"] for e in events_of(page) if (e["kind"], e["step"]) == (kind, 60))
                    for kind in ("valid", "train"))
    check(browser.value(name).startswith(f"step 60: loss {held_out:.3g} held out, {training:.3g} training, "),
          f"losses of {browser.value(name)}")
    check(browser.value(at) == last, "the last frame isn't shown first")
    check(browser.value(text) == browser.value(f"data.frames[{last}].written[0].replace(/\\n+/g, ' ↵ ')"), "text of another frame")
    go_to(browser, "play", 150)
    browser.press(" ")
    check(browser.value(at) == 0 and browser.value(name).startswith("before training"), "doesn't play from the start")
    check(browser.value(text) == browser.value("data.frames[0].written[0].replace(/\\n+/g, ' ↵ ')"), "text of another frame")
    time.sleep(1.5)
    browser.press(" ")
    there = browser.value(at)
    check(there > 0, "doesn't move")
    time.sleep(1.5)
    check(browser.value(at) == there, "doesn't stop")
    browser.press("Enter")
    wait_until(browser, f"playing === undefined && at.frame === {last}", at, 20)
    browser.value("Object.assign(frame(), { train_loss: null, probe_loss: 2.5 }); choose({})")
    check(browser.value(name) == f"step 60: loss {held_out:.3g} held out, 2.5 on this text",
          f"losses of {browser.value(name)}")


def check_texts(browser, page):
    browser.open(page, 1440)
    terms = browser.value("[...document.querySelectorAll('#texts dt')].map((e) => e.textContent)")
    check(terms == ["before training", "step 4", "step 20", "step 60", "reference"], f"texts of {terms}")
    count = "((place) => document.querySelector(place).innerText.split(/\\s+/).length)"
    words = browser.value(f"{count}('body') - {count}('#texts') - {count}('#head')")
    check(words <= 500, f"{words} words besides what the model wrote and where it looked")
    for place in ("learning", "matrices", "config"):
        browser.value(f"document.querySelector('nav [href=\"#{place}\"]').click()")
    body = browser.value("document.body.innerText")
    for part in ("What it wrote", "Matrices", "encoder.layers.0.self_attn.q_proj.weight", '"max_steps": 60'):
        check(part in body, f"there is no “{part}”")
    updates = "[...document.querySelectorAll('#matrices tbody tr')].map((r) => Number(r.cells[3].textContent))"
    check(all(x > 0 for x in browser.value(updates)), "the table of matrices has updates of a step that moved nothing")
    check("the updates are those of step 40" in body, "the step of the updates is not named")
    browser.value("document.querySelector('#lede button').click()")
    check(browser.value("frame().step === data.best.step && views[at.view].name") == "Pull", "no way to the pull")
    check(browser.value("$('about-view').textContent").startswith("Blue: "), "the pull is not said in words first")
    rows = browser.value("document.querySelectorAll('#data-of-curves tbody tr').length")
    check(rows == 6 + 3, f"{rows} rows of numbers")
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(page, 1440)
    shown = browser.value("document.body.innerText + getComputedStyle(document.querySelector('header'), '::after').content")
    check("scripts are switched off" in shown and "Curves" not in shown, f"without script it says “{shown}”")
    browser.call("Emulation.setScriptExecutionDisabled", value=False)


def check_keyboard(browser, page):
    browser.open(page, 1440)
    check(browser.value("document.querySelectorAll('main b').length") == 0, "a word became an element")
    stops = tab_stops(browser, 100)
    for place in [("step", "INPUT"), ("kinds", "INPUT"), ("heads", "BUTTON"), ("learning", "SUMMARY"),
                  ("matrices", "SUMMARY"), ("config", "SUMMARY")]:
        check(place in stops, f"{place} can't be reached; tab stops are {stops}")
    check(sum(place == "heads" for place, _ in stops) == 1, "the heads are more than one stop of the tab key")

    caption = "document.querySelector('#map caption').textContent"
    pattern = "document.getElementById('pattern').textContent"
    cells = "[...document.querySelectorAll('#map td')].map((c) => c.textContent).join()"
    browser.open(page, 1440)
    check("step 60" in browser.value(caption), "the last checkpoint isn't shown first")
    go_to(browser, "step", 150)
    for key in ("Home", "ArrowRight", "End", "ArrowLeft"):
        changes(browser, key, caption, f"{key} doesn't move the slider")
    changes(browser, "Home", cells, "the map isn't another one before training")
    check("before training" in browser.value("document.getElementById('step').getAttribute('aria-valuetext')"),
          "the slider has no text")
    go_to(browser, "heads", 150)
    browser.press("Home")
    changes(browser, "ArrowRight", pattern, "the arrow key doesn't choose the next head")
    check(browser.value(FOCUS)[0] == "heads", "the focus is lost when a head is chosen")
    go_to(browser, "kinds", 150)
    changes(browser, "ArrowUp", pattern, "the arrow key doesn't choose another attention")
    go_to(browser, "views", 150)
    changes(browser, "ArrowLeft", "document.querySelectorAll('#lines line').length", "the arrow key doesn't show lines")
    browser.value("document.querySelector('#learning summary').focus()")
    changes(browser, "Enter", "document.querySelectorAll('#learning details[open]').length", "a summary doesn't open")


def check_first_screen(browser, page):
    """A sentence, the film with its text and maps, then curves; words of the glossary are dotted where they stand."""
    for width, height in ((1400, 900), (390, 844)):
        browser.open(page, width, height)
        bottom = "((s) => { const b = document.querySelector(s).getBoundingClientRect(); return b.height > 0 ? b.bottom : 1e9; })"
        places = [browser.value(f"{bottom}('{s}')") for s in ("#lede", "#bar", "#samples .now", "#heads button")]
        check(places == sorted(places) and places[-1] <= height, f"{width} px: the first screen ends before the film: {places}")
        check(browser.value(f"{bottom}('#head') <= document.getElementById('curves').getBoundingClientRect().top"), "curves come first")
        if width == 1400:
            check(browser.value(f"{bottom}('#map thead')") <= 600, "the chosen map is below the first screen")
    check(browser.value("document.getElementById('lede').textContent").startswith(
        "This model learnt to write what follows in text like that of text. Press Play"), "no sentence for a stranger")
    check(browser.value("document.getElementById('about-view').textContent === ''"), "the pull is explained without it")
    terms = browser.value("[...document.querySelectorAll('a.term')].map((a) => [a.textContent, a.closest('section').id, "
                          "document.querySelector(a.hash).nextElementSibling.textContent === a.getAttribute('aria-description')])")
    check({("loss", "curves"), ("query", "head"), ("entropy", "learning")} <= {(w.lower(), s) for w, s, _ in terms}, f"words {terms}")
    check(all(known for *_, known in terms) and len({(w.lower().rstrip("s"), s) for w, s, _ in terms}) == len(terms), "words twice")
    browser.value("document.querySelector('#learning a.term').click()")
    check(browser.value("document.getElementById('glossary').open"), "a word does not lead to the glossary")
    check(browser.value("[shown('\\n'), shown('<0x0A>'), oneLine('a\\nb'), shown('<0x41>'), shown('\\t')]") ==
          ["↵", "↵", "a ↵ b", "<0x41>", "⇥"], "line ends are shown in two ways")


def check_movers(browser, page):
    """Names of heads and steps are buttons; a named head is shown first; the last row says what follows."""
    data, save = opened(page)
    name = {"kind": "decoder", "layer": 1, "head": 2, "name": "previous token", "score": 0.5, "untrained": 0.1, "shuffled": 0.2}
    gone = {**name, "layer": 0, "name": "first token"}
    odd = [{**name, "kind": "__proto__"}, {**name, "layer": 7}, {**name, "head": -1}]
    for i, frame in enumerate(data["frames"]):
        frame["heads"] = [*([name] if i >= 3 else []), *([gone] if i == 2 else []), *odd]
    data["overfitting"] = "held-out loss has risen since step 20"
    browser.open(save(), 1440)
    pattern = "document.getElementById('pattern').textContent"
    check(not browser.errors, f"names: {browser.errors}")
    check(browser.value(pattern).startswith("decoder self-attention, layer 1, head 2: "), f"opens on {browser.value(pattern)}")
    items = browser.value("[...document.querySelectorAll('#named-heads li')].map((e) => [e.textContent, e.className])")
    steps = [f["step"] for f in data["frames"]]
    check([item.split(" (")[0] for item, _ in items] ==
          [f"decoder self-attention, layer 1, head 2: previous token since step {steps[3]}"], f"names are {items}")
    look = "document.querySelector('#named-heads li').className"
    browser.value("chooseFrame(2)")
    check(browser.value(look) == "later", "a name that is not there yet looks like one that is")
    over = "; over the held-out text: previous token"
    check(not browser.value(pattern).endswith(over), "the chosen head has its name too early")
    browser.value("document.querySelectorAll('#named-heads button')[1].click()")
    check(browser.value("frame().step") == steps[3] and browser.value(look) == "", "a step does not move the film")
    check(browser.value(pattern).endswith(over), f"the chosen head is called {browser.value(pattern)}")
    browser.value("document.querySelector('#kinds input').click(); document.querySelector('#named-heads button').focus()")
    changes(browser, "Enter", pattern, "a name does not choose its head")
    check(browser.value(pattern).startswith("decoder self-attention, layer 1, head 2: "), f"chooses {browser.value(pattern)}")
    check(browser.value("document.querySelectorAll('#kinds input')[at.kind].checked"), "the kind is not the chosen one")
    check(browser.value(FOCUS)[0] == "named-heads", "the focus is lost")
    for place, step in (("#remarks", 20), ("#about", data["best"]["step"]), ("#texts", 0)):
        browser.value(f"document.querySelector('{place} button.move').click()")
        check(browser.value("frame().step") == step, f"the step of {place} does not move the film")
    check(browser.value("rowLabel(queries().length - 1)").endswith("→ " + data["follows"]), "the last row does not say what follows")
    widths = browser.value("[...document.querySelectorAll('#map th')].map((e) => [e.textContent, e.scrollWidth - e.clientWidth, "
                           "e.scrollHeight - e.clientHeight])")
    check(all(x <= 0 and y <= 0 for _, x, y in widths), f"labels are cut: {widths}")


def check_odd_films(browser, page):
    """A page draws what it can of a film with an odd name of a kind, of other sizes, and without maps."""
    film, other = page.parent / "run" / "film.jsonl", page.parent / "other.html"
    whole = film.read_text()

    def without_maps(line):
        frame = json.loads(line)
        return json.dumps({key: [] if key == "weights" else x for key, x in frame.items() if key not in ("pull", "heads")})

    def drawn(text):
        film.write_text(text)
        subprocess.run([made["heed"], "report", page.parent / "run", "--html", other, "--quiet"], check=True)
        browser.open(other, 1440)
        check(not browser.errors, f"an odd film: {browser.errors}")
        check("max_steps" in browser.value("document.querySelector('#config pre').textContent"), "the page ends early")
        return browser.value("[data.kinds.length, data.frames.length, document.querySelectorAll('#map td').length > 0]")

    kinds, frames, _ = drawn(whole)
    check(drawn(whole.replace('"cross"', '"__proto__"')) == [kinds, frames, True], "a kind of an odd name")
    check(drawn(whole.replace('"weights":["', '"weights":["AAAA', 1)) == [kinds, frames - 1, True], "a map of another size")
    probe, *lines = whole.splitlines()
    check(drawn("\n".join([probe, *map(without_maps, lines)]) + "\n") == [kinds, frames, False], "a film without maps")
    go_to(browser, "step", 150)
    changes(browser, "Home", "document.querySelector('.now .chosen').textContent", "the texts do not follow the slider")
    check(drawn("")[1:] == [0, False], "no film")
    titles = browser.value("[...document.querySelectorAll('h2')].map((e) => e.textContent)")
    check(titles == ["Curves", "Config"], f"empty headings without a film: {titles}")
    check(browser.value("[...document.querySelectorAll('nav a')].every((a) => document.querySelector(a.hash))"), "ways to nowhere")
    check("Press Play" not in browser.value("document.body.innerText"), "nothing to play")
    film.write_text(whole)


if __name__ == "__main__":
    check_page("report", make_page, check_charts, check_lines, check_reading, check_yardsticks, check_texts, check_film,
               check_keyboard, check_first_screen, check_movers, check_odd_films)
