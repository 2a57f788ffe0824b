// The page of `heed attend --html`: one frame, plus the lengths of the values.

// [key] || v W_O || in the chosen head.
function lengths() {
  const n = keys().length, begin = (at.layer * kind().heads + at.head) * n;
  return data.lengths[kind().name].slice(begin, begin + n);
}
// The contributions of a row as shares of their sum.
function shares(query) {
  const l = lengths(), c = weights(query).map((w, i) => w * l[i]), sum = c.reduce((a, b) => a + b, 0);
  return c.map((x) => (sum > 0 ? x / sum : 0));
}

function drawTexts() {
  const texts = [[data.target ? "source" : "text", data.source], [data.source ? "target" : "text", data.target]];
  $("texts").replaceChildren(...texts.filter(([, text]) => text)
    .flatMap(([name, text]) => [element("dt", {}, name), element("dd", { dir: "auto" }, signs(text).replaceAll("↵", "↵\n"))]));
}

function drawQueries() {
  $("queries").replaceChildren(...queries().map((token, q) => {
    const button = element("button", { type: "button" }, shown(token));
    for (const event of ["pointerenter", "focus", "click"]) button.addEventListener(event, () => chooseToken(q));
    return button;
  }));
}

const bar = (measure, x) => {
  const e = element("i");
  e.style.width = 100 * x + "%";
  e.style.background = `var(--${measure})`;
  return e;
};

function keyOf(token, weight, share) {
  const name = element("span", {}, shown(token));
  paint(name, mixed(variable("--page"), variable("--weight"), weight));
  const number = (measure, x) => element("small", { class: measure }, (100 * x).toFixed(0));
  return element("div", { class: "key" }, name, number("weight", weight), bar("weight", weight),
    bar("share", share), number("share", share));
}

// The most probable next tokens after the chosen one; the actual next token is marked.
function drawNext() {
  const best = kind().name === "encoder" ? [] : (data.next?.[at.query] ?? []);
  const follows = queries()[at.query + 1];
  $("next").hidden = best.length === 0;
  $("next-title").textContent = `Most probable after “${shown(queries()[at.query])}”`;
  $("next-tokens").replaceChildren(...best.map(({ token, p }) => element("tr", {},
    element("th", { scope: "row" }, shown(token)), element("td", {}, percent(p)),
    element("td", { class: "bar" }, bar("weight", p)), element("td", {}, token === follows ? "comes next" : ""))));
}

function drawToken() {
  const w = weights(at.query), s = shares(at.query), l = lengths(), token = `“${shown(queries()[at.query])}”`;
  [...$("queries").children].forEach((button, q) => {
    button.setAttribute("aria-pressed", q === at.query);
    button.tabIndex = q === at.query ? 0 : -1;
  });
  $("keys").replaceChildren(...keys().map((key, k) => keyOf(key, w[k], s[k])));
  const order = [...w.keys()].sort((a, b) => w[b] - w[a]).slice(0, 3).filter((k) => w[k] >= 0.005);
  const next = queries()[at.query + 1];
  const task = kind().name === "encoder" ? `${token}, row ${at.query},`
    : next === undefined ? `After ${token}, row ${at.query}, the model`
      : `To predict “${shown(next)}” after ${token}, row ${at.query}, the model`;
  $("summary").textContent = `${task} looks at ` +
    order.map((k) => `“${shown(keys()[k])}” (position ${k}) ${percent(w[k])}, contribution ${percent(s[k])}`)
      .join("; ") + ".";
  const more = views.filter((view) => view.numbers), columns = more.map((view) => view.numbers(at.query));
  for (const view of more) $("summary").textContent += " " + view.inWords(at.query);
  drawNext();
  $("numbers").replaceChildren(...rowsOf(["token", "position", "weight", "‖V W_O‖", "contribution", "share",
    ...more.map((view) => view.name.toLowerCase())], keys().map((key, k) => [shown(key), k, w[k].toFixed(4), l[k].toFixed(3),
    (w[k] * l[k]).toFixed(4), percent(s[k]), ...columns.map((column) => column[k])])));
  [...($("map").tBodies[0]?.rows ?? [])].forEach((row, q) => row.classList.toggle("chosen", q === at.query));
}

function draw() {
  drawView(chooseToken);
  drawQueries();
  drawToken();
}

function chooseToken(query) {
  if (query === at.query) return;
  at.query = query;
  drawToken();
}

// Loads the page again while nobody touches it, and shows the same head of what its file has become.
function follow() {
  const { kind: before, ...head } = history.state ?? {}, now = data.kinds[before];
  if (now && head.layer < now.layers && head.head < now.heads) Object.assign(at, { kind: before, ...head });
  let touched = Date.now();
  for (const touch of ["pointermove", "keydown", "scroll", "click"]) addEventListener(touch, () => { touched = Date.now(); });
  setInterval(() => {
    if (Date.now() - touched < 2000) return;
    history.replaceState({ kind: at.kind, layer: at.layer, head: at.head, view: at.view }, "");
    location.reload();
  }, 1000);
}

$("about").textContent = data.about;
document.title = "Attention: " + data.about;
drawTexts();
at.kind = data.kinds.length - 1;
Object.assign(at, data.first[kind().name]);
views.splice(1, 0, { name: "Contributions", colour: "--share", row: shares });
if (data.reloads) follow();
at.query = queries().length - 1;
startMaps(draw);
arrows($("queries"), false);
$("map").addEventListener("pointerover", (event) => {
  const row = event.target.closest("tbody tr");
  if (row) chooseToken(row.sectionRowIndex);
});
