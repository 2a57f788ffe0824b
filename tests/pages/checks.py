"""Checks for every page that heed writes."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import xml.dom.minidom

from browser import Browser

# Every element with text of its own: its colour against the first opaque background beneath it.
CONTRAST = """(() => {
  const rgb = (s) => s.match(/[\\d.]+/g).map(Number);
  const light = (c) => c.slice(0, 3).map((x) => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
    .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
  let worst = [99, ""];
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility()) continue;
    if (["SCRIPT", "STYLE"].includes(e.tagName)) continue;
    let below = e;
    while (below && (rgb(getComputedStyle(below).backgroundColor)[3] ?? 1) === 0) below = below.parentElement;
    const style = getComputedStyle(e), a = light(rgb(e.tagName === "text" ? style.fill : style.color));
    const b = light(rgb(getComputedStyle(below).backgroundColor));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, e.tagName + " " + e.textContent.slice(0, 40)];
  }
  return worst;
})()"""
FOCUS = """(() => {
  const e = document.activeElement, style = getComputedStyle(e);
  return [e.closest("[id]")?.id ?? "", e.tagName, style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    (e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? e.textContent).trim()];
})()"""

failures = 0


def check(holds, what):
    global failures
    if not holds:
        failures += 1
        print("FAILED:", what)


def wait_until(browser, expression, told, seconds):
    """Until it holds: workers and frames answer in their own time. `told`: an expression that says why not."""
    for _ in range(20 * seconds):
        if browser.value(expression):
            return
        time.sleep(0.05)
    check(False, f"{expression} never holds: {browser.value(told)}")


def check_looks(browser, page, pictures, title):
    """No request, no script error, no sideways scrolling, contrast: narrow and wide, light and dark."""
    text = page.read_text(encoding="utf-8")  # fails if it is not UTF-8
    ids = re.findall(r'<[^<>]* id="([^"]*)"', text[:text.index('id="data"')])
    check(len(set(ids)) == len(ids), f"an id is there twice: {ids}")
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    for width in (360, 900, 1440):
        for dark in (False, True):
            name = f"{width} px, {'dark' if dark else 'light'}"
            browser.open(page, width, dark=dark)
            if pictures:
                browser.screenshot(pictures / f"{title}-{width}-{'dark' if dark else 'light'}.png")
            browser.value("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            asked = [r for r in browser.requests if not r.startswith("blob:")]  # a worker's script, from the page itself
            check(asked == [page.resolve().as_uri()], f"{name}: requests {browser.requests}")
            check(not browser.errors, f"{name}: {browser.errors}")
            check(browser.value("document.documentElement.scrollWidth") <= width, f"{name}: scrolls sideways")
            ratio, where = browser.value(CONTRAST)
            check(ratio >= 4.5, f"{name}: contrast {ratio:.2f} at {where}")
            print(f"{name}: least contrast {ratio:.2f} : 1")


def tab_stops(browser, most):
    """(place, tag) of each tab stop; all must be visible and have a name."""
    stops = []
    for _ in range(most):
        browser.press("Tab")
        place, tag, visible, name = browser.value(FOCUS)
        if tag == "BODY":
            break
        check(visible, f"focus on {place} {tag} can't be seen")
        check(name, f"{place} {tag} has no name")
        stops.append((place, tag))
    return stops


def go_to(browser, place, most):
    """Moves the focus there with at most this many presses of the tab key."""
    browser.value("document.activeElement.blur()")
    for _ in range(most):
        browser.press("Tab")
        if browser.value(FOCUS)[0] == place:
            return
    check(False, f"{place} can't be reached")


def changes(browser, key, expression, what):
    before = browser.value(expression)
    browser.press(key)
    check(browser.value(expression) != before, what)


def saved(browser, folder, selector):
    """The XML of the file that pressing Enter on the selected button saves, or None. Removes the saved files."""
    folder.mkdir(exist_ok=True)
    browser.save_downloads_in(folder)
    browser.value(f"document.querySelector('{selector}').focus()")
    requested = lambda: [r for r in browser.requests if not r.startswith("blob:")]
    before = requested()
    browser.press("Enter")
    for _ in range(100):
        # Chromium makes an empty file of this name first, and moves the whole one over it
        files = [f for f in folder.glob("*.svg") if f.stat().st_size > 0]
        if files:
            break
        time.sleep(0.1)
    check(files, f"{selector} saves nothing")
    check(requested() == before, f"saving asks for {browser.requests}")
    check(not browser.errors, f"saving: {browser.errors}")
    if not files:
        return None
    text = files[0].read_text(encoding="utf-8")
    files[0].unlink()
    check("var(--" not in text and "http" not in text.replace("http://www.w3.org/2000/svg", ""),
          f"{files[0].name} needs something else")
    return xml.dom.minidom.parseString(text)


def words_of(picture):
    return [e.firstChild.data for e in picture.getElementsByTagName("text") if e.firstChild] if picture else []


def train(heed, folder, config):
    """A run of the config, with texts from the folder."""
    (folder / "config.json").write_text(json.dumps(config))
    subprocess.run([heed, "train", folder / "config.json", "--run", folder / "run", "--quiet"], check=True)
    return folder / "run"


def check_page(title, make_page, *checks):
    """The whole check: makes the page with the program given on the command line, opens it, and runs checks(browser, page)."""
    heed = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        page = make_page(heed, pathlib.Path(folder))
        check_looks(browser, page, pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None, title)
        for more in checks:
            more(browser, page)
    print("the page is fine" if failures == 0 else f"{failures} failed")
    sys.exit(failures > 0)
