#!/usr/bin/env python3
"""Checks the page of `heed report --live` in headless Chromium (apt install chromium), and takes pictures.

    tests/pages/check_live_page.py HEED [PICTURES]

HEED is the program; pictures go to the folder PICTURES if it is given. Trains four small models on hostile words: pairs, a
decoder alone, an encoder alone, a T5. Then what every page must be (checks.py), and what this one does: what is typed is read
and never becomes script, it opens at a text and shows whole numbers, a head is switched off, the address restores all of it, tokens are written, words are masked and
shown again, 10,000 characters leave the page alive; pages of attend and explain open at their text.
"""
import functools
import json
import subprocess
import time

from checks import check, check_page, go_to, saved, tab_stops, train, wait_until, words_of

HOSTILE = ["</script><script>document.title='hacked'</script>", "<img/src=x/onerror=alert(1)>", "<!--", "&amp;", "\u202e", "{{data}}"]
MODEL = {"d_model": 16, "n_heads": 4, "d_ff": 16, "dropout": 0}
CONFIGS = {
    "pairs": {"data": {"source": "s", "target": "s", "valid_fraction": 0}, "objective": {"type": "seq2seq"},
              "model": {**MODEL, "encoder_layers": 2, "decoder_layers": 2}},
    "gpt": {"data": {"train": "s", "valid_fraction": 0}, "objective": {"type": "causal_lm", "target_length": 32},
            "model": {**MODEL, "encoder_layers": 0, "decoder_layers": 2}},
    "bert": {"data": {"train": "s", "valid_fraction": 0}, "objective": {"type": "masked_lm", "source_length": 32},
             "model": {**MODEL, "encoder_layers": 2, "decoder_layers": 0}},
    "t5": {"data": {"train": "s", "valid_fraction": 0}, "model": {**MODEL, "encoder_layers": 2, "decoder_layers": 1},
           "objective": {"type": "span_corruption", "source_length": 16, "mask_fraction": 0.3, "mean_span": 1.5}},
}
TEXT = " ".join(HOSTILE) + " word"
made = {}


def make_page(heed, folder):
    made.update(heed=heed, folder=folder)
    (folder / "s").write_text("".join(f"{a} {b} word\n" for a in HOSTILE for b in HOSTILE))
    for name, config in CONFIGS.items():
        run = train(heed, folder, {**config, "tokenizer": {"type": "word"}, "train": {"max_steps": 20}})
        run.rename(folder / f"{name} <b>")
        made[name] = folder / f"{name}.html"
        subprocess.run([heed, "report", folder / f"{name} <b>", "--live", "--html", made[name], "--quiet"], check=True)
    return made["pairs"]


wait = functools.partial(wait_until, told="document.getElementById('notice').textContent", seconds=30)


def open_page(browser, name, width=1400):
    browser.open(made[name], width)
    wait(browser, "now !== null || $('notice').textContent")


def type_text(browser, box, text):
    before = browser.value("now?.counts.join()")
    browser.value(f"$('{box}').value = {json.dumps(text)}; $('{box}').dispatchEvent(new Event('input'))")
    wait(browser, f"now !== null && !busy && now.counts.join() !== {json.dumps(before)}")


def unharmed(browser):
    check("hacked" not in browser.value("document.title"), "a token became script")
    check(browser.value("document.querySelectorAll('main img').length") == 0, "a token became an element")
    check(not browser.errors, f"{browser.errors}")


GUESSES = "[...document.querySelectorAll('#guesses tr')].map((r) => r.textContent).join()"


def check_example(browser, page):
    """It opens at the text of the run's film, and says so where nothing is typed; what training wrote, too, and leads to the report."""
    for name, width in (("pairs", 390), ("gpt", 1400), ("bert", 1024), ("t5", 390)):
        run = made["folder"] / f"{name} <b>"
        browser.open(run / "live.html", width)
        wait(browser, "now !== null && !busy")
        text = json.loads((run / "film.jsonl").read_text().split("\n")[0])["prompts"][name == "pairs"]
        if name in ("pairs", "gpt"):
            check(browser.value("state.text") == text, f"{name} opens at {browser.value('state.text')}, not at {text}")
        else:
            masks = json.loads((run / "film.jsonl").read_text().splitlines()[-1])["filled"].count("›")
            check(browser.value("state.text").count("[MASK]") == masks, f"{name}: no mask")
        if name in ("pairs", "t5"):
            check(browser.value("own === '' && (state.row === 1 || state.target === '')"), "the answer is not the model's own")
        check(browser.value("now.counts[0] + now.counts[1]") > 3, f"{name} opens on nothing")
        check(browser.value("find('nav a').getAttribute('href')") == "report.html", "no way to the report")
        check(browser.value("document.querySelector(two ? '#source' : '#text').placeholder").endswith(browser.value("state.text")), "what may be typed")
        check(browser.value("document.documentElement.scrollWidth") <= width, "scrolls sideways")
        browser.open(run / "report.html", width)
        check(browser.value("document.querySelector('#lede a').getAttribute('href')") == "live.html", "no way to the page to type to")
        unharmed(browser)


