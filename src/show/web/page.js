// Shared by the pages: data, elements, numbers, tables, colours and keys.
const data = JSON.parse(document.getElementById("data").textContent);
const names = { encoder: "encoder self-attention", decoder: "decoder self-attention", cross: "cross-attention" };
const nameOf = (kind) => (Object.hasOwn(names, kind) ? names[kind] : kind);  // a later heed may know another
const svgSpace = "http:" + "//www.w3.org/2000/svg";  // a name, not an address: a page loads nothing

const $ = (id) => document.getElementById(id);
const find = (selector) => document.querySelector(selector);
function filled(e, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...children);
  return e;
}
const element = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
const graphic = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS(svgSpace, tag), attributes, children);

// A line end, a tab and other control characters as signs: ↵, ⇥, ␀, ␁, ...
const signs = (text) => text.replace(/[\0-\x1f]/g, (c) => (c === "\n" ? "↵" : c === "\t" ? "⇥" : String.fromCharCode(0x2400 + c.charCodeAt(0))));
// A token that is written from right to left is isolated, so that an arrow beside it stays in its place.
const shown = (token) => (token === "" ? "∅" : signs(token.replaceAll(" ", "␣")
  .replace(/^\\n$/, "\n").replace(/^<0x([01][0-9A-F])>$/, (_, byte) => String.fromCharCode(parseInt(byte, 16)))
  .replace(/.*[\u0590-\u08ff\ufb1d-\ufefc].*/s, "\u2068$&\u2069")));
const percent = (x) => (x > 0 && x < 1e-6 ? "≈ 0" : x > 0 && x < 0.01 ? String(Number((100 * x).toPrecision(2))) : (100 * x).toFixed(1)) + "\u00a0%";

// Three significant digits: "12.3k", "0.0123", "9.1e-7". Null becomes "".
function short(x) {
  if (x === null) return "";
  const size = Math.abs(x);
  if (size >= 999.95e6 && size < 1e9) return (x / 1e9).toFixed(1) + "G";
  if (size >= 999.95e3 && size < 1e9) return (x / 1e6).toFixed(1) + "M";
  if (size >= 1e4 && size < 1e9) return (x / 1e3).toFixed(1) + "k";
  if (size >= 1e3 && size < 1e9) return x.toFixed(0);
  const rounded = Number(x.toPrecision(3));
  return size >= 1e9 || (size > 0 && size < 1e-4) ? rounded.toExponential() : String(rounded);
}

const largest = (all) => all.reduce((most, x) => Math.max(most, x), -Infinity);
const smallest = (all) => -largest(all.map((x) => -x));

// At most n of the indices below `size`, evenly spaced, including the first and the last.
function spread(size, n) {
  if (size <= n) return [...Array(size).keys()];
  return [...Array(n).keys()].map((i) => Math.floor((i * (size - 1)) / (n - 1)));
}

// The head and body of a table. The first cell of a row is its header.
function rowsOf(titles, rows) {
  const row = ([first, ...others]) =>
    element("tr", {}, element("th", { scope: "row" }, first), ...others.map((x) => element("td", {}, x)));
  const head = element("tr", {}, ...titles.map((title) => element("th", { scope: "col" }, title)));
  return [element("thead", {}, head), element("tbody", {}, ...rows.map(row))];
}

const numbers = (titles, rows) => element("table", { class: "numbers" }, ...rowsOf(titles, rows));

// Colours between two others, with black or white text, whichever is easier to read.
function variable(name) {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}
const mixed = (from, to, x) => from.map((c, i) => Math.round(c + (to[i] - c) * x));
function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
const inkOn = (rgb) => (luminance(rgb) > 0.179 ? "#000" : "#fff");

// A group of radio buttons with these labels.
function radios(place, name, labels, chosen, use) {
  labels.forEach((label, i) => {
    const input = element("input", { type: "radio", name, value: i });
    input.checked = i === chosen;
    input.addEventListener("change", () => use(i));
    place.append(element("label", {}, input, " " + label));
  });
}

// A group is one tab stop; arrow keys, Home and End move within it. With several columns, up and down
// move by a row.
function arrows(group, press, columns = () => 1) {
  group.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const all = [...group.querySelectorAll("button, .word")], now = all.indexOf(document.activeElement);
    const to = { ArrowRight: now + 1, ArrowDown: now + columns(), ArrowLeft: now - 1, ArrowUp: now - columns(),
      Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || !all[to] || to === now) return;
    event.preventDefault();
    all[to].focus();
    if (press) all[to].click();
  });
}
