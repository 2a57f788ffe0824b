// Attention maps of the page's frames: the current choice, its weights, and pictures of them.
// A page has #kinds with a radio button per kind, #heads with a picture per head, #views with a radio
// button per view of the chosen head, #map and #lines for the view, and #save to save it.
// The page of a run opens at its best model, which other commands use.
const opened = (data.frames.findIndex((f) => f.step === data.best?.step) + 1 || data.frames.length) - 1;
const at = { frame: opened, kind: data.kinds.length - 1, layer: 0, head: 0, query: 0, view: 0 };
const frame = () => data.frames[at.frame];
const kind = () => data.kinds[at.kind];
const queries = () => kind().queries;
const keys = () => kind().keys;
const visible = (q) => (kind().name === "decoder" ? q + 1 : keys().length);  // how many keys row q sees
const headName = () => `${nameOf(kind().name)}, layer ${at.layer}, head ${at.head}`;

// "un → homme": in a decoder, the row of a token predicts the next one. After the last token, a dashed
// arrow points to the most probable next one, or a plain one to what follows, if the page has it. name(token) is shown
// for a token.
function rowLabel(q, name = shown) {
  const token = name(queries()[q]);
  if (kind().name === "encoder") return token;
  if (q + 1 < queries().length) return `${token} → ${name(queries()[q + 1])}`;
  return `${token} ${data.next ? "⇢ " + name(data.next[q][0].token) : "→ " + (data.follows ? name(data.follows) : "…")}`;
}

// `count` bytes of a base64 text, starting at byte `begin`.
function bytesOf(text, begin, count) {
  const skip = begin % 3, letters = atob(text.slice((4 * (begin - skip)) / 3, 4 * Math.ceil((begin + count) / 3)));
  const bytes = new Uint8Array(count);
  for (let i = 0; i < count; ++i) bytes[i] = letters.charCodeAt(skip + i);  // from() is far slower
  return bytes;
}

