// Attention maps of the page's frames: the current choice, its weights, and pictures of them.
// A page has #kinds for a radio button per kind and #heads for a picture per head.
const at = { frame: data.frames.length - 1, kind: data.kinds.length - 1, layer: 0, head: 0, query: 0 };
const frame = () => data.frames[at.frame];
const kind = () => data.kinds[at.kind];
const queries = () => kind().queries;
const keys = () => kind().keys;
const headName = () => `${names[kind().name]}, layer ${at.layer}, head ${at.head}`;

// The weights of a row of the chosen head, or of another head.
function weights(query, layer = at.layer, head = at.head) {
  frame().unpacked ??= frame().weights.map(
    (text) => new Uint16Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer));
  const n = keys().length, begin = ((layer * kind().heads + head) * queries().length + query) * n;
  return Array.from(frame().unpacked[at.kind].subarray(begin, begin + n), (x) => x / 10000);
}

function makeHeads() {
  const size = { width: keys().length, height: queries().length, "aria-hidden": true }, buttons = [];
  for (let layer = 0; layer < kind().layers; ++layer)
    for (let head = 0; head < kind().heads; ++head) {
      const button = element("button", { type: "button" }, element("canvas", size), `layer ${layer}, head ${head}`);
      button.addEventListener("click", () => choose({ layer, head }));
      buttons.push(button);
    }
  $("heads").replaceChildren(...buttons);
}

function drawHeads() {
  const from = variable("--page"), to = variable("--weight"), n = queries().length, m = keys().length;
  [...$("heads").children].forEach((button, i) => {
    const layer = Math.floor(i / kind().heads), head = i % kind().heads;
    const chosen = layer === at.layer && head === at.head;
    button.setAttribute("aria-pressed", chosen);
    button.tabIndex = chosen ? 0 : -1;
    const context = button.firstChild.getContext("2d"), image = context.createImageData(m, n);
    for (let q = 0; q < n; ++q)
      weights(q, layer, head).forEach((w, k) =>
        image.data.set([...mixed(from, to, Math.sqrt(w)), 255], 4 * (q * m + k)));
    context.putImageData(image, 0, 0);
  });
}

// Fills a table with row(query) for each query, as percentages on a shade of the colour.
function drawMap(table, title, colour, row) {
  const from = variable("--page"), to = variable(colour);
  const cell = (x, q, k) => {
    if (kind().name === "decoder" && k > q) return element("td", { class: "hidden" });
    const e = element("td", {}, x >= 0.005 ? (100 * x).toFixed(0) : "");
    paint(e, mixed(from, to, x));
    return e;
  };
  table.replaceChildren(element("caption", {}, title), ...rowsOf(["", ...keys().map(shown)], []));
  table.tBodies[0].append(...queries().map((token, q) =>
    element("tr", {}, element("th", { scope: "row" }, shown(token)), ...row(q).map((x, k) => cell(x, q, k)))));
}

let drawChosen;  // draws the page's view of the chosen frame, kind and head

function choose(change) {
  Object.assign(at, change);
  if ("kind" in change) makeHeads();
  drawHeads();
  drawChosen();
}

function startMaps(draw) {
  drawChosen = draw;
  data.kinds.forEach((k, i) => {
    const input = element("input", { type: "radio", name: "kind", value: k.name });
    input.checked = i === at.kind;
    input.addEventListener("change", () =>
      choose({ kind: i, layer: Math.min(at.layer, k.layers - 1), query: 0 }));
    $("kinds").append(element("label", {}, input, " " + names[k.name]));
  });
  arrows($("heads"), true);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => choose({}));
  choose({ kind: at.kind });
}
