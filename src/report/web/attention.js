// The page of `heed attend --html`: one frame, with the lengths of the values.

// [key] || v W_O || in the chosen head.
function lengths() {
  const n = keys().length, begin = (at.layer * kind().heads + at.head) * n;
  return frame().lengths[at.kind].slice(begin, begin + n);
}
// The contributions of a row as shares of their sum.
function shares(query) {
  const l = lengths(), c = weights(query).map((w, i) => w * l[i]), sum = c.reduce((a, b) => a + b, 0);
  return c.map((x) => (sum > 0 ? x / sum : 0));
}

function drawQueries() {
  $("queries").replaceChildren(...queries().map((token, q) => {
    const button = element("button", { type: "button" }, shown(token));
    for (const event of ["pointerenter", "focus", "click"]) button.addEventListener(event, () => chooseToken(q));
    return button;
  }));
}

function keyOf(token, weight, share) {
  const name = element("span", {}, shown(token));
  paint(name, mixed(variable("--page"), variable("--weight"), weight));
  const bar = (measure, x) => {
    const e = element("i");
    e.style.width = 100 * x + "%";
    e.style.background = `var(--${measure})`;
    return e;
  };
  const number = (measure, x) => element("small", { class: measure }, (100 * x).toFixed(0));
  return element("div", { class: "key" }, name, number("weight", weight), bar("weight", weight),
    bar("share", share), number("share", share));
}

function drawToken() {
  const w = weights(at.query), s = shares(at.query), l = lengths();
  [...$("queries").children].forEach((button, q) => {
    button.setAttribute("aria-pressed", q === at.query);
    button.tabIndex = q === at.query ? 0 : -1;
  });
  $("keys").replaceChildren(...keys().map((token, k) => keyOf(token, w[k], s[k])));
  const order = [...w.keys()].sort((a, b) => w[b] - w[a]).slice(0, 3).filter((k) => w[k] >= 0.005);
  $("summary").textContent = `“${shown(queries()[at.query])}”, row ${at.query}, looks at ` +
    order.map((k) => `“${shown(keys()[k])}” (position ${k}) ${percent(w[k])}, contribution ${percent(s[k])}`)
      .join("; ") + ".";
  $("numbers").replaceChildren(...rowsOf(["token", "position", "weight", "‖V W_O‖", "contribution", "share"],
    keys().map((token, k) =>
      [shown(token), k, w[k].toFixed(4), l[k].toFixed(3), (w[k] * l[k]).toFixed(4), percent(s[k])])));
  for (const table of ["weights", "shares"])
    [...$(table).tBodies[0].rows].forEach((row, q) => row.classList.toggle("chosen", q === at.query));
}

function draw() {
  $("head-title").textContent = "Whole head: " + headName();
  drawMap($("weights"), "Weights", "--weight", (q) => weights(q));
  drawMap($("shares"), "Contributions, shares of the row", "--share", shares);
  drawQueries();
  drawToken();
}

function chooseToken(query) {
  if (query === at.query) return;
  at.query = query;
  drawToken();
}

$("about").textContent = data.about;
document.title = "Attention: " + data.about;
const { kind: first, layer, head } = data.start;
Object.assign(at, { kind: data.kinds.findIndex((k) => k.name === first), layer, head });
startMaps(draw);
arrows($("queries"), false);
for (const table of ["weights", "shares"])
  $(table).addEventListener("pointerover", (event) => {
    const row = event.target.closest("tbody tr");
    if (row) chooseToken(row.sectionRowIndex);
  });
