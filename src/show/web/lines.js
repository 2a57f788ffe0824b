// The chosen head as lines between words: keys on the left, queries on the right; the stronger a
// line, the larger the weight. Pointing at a word, or moving to it with the arrow keys, shows only
// its own lines.

const least = 0.02;  // smaller weights have no line
const cut = (token) => shown(token).replace(/^(.{13}).{2,}/su, "$1…");
const sides = () => [keys().map(cut), queries().map((_, q) => rowLabel(q, cut))];
const pen = document.createElement("canvas").getContext("2d");
pen.font = "13px ui-monospace, monospace";
const widest = (side) => Math.max(70, largest(side.map((text) => pen.measureText(text).width)));

function drawLines(chooseRow) {
  const picture = $("lines"), texts = sides(), [left, right] = texts.map((side) => 10 + widest(side)), lines = [];
  const room = picture.parentNode.clientWidth - left - right - 30, y = (i) => 40 + 22 * i;
  const from = left + 4, to = left + Math.max(70, Math.min(220, room));
  const width = to + right, height = y(Math.max(keys().length, queries().length)) - 12;
  queries().forEach((_, q) => weights(q).forEach((w, k) => {
    if (w < least) return;
    const line = graphic("line", { x1: from, y1: y(k), x2: to, y2: y(q), "stroke-opacity": w.toFixed(3) });
    lines.push({ line, ends: [k, q] });
  }));
  // side 0 is the left side
  const only = (side, i) => lines.forEach(({ line, ends }) => {
    line.style.display = side === null || ends[side] === i ? "" : "none";
  });
  const column = (side) => {
    const words = texts[side].map((text, i) => {
      const others = lines.filter(({ ends }) => ends[side] === i).length;
      const x = side === 0 ? left : to + 4;
      const word = graphic("g", { class: "word", role: "button", tabindex: i === 0 ? 0 : -1,
        "aria-label": `${text}, ${others} lines` },
      graphic("rect", { x: side === 0 ? 0 : x - 2, y: y(i) - 10, width: side === 0 ? left + 2 : right, height: 20,
        fill: "transparent" }),
      graphic("text", { x, y: y(i) + 4.5, "text-anchor": side === 0 ? "end" : "start" }, text));
      for (const event of ["pointerenter", "focus"])
        word.addEventListener(event, () => {
          only(side, i);
          words.forEach((other) => other.setAttribute("tabindex", other === word ? 0 : -1));
          if (side === 1) chooseRow(i);
        });
      for (const event of ["pointerleave", "blur"]) word.addEventListener(event, () => only(null));
      return word;
    });
    const group = graphic("g", { role: "group", "aria-label": side === 0 ? "Tokens looked at" : "Rows" }, ...words);
    arrows(group, false);
    return group;
  };
  const title = (x, anchor, text) => graphic("text", { class: "title", x, y: 16, "text-anchor": anchor }, text);
  filled(picture, { viewBox: `0 0 ${width} ${height}`, width, height }, []);
  picture.replaceChildren(title(left, "end", "looked at"), title(to + 4, "start", "looks"),
    ...lines.map(({ line }) => line), column(0), column(1));
}

function saveLines() {
  const { width, height } = $("lines");
  saveSvg(headName() + ", lines", width.baseVal.value, height.baseVal.value, ...copied($("lines")).childNodes);
}

// The chosen head as a file: its map, with a percentage in each cell.
function saveMap({ name, colour, against, row }) {
  const size = 26, [columns, rows] = sides(), from = variable("--page");
  const text = (x, y, words, more) => graphic("text", { x, y, "font-family": "ui-monospace, monospace", "font-size": 13,
    fill: `rgb(${variable("--text")})`, ...more }, words);
  const [left, top] = [rows, columns].map((side) => 12 + widest(side));
  const cells = queries().flatMap((_, q) => row(q).slice(0, visible(q)).flatMap((w, k) => {
    const fill = mixed(from, variable(w < 0 ? against : colour), Math.abs(w)), x = left + k * size, y = top + q * size;
    return [graphic("rect", { x, y, width: size - 1, height: size - 1, fill: `rgb(${fill})` }),
      ...(Math.abs(w) < 0.005 ? [] : [text(x + size / 2, y + 17, (100 * w).toFixed(0),
        { "text-anchor": "middle", "font-size": 11, fill: inkOn(fill) })])];
  }));
  saveSvg(headName() + (against ? ", " + name.toLowerCase() : ""), left + size * keys().length, top + size * queries().length, ...cells,
    ...rows.map((label, q) => text(left - 8, top + q * size + 17, label, { "text-anchor": "end" })),
    ...columns.map((label, k) =>
      text(0, 0, label, { transform: `translate(${left + k * size + 17} ${top - 8}) rotate(-90)` })));
}
