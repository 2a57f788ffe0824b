const names = { encoder: "encoder, itself", decoder: "decoder, itself", cross: "decoder to encoder" };
const $ = (id) => document.getElementById(id);
const element = (tag, text, attributes = {}) => {
  const e = document.createElement(tag);
  e.textContent = text;
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  return e;
};
const shown = (token) => (token === "" ? "∅" : token.replaceAll(" ", "␣"));
const percent = (x) => (100 * x).toFixed(1) + " %";

// Colours: from the page's to the full one; black or white letters, whichever are easier to read.
function variable(name) {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}
const mixed = (from, to, x) => from.map((c, i) => Math.round(c + (to[i] - c) * x));
function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function paint(e, rgb) {
  e.style.background = `rgb(${rgb})`;
  e.style.color = luminance(rgb) > 0.179 ? "#000" : "#fff";
}

// One stop of the tab key for each group; arrow keys, Home and End move within it.
function arrows(group, press) {
  group.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const all = [...group.children], now = all.indexOf(document.activeElement);
    const to = { ArrowRight: now + 1, ArrowDown: now + 1, ArrowLeft: now - 1, ArrowUp: now - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || !all[to]) return;
    event.preventDefault();
    all[to].focus();
    if (press) all[to].click();
  });
}