def check_numbers(browser, page):
    """What is kept to compare is whole at every width, also after another text."""
    for width in (390, 1024, 1280, 1366, 1400):
        open_page(browser, "gpt", width)
        browser.value("document.querySelectorAll('section > details').forEach((d) => { d.open = true; })")
        type_text(browser, "text", TEXT)
        browser.value("$('hold').click()")
        type_text(browser, "text", "word word")
        cut = browser.value("[...document.querySelectorAll('#guesses td, #lens td:not(:nth-child(2)), #lens thead th:not(:last-child), #parts td')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)")
        check(not cut, f"{width} px: {cut} are cut")
        check(browser.value("$('next').scrollWidth <= $('next').clientWidth"), f"{width} px: the guesses are cut")


def check_pairs(browser, page):
    open_page(browser, "pairs", 360)
    type_text(browser, "source", TEXT)
    check(browser.value("document.documentElement.scrollWidth") <= 360, "scrolls sideways")
    check(browser.value("[...$('source-tokens').children].map((e) => e.textContent)")[:2] == HOSTILE[:2], "tokens of the source")
    check(browser.value("document.querySelectorAll('#guesses tr').length") == 5, "not five guesses")
    check(browser.value("document.querySelectorAll('#map tbody tr').length") == 1, "rows of the map")
    guesses = browser.value(GUESSES)
    browser.value("$('heads').querySelectorAll('button')[5].click()")
    check(browser.value("$('pattern').textContent").startswith("cross-attention, layer 1, head 1:"), "the chosen head")
    check(browser.value("state.off.length") == 0, "one click switches a head off")
    browser.value("$('heads').querySelectorAll('button')[0].click(); $('heads').querySelectorAll('button')[0].focus()")
    browser.press("Home")
    wait(browser, "!busy")
    check(browser.value("state.off.length") == 0, "a key that moves nowhere switches a head off")
    browser.value("$('heads').querySelectorAll('button')[5].click(); $('heads').querySelectorAll('button')[5].click()")
    check(browser.value("state.off.length") == 0, "a click on the chosen head switches it off")
    browser.value("$('off').click()")
    wait(browser, "!busy && $('heads').querySelector('.off') !== null")
    check("1: (off) “" in browser.value("$('pattern').textContent"), "the words of a head that is off")
    check(browser.value("/(^|\\d)decoder, layer [01], head/.test($('parts').textContent)"), "the kind of a head")
    check(browser.value("$('guesses').textContent.includes('\u00a0%') && now.next[0].p < 0.99"), "what is so at temperature 1")
    check(browser.value("$('sum').textContent") == "It is switched off: it adds 0.", "the numbers of a head that is off")
    check(browser.value(GUESSES) != guesses, "a head that is off changes nothing")
    # The answer without each other head is what it is when that head is off, too.
    wait(browser, "Object.keys(without).length === writers().length - 1")
    browser.value("chooseNamed(Object.keys(without)[0]); expected = Object.values(without)[0]; $('off').click()")
    wait(browser, "!busy && state.off.length === 2")
    check(browser.value("Math.abs(now.answer.p - expected) < 1e-9"), "what the answer loses without a head")
    browser.value("$('off').click()")
    wait(browser, "!busy && state.off.length === 1")
    # A guess that is a word. What $('one') draws may be the end.
    browser.value("$('guesses').querySelectorAll('td button')[now.next.findIndex((n) => n.id > 3)].click()")
    wait(browser, "!busy && now.counts[1] === 2")
    wait(browser, "location.hash.includes('off=cross.1.1') && location.hash.includes('target=')")
    guesses, target, address = browser.value(GUESSES), browser.value("$('text').value"), browser.value("location.hash")
    check(target != "", "nothing is written")
    # Another source: what the model wrote to the first goes, what a person typed stays.
    type_text(browser, "source", "word word")
    check(browser.value("[$('text').value, now.counts[1]]") == ["", 1], "the answer to another source stays")
    open_page(browser, "pairs")
    browser.value(f"location.hash = {json.dumps(address)}")
    wait(browser, "!busy && $('heads').querySelector('.off') !== null")
    restored = [browser.value(GUESSES), browser.value("$('text').value"), browser.value("$('source').value")]
    check(restored == [guesses, target, TEXT], f"the address {address} does not restore the page: {restored}, not {[guesses, target, TEXT]}")
    browser.value("location.hash = '#text=a&off=cross.9.9+decoder.0.x&row=99&answer=99999&against=-1&head=<b>&temperature=x&layer=77'")
    wait(browser, "!busy && state.text === 'a' && now.counts[0] === 2")
    for what in ("cross.9.9", "decoder.0.x", "row=99", "answer=99999", "against=-1", "head=<b>", "temperature=x", "layer=77"):
        check(what in browser.value("$('notice').textContent"), f"{what} is not said to be wrong")
    check(browser.value("[state.temperature, state.row, state.answer, state.layer]") == [0, None, None, None], "what is not there is kept")
    browser.value("location.hash = '#Source=b&nothing=1'")
    wait(browser, "!busy && state.text === 'b' && $('notice').textContent.includes('nothing')")
    browser.value("location.hash = '#word-3'")  # of the glossary
    time.sleep(0.2)
    check(browser.value("state.text") == "b", "a word of the glossary empties the page")
    browser.value("location.hash = '#text=a&head=decoder.1.2'")
    wait(browser, "!busy && nameOfHead() === 'decoder.1.2'")
    check(browser.value("$('kinds').querySelector(':checked').parentNode.textContent").strip() == "decoder self-attention", "the chosen kind")
    unharmed(browser)


