// The page of `heed ablate --html`: a table with a bar and its interval for each part.

const sorts = [["All", () => true], ["Heads", (p) => p.sort === "head"], ["Layers", (p) => p.sort === "layer"],
  ["Feed-forward", (p) => p.sort === "feed_forward"], ["Kinds of attention", (p) => p.sort === "attention"]];
const room = { width: 260, height: 20 };
let chosen = 0;
const signed = (x) => (x === null ? "" : (x > 0 ? "+" : "") + short(x).replace("-", "−"));
const shownParts = () => data.parts.filter(sorts[chosen][1]);

// The bar of a part from 0 to its difference, and its interval, on the scale of the parts shown.
function barOf(part, parts) {
  const ends = [0, ...parts.flatMap((p) => [p.difference, p.low ?? 0, p.high ?? 0])];
  const [low, high] = [smallest(ends), largest(ends)];
  const x = (v) => ((v - low) / (high - low || 1)) * room.width;
  const [from, to] = [x(Math.min(0, part.difference)), x(Math.max(0, part.difference))];
  return [graphic("rect", { class: part.difference < 0 ? "bar less" : "bar", x: from, y: 4, width: Math.max(1, to - from), height: 12 }),
    ...(part.low === null ? [] : [graphic("path", { class: "interval", d: `M${x(part.low)} 10H${x(part.high)}` })])];
}

function draw() {
  const parts = shownParts();
  $("parts").replaceChildren(...rowsOf(["taken away", "difference", "", "95 % interval", "all but this one"], parts.map((p) => [
    p.name, signed(p.difference),
    graphic("svg", { viewBox: `0 0 ${room.width} ${room.height}`, "aria-hidden": true, preserveAspectRatio: "none" }, ...barOf(p, parts)),
    p.low === null ? "" : `${signed(p.low)} to ${signed(p.high)}`, signed(p.all_but_this)])));
}

function save() {
  const parts = shownParts(), left = 250;
  const text = (x, y, words) => graphic("text", { x, y, "font-family": "system-ui, sans-serif", "font-size": 12,
    fill: `rgb(${variable("--text")})` }, words);
  saveSvg(`What each part is worth: ${data.about}`, left + room.width + 70, parts.length * room.height, ...parts.flatMap((p, i) => {
    const bar = graphic("g", { transform: `translate(${left} ${i * room.height})` }, ...barOf(p, parts));
    bar.firstChild.setAttribute("fill", `rgb(${variable(p.difference < 0 ? "--share" : "--weight")})`);
    bar.childNodes[1]?.setAttribute("stroke", `rgb(${variable("--text")})`);
    return [text(0, i * room.height + 14, p.name), bar, text(left + room.width + 8, i * room.height + 14, signed(p.difference))];
  }));
}

document.title = "What each part is worth: " + data.about;
$("about").textContent = data.about;
$("method").textContent = `Whole model: ${short(data.loss)} nats per token on ${data.sequences.toLocaleString("en")} held-out ` +
  `sequences (${data.tokens.toLocaleString("en")} tokens). A part is taken away by putting ` +
  (data.replaced_by === "zero" ? "0" : "its mean over these texts") + ` in its place; ${data.passes} forward passes. A line ` +
  `across a bar is the 95 % interval (bootstrap over sequences).`;
const some = sorts.filter(([, is]) => data.parts.some(is));
radios($("sorts"), "sort", some.map(([name]) => name), 0, (i) => { chosen = sorts.indexOf(some[i]); draw(); });
$("save").append(saveButton("what each part is worth", save));
draw();