// [query][key] of a head. A frame has a byte for each weight, its square root in 255ths, unpacked on
// first use.
function headWeights(layer, head) {
  const place = layer * kind().heads + head;
  const known = ((frame().unpacked ??= {})[at.kind] ??= {}), size = queries().length * keys().length;
  return (known[place] ??= Float32Array.from(bytesOf(frame().weights[at.kind], place * size, size), (b) => (b / 255) ** 2));
}
// What the chosen head does, in words.
function drawPattern() {
  const words = frame().words[kind().name][at.layer * kind().heads + at.head] ?? "";  // an older heed wrote none
  const [, said, numbers] = words.replace(/“(<0x0A>|\\n)”/, "“↵”").match(/^(.*?)( \([^(]*\))?$/s);
  $("pattern").replaceChildren(`${headName()}: ${said}`, element("small", {}, numbers ?? ""));
}
// The weights of a row of the chosen head.
function weights(query) {
  const n = keys().length;
  return Array.from(headWeights(at.layer, at.head).subarray(query * n, (query + 1) * n));
}

// 101 colours from the page's colour to another.
const shadesOf = (colour) => {
  const [from, to] = [variable("--page"), variable(colour)];
  return Array.from({ length: 101 }, (_, i) => mixed(from, to, i / 100));
};

// The small pictures, one row per layer.

const buttonsOfHeads = () => [...$("heads").querySelectorAll("button")];

function makeHeads() {
  const { layers, heads } = kind(), label = (text, look = "") => element("span", { class: look, "aria-hidden": true }, text);
  const size = { width: keys().length, height: queries().length, "aria-hidden": true };
  const button = (layer, head) => {
    const e = element("button", { type: "button", "aria-label": `layer ${layer}, head ${head}` }, element("canvas", size));
    e.addEventListener("click", () => choose({ layer, head }));
    return e;
  };
  const numbers = (n) => [...Array(n).keys()];
  $("heads").style.gridTemplateColumns = `max-content repeat(${heads}, minmax(2.7rem, 6.5rem))`;
  $("heads").replaceChildren(label("head", "layer"), ...numbers(heads).map((h) => label(h)),
    ...numbers(layers).flatMap((layer) =>
      [label("layer " + layer, "layer"), ...numbers(heads).map((head) => button(layer, head))]));
}

function drawHeads() {
  const shades = shadesOf("--weight").map(([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r);
  buttonsOfHeads().forEach((button, i) => {
    const context = button.firstChild.getContext("2d"), image = context.createImageData(keys().length, queries().length);
    const pixels = new Uint32Array(image.data.buffer);
    headWeights(Math.floor(i / kind().heads), i % kind().heads)
      .forEach((w, cell) => { pixels[cell] = shades[Math.round(100 * Math.sqrt(w))]; });
    context.putImageData(image, 0, 0);
  });
}

function markChosen() {
  buttonsOfHeads().forEach((button, i) => {
    const chosen = i === at.layer * kind().heads + at.head;
    button.setAttribute("aria-pressed", chosen);
    button.tabIndex = chosen ? 0 : -1;
  });
}

// Fits cells and labels into the map's box; heads of columns stand upright if they have no room side by side.
function fitMap(labels, columns) {
  const box = $("map").parentNode.clientWidth - 2, width = (text) => Math.ceil(pen.measureText(text).width) + 10;
  const widest = labels.reduce((most, text) => Math.max(most, width(text)), 0);
  const size = Math.max(4, Math.min(30, Math.floor((box - Math.min(widest, 0.4 * box)) / columns.length)));
  const beside = columns.reduce((sum, text) => sum + Math.max(size, width(text)), 0);
  const upright = beside > box - Math.min(widest, 0.4 * box);
  $("map").style.setProperty("--cell", size + "px");
  $("map").style.setProperty("--label", box - (upright ? columns.length * size : beside) + "px");
  $("map").classList.toggle("upright", upright);
  $("map").classList.toggle("narrow", size < 24);
}

// Fills the table with row(query) for each query, as percentages on a shade of the colour, or of
// another below 0. The tokens that a row of a decoder cannot see share one cell.
function drawMap({ name, colour, against, row, of = () => "in percent of each row" }, after) {
  const styles = (c) => shadesOf(c).map((rgb) => `background: rgb(${rgb}); color: ${inkOn(rgb)}`);
  const shades = styles(colour), below = against && styles(against);
  const cell = (x) => {
    const share = Math.abs(x), number = share >= 0.005 ? (100 * x).toFixed(0).replace("-", "−") : "";
    const e = element("td", {}, number);
    if (number) e.title = number + "\u00a0%";
    e.style.cssText = (x < 0 ? below : shades)[Math.round(100 * share)];
    return e;
  };
  const labels = queries().map((_, q) => rowLabel(q)), columns = keys().map(shown);
  fitMap(labels, columns);
  $("map").replaceChildren(element("caption", {}, `${name} ${of()}${after}`), ...rowsOf(["", ...columns], []));
  $("map").tBodies[0].append(...labels.map((label, q) =>
    element("tr", {}, element("th", { scope: "row" }, label), ...row(q).slice(0, visible(q)).map(cell),
      ...(visible(q) < keys().length ? [element("td", { class: "hidden", colspan: keys().length - visible(q) })] : []))));
}

// The views of the chosen head: maps, { name, colour, row(query), perhaps about and formula }, then lines.
const views = [{ name: "Weights", colour: "--weight", row: weights }];
let drawChosen;  // drawChosen() draws the chosen frame, kind and head

// `after` ends the caption of a map; lines call chooseRow(query).
function drawView(chooseRow, after = "") {
  const map = views[at.view];
  for (const place of ["map", "lines"]) $(place).replaceChildren();
  $("lines").toggleAttribute("hidden", Boolean(map));
  $("about-view").replaceChildren(map?.about ?? "", element("small", {}, map?.formula ?? ""));
  if (map) drawMap(map, after);
  else drawLines(chooseRow);
}

function choose(change) {
  Object.assign(at, change);
  if ("kind" in change) {
    makeHeads();
    $("kinds").querySelectorAll("input")[at.kind].checked = true;
  }
  if (!("head" in change) || "kind" in change) drawHeads();  // not if only the head changes
  markChosen();
  drawPattern();
  drawChosen();
}

function startMaps(draw) {
  drawChosen = draw;
  radios($("views"), "view", [...views.map((map) => map.name), "Lines between words"], at.view, (view) => {
    at.view = view;
    drawChosen();
  });
  $("save").append(saveButton("the chosen head", () => (views[at.view] ? saveMap(views[at.view]) : saveLines())));
  radios($("kinds"), "kind", data.kinds.map((k) => nameOf(k.name)), at.kind, (i) => {
    at.kind = i;
    choose({ kind: i, ...data.first[kind().name], query: queries().length - 1 });
  });
  arrows($("heads"), true, () => kind().heads);
  for (const media of ["(prefers-color-scheme: dark)", "print"])
    matchMedia(media).addEventListener("change", () => choose({}));
  choose({ kind: at.kind });
}