def check_gpt(browser, page):
    open_page(browser, "gpt", 390)
    type_text(browser, "text", TEXT)
    check(browser.value("$('parts').rows.length") > 5, "no shares")
    check(browser.value("document.querySelectorAll('#lens tbody tr').length") == 2, "no lens")
    browser.value("document.querySelector('#lens button').click()")
    check(browser.value("document.querySelectorAll('#lens tbody tr').length") == 7, "a layer does not open")
    answer = browser.value("now.next[1].id")
    browser.value("document.querySelectorAll('#guesses th button')[1].click()")
    wait(browser, f"!busy && now.answer.id === {answer}")
    browser.value("$('tokens').querySelectorAll('button')[2].click()")
    wait(browser, "!busy && now.row === 2")
    check(browser.value("$('text').value.slice($('text').selectionStart, $('text').selectionEnd)") == HOSTILE[1], "no token is selected")
    check(browser.value("$('one').textContent") == "Write at the end", "where it writes")
    browser.value("$('hold').click()")
    check(browser.value("shown(now.target[2].piece) !== '' && $('held').textContent.includes(shown(now.target[2].piece))"), "what was kept is not said")
    guess = browser.value("now.next.findIndex((n) => n.id > 3)")
    browser.value(f"$('guesses').querySelectorAll('td button')[{guess}].click()")
    wait(browser, "!busy && now.counts[1] === 4")  # <s>, two words, the guess
    check(browser.value("$('text').value").startswith(" ".join(HOSTILE[:2])), "a guess in the middle")
    browser.value("$('guesses').querySelectorAll('td button')[now.next.findIndex((n) => n.id > 3)].click()")
    wait(browser, "!busy && now.counts[1] === 5")
    browser.value("$('tokens').querySelectorAll('button')[3].click()")
    wait(browser, "!busy && now.row === 3")
    type_text(browser, "text", TEXT)
    browser.value("$('parts').querySelectorAll('button')[2].click()")
    wait(browser, "!busy && now.head.head === at.head && now.head.layer === at.layer")
    check(browser.value("$('sums-title').textContent.includes(headName())"), "the numbers of another head")
    browser.value("$('views').querySelectorAll('input')[1].click()")
    wait(browser, "location.hash.includes('view=1')")
    browser.value("$('on').click()")
    wait(browser, "now.counts[1] > 12")
    browser.value("$('on').click()")
    wait(browser, "!busy && !writing")
    # A temperature that is dragged while it writes: it goes on.
    browser.value("$('on').click(); dragged = setInterval(() => $('heat').dispatchEvent(new Event('input')), 1)")
    browser.value("setTimeout(() => clearInterval(dragged), 500)")
    wait(browser, "state.written.length > 30")
    # Another link while it writes: nothing of what was under way is written there.
    browser.value("$('on').click(); location.hash = '#text=word&temperature=1e-39&answer=2&against=9'")
    wait(browser, "!busy && !writing && now?.text === 'word'")
    check(browser.value("[state.written.length, now.text]") == [0, "word"], "the old text goes on in the new one")
    check(browser.value("now.next.every((n) => n.p >= 0)"), "a temperature of almost 0")
    check(browser.value("Number($('against').value)") == 9, "a word that is not listed is not chosen")
    check(browser.value("now.next[0].id === now.answer.id || now.answer.p < now.next[0].p"), "two probabilities of one word")
    type_text(browser, "text", " ".join(HOSTILE) * 140 + "e\u0301\U0001f468\u200d\U0001f469 \ud800 \0")
    check("32" in browser.value("$('notice').textContent"), "a long text is not said to be cut")
    type_text(browser, "text", "word never")
    check("never" in browser.value("$('notice').textContent"), "an unknown word is not named")
    type_text(browser, "text", "")
    check(browser.value("[...now.counts, $('notice').textContent]") == [0, 1, ""], "an emptied text")
    check(browser.value("document.documentElement.scrollWidth") <= 390, "scrolls sideways")
    unharmed(browser)
    open_page(browser, "gpt")
    type_text(browser, "text", TEXT)
    stops = tab_stops(browser, 60)
    for place in ("text", "tokens", "heat", "guesses", "heads", "off", "views", "lens", "parts"):
        check(place in [stop[0] for stop in stops], f"{place} is no tab stop")
    go_to(browser, "one", 9)
    browser.press("Enter")
    wait(browser, "!busy && state.written.length === 1 && now.counts[1] === 9")


def check_bert(browser, page):
    open_page(browser, "bert")
    type_text(browser, "text", "word &amp; word")
    click = "$('tokens').querySelectorAll('button')[2].click()"
    browser.value(click)
    wait(browser, "!busy && $('text').value === 'word [MASK] word'")
    check(browser.value("now.row") == 2, "the mask is not asked about")
    wait(browser, "location.hash.includes('hidden=')")
    address = browser.value("location.hash")
    browser.value("location.hash = '#text=word'")
    wait(browser, "!busy && now.text === 'word'")
    browser.value(f"location.hash = {json.dumps(address)}")
    wait(browser, "!busy && now.text === 'word [MASK] word'")
    browser.value(click)
    wait(browser, "!busy && $('text').value === 'word &amp; word'")
    browser.value(click)
    wait(browser, "!busy && $('text').value === 'word [MASK] word'")
    guess = browser.value("now.next[0].piece")
    browser.value("document.querySelector('#guesses td button').click()")
    wait(browser, f"!busy && $('text').value === 'word ' + {json.dumps(guess)} + ' word'")
    type_text(browser, "text", "word " * 40)
    check("33 " in browser.value("$('notice').textContent"), "a long text is not said to be cut")
    unharmed(browser)


def check_t5(browser, page):
    open_page(browser, "t5", 390)
    type_text(browser, "source", "word ___ word")
    check(browser.value("now.target.map((t) => t.piece)") == ["<s>", "<extra_id_0>"], "the answer to the first mask is not asked for")
    click = "$('source-tokens').querySelectorAll('button')[0].click()"
    browser.value(click)
    wait(browser, "!busy && $('source').value === '[MASK] [MASK] word'")
    check(browser.value("now.source.map((t) => t.piece)") == ["<extra_id_0>", "<extra_id_1>", "word"], "two masks")
    browser.value("location.hash = '#text=[MASK] [MASK] word&head=encoder.1.3'")  # another kind, with more layers
    wait(browser, "!busy && nameOfHead() === 'encoder.1.3'")
    check(browser.value("buttonsOfHeads().length") == 8, "the heads of the other kind")
    type_text(browser, "source", "word &amp; word")
    browser.value(click)
    wait(browser, "!busy && $('source').value === '[MASK] &amp; word'")
    guess = browser.value("now.next.findIndex((n) => n.id > 8)")
    browser.value(f"$('guesses').querySelectorAll('td button')[{guess}].click()")
    wait(browser, "!busy && now.counts[1] === 3")
    type_text(browser, "text", "word &amp; word")  # what is hidden stays known
    browser.value(click)
    wait(browser, "!busy && $('source').value === 'word &amp; word'")
    check(browser.value("[$('text').value, now.counts[1]]") == ["", 1], "the answer to what is no longer asked stays")
    unharmed(browser)


def check_views(browser, page):
    """The chosen head as lines between words, and saved as a picture, as lines and as a map."""
    open_page(browser, "gpt")
    type_text(browser, "text", TEXT)
    wait(browser, "chosenHere === null")  # the page has chosen the head that costs most
    lines = "[...document.querySelectorAll('#lines line')].filter((e) => e.style.display === '').length"
    browser.value("$('views').querySelectorAll('input')[1].click()")
    many = sum(w >= 0.02 for row in browser.value("queries().map((_, q) => weights(q))") for w in row)
    check(browser.value(lines) == many, f"{browser.value(lines)} lines, not {many}")
    browser.value("document.querySelectorAll('#lines g[role=group]')[1].querySelectorAll('.word')[1].dispatchEvent(new Event('pointerenter'))")
    check(browser.value(lines) == sum(w >= 0.02 for w in browser.value("weights(1)")), "lines of other words")
    words = words_of(saved(browser, made["folder"] / "saved", "#save button"))
    check("<s> → </script><scr…" in words, f"the saved lines say {words}")
    browser.value("$('views').querySelector('input').click()")
    words = words_of(saved(browser, made["folder"] / "saved", "#save button"))
    cells = browser.value("[...document.querySelectorAll('#map td')].map((e) => e.textContent).filter((t) => t)")
    check(words[0].startswith("decoder self-attention, layer ") and words[1:1 + len(cells)] == cells, f"the saved map says {words}")
    browser.value("kind().keys = queries().map((_, i) => ['⟹'.repeat(12), 'word', '😀'.repeat(20)][i % 3]);"
                  "$('views').querySelectorAll('input')[1].click()")
    outside = browser.value("[...document.querySelectorAll('#lines text')].filter((e) => e.getBBox().x < 0).map((e) => e.textContent)")
    check(outside == [], f"wide letters are cut off: {outside}")
    check(browser.value("cut('😀'.repeat(20)) === '😀'.repeat(13) + '…'"), "a letter is cut in half")
    check(browser.value("shown('\u05d0\u05d1') + shown('a b')") == "\u2068\u05d0\u05d1\u2069a␣b", "isolation")


def check_opening(browser, page):
    """Pages of attend and explain open at their text, head and answer, and loaded again at what their file has become."""
    made["opened"] = made["folder"] / "opened.html"

    def write(command, run, *arguments):
        subprocess.run([made["heed"], command, made["folder"] / f"{run} <b>", *arguments, "--html", made["opened"]], check=True,
                       capture_output=True)

    def reload():
        browser.loaded = False
        browser.value("location.reload()")
        while not browser.loaded:
            browser.read()
        wait(browser, "now !== null && !busy")

    texts = "[$('source').value, $('text').value]"
    write("attend", "pairs", TEXT, "--target", HOSTILE[1], "--layer", "1", "--head", "2")
    open_page(browser, "opened")
    check(browser.value(texts) == [TEXT, HOSTILE[1]], f"opens with {browser.value(texts)}")
    check(browser.value("nameOfHead()") == "cross.1.2", f"opens at {browser.value('nameOfHead()')}")
    check("float16" in browser.value("$('about').textContent"), "float16 is not said")
    type_text(browser, "source", "word")
    wait(browser, "location.hash.includes('text=word&')")
    reload()
    check(browser.value(texts) == ["word", HOSTILE[1]], f"loaded again it has {browser.value(texts)}")
    write("attend", "pairs", HOSTILE[2])
    reload()
    check(browser.value(texts)[0] == HOSTILE[2], f"an older text stays: {browser.value(texts)}")
    write("explain", "gpt", TEXT, "--answer", "word", "--against", HOSTILE[3])
    open_page(browser, "opened")
    wait(browser, "!busy")
    check(browser.value("[$('text').value, now.answer.piece, now.against.piece]") == [TEXT, "word", HOSTILE[3]], "another answer")
    unharmed(browser)


check_page("live", make_page, check_example, check_numbers, check_pairs, check_gpt, check_bert, check_t5, check_views, check_opening)
