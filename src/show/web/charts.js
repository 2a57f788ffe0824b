// Line charts: a <figure> with inline SVG. Lines differ in colour and in dashes (classes line-0 to
// line-4 and dash-0 to dash-4; line-control for a reference line). A text alternative gives the
// first, last, least and largest value of each line. Point at a chart or use its arrow keys to read
// the values at a step. A button saves the chart. On a page with a film a click or Enter moves it, and every chart marks
// the step that the film shows.

// The drawing area in SVG units; labels are to its left and below.
const area = { width: 320, height: 190, left: 44, right: 312, top: 8, bottom: 168 };
const coordinate = (x) => x.toFixed(1);
const onFilm = { choose: null, marks: [] };  // choose(step) moves the film; marks, of each chart, follow it
const markStep = (step) => onFilm.marks.forEach((mark) => mark(step));

// The points of training losses, [x, loss, what it is of]: a mean over steps lies in their middle.
const stepsOf = ({ steps, from }, i) => (from && from[i] < steps[i] ? `${from[i]} to ${steps[i]}` : steps[i]);
const trainingPoints = (train) => train.steps.map((step, i) =>
  [(train.from[i] + step) / 2, train.loss[i], train.from[i] < step ? `mean of steps ${stepsOf(train, i)}` : ""]);

// The points with the least and largest value.
function extremes(points) {
  let [least, largest] = [points[0], points[0]];
  for (const p of points) {
    if (p[1] < least[1]) least = p;
    if (p[1] > largest[1]) largest = p;
  }
  return [least, largest];
}

// Thins a line with many points: keeps the first, the last, and the least and largest of each stretch
// in between, so that no spike is lost.
function thinned(points, stretches = 150) {
  const inner = points.length - 2, out = [points[0]];
  if (inner <= 2 * stretches) return points;
  const begin = (i) => 1 + Math.floor((i * inner) / stretches);
  for (let i = 0; i < stretches; ++i)
    out.push(...extremes(points.slice(begin(i), begin(i + 1))).sort((a, b) => a[0] - b[0]));
  return [...out, points.at(-1)];
}

// "from 6.91 at step 1 to 1.3 at step 500, least 1.2 at step 450, largest 6.91 at step 1"
function inWords(points, unit) {
  const words = ([x, value]) => `${short(value)} at ${unit} ${short(x)}`;
  if (points.length === 1) return words(points[0]);
  const [least, largest] = extremes(points).map(words);
  return `from ${words(points[0])} to ${words(points.at(-1))}, least ${least}, largest ${largest}`;
}

// 1, 2 or 5 times a power of ten, at least span / 4.
function niceStep(span) {
  const power = 10 ** Math.floor(Math.log10(span / 4));
  return power * [1, 2, 5, 10].find((m) => power * m >= span / 4);
}

// An axis for these values: share(x) maps a value to [0, 1]; ticks are the labelled values.
function axisOf(values, { logarithmic = false, fromZero = false } = {}) {
  let [low, high] = [Infinity, -Infinity];
  for (const x of values) [low, high] = [Math.min(low, x), Math.max(high, x)];
  if (fromZero) low = Math.min(0, low);
  if (high - low <= 1e-6 * Math.abs(high)) {  // all values are the same
    const room = 0.1 * Math.abs(high) || 1;
    high += room;
    if (!fromZero) low = logarithmic ? low / 1.1 : low - room;
  }
  const share = logarithmic ? (x) => Math.log(x / low) / Math.log(high / low) : (x) => (x - low) / (high - low);
  let ticks = [];
  if (logarithmic)
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; ++power)
      ticks.push(...[1, 2, 5].map((m) => m * 10 ** power).filter((x) => x >= low && x <= high));
  while (ticks.length > 5) ticks = ticks.filter((_, i) => i % 2 === 0);
  if (ticks.length < 2) {
    const step = niceStep(high - low);
    ticks = [];
    for (let i = Math.ceil(low / step); i * step <= high + 1e-9 * step; ++i) ticks.push(i * step);
  }
  return { share, ticks };
}

function grid(x, y, px, py) {
  const text = (value, left, top, anchor) =>
    graphic("text", { x: coordinate(left), y: coordinate(top), "text-anchor": anchor }, short(value));
  return [
    ...y.ticks.flatMap((t) => [
      graphic("path", { class: "grid", d: `M${area.left} ${coordinate(py(t))}H${area.right}` }),
      text(t, area.left - 5, py(t) + 4, "end")]),
    ...x.ticks.map((t) => text(t, px(t), area.height - 6, "middle"))];
}

// Horizontal reference lines, [[name, value], ...]: those of options.levels that are near the values.
function levelsNear(values, options) {
  const [low, high] = values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  const room = 0.5 * (high - low || 0.1 * Math.abs(high));
  return (options.levels ?? []).filter(([, v]) => Number.isFinite(v) && v > low - room && v < high + 0.3 * room)
    .sort((a, b) => b[1] - a[1]);
}

// The height of a line at x, both in the drawing; NaN beyond its ends.
function heightAt(points, x, px, py) {
  const i = points.findIndex((p) => px(p[0]) >= x), [a, b] = [points[i - 1], points[i]];
  return a ? py(a[1]) + ((x - px(a[0])) / (px(b[0]) - px(a[0]))) * (py(b[1]) - py(a[1])) : NaN;
}

// A level's label stands where it hides least of the lines and of other labels: at the right, the left or between, above
// or below the level.
function drawLevels(levels, lines, px, py) {
  const thin = lines.map((line) => thinned(line.points)), labels = [], height = 12;
  return levels.flatMap(([name, value]) => {
    const y = py(value), text = `${name} ${short(value)}`, width = 5.5 * text.length;
    const places = [area.right - width, area.left + 4, (area.left + area.right - width) / 2]
      .flatMap((left) => [y - height, y + 1].map((top) => ({ left, top, right: left + width })));
    const hidden = ({ left, top, right }) => {
      const out = top < 0 || top + height > area.bottom;
      const other = labels.some((l) => l.left < right && left < l.right && Math.abs(l.top - top) < height);
      const covered = thin.flatMap((points) => [0, 1, 2, 3, 4, 5, 6, 7, 8].filter((i) => {
        const line = heightAt(points, left + (i * width) / 8, px, py);
        return line > top - 2 && line < top + height + 2;
      }));
      return covered.length + (out || other ? 100 : 0);
    };
    const label = places.reduce((best, place) => (hidden(place) < hidden(best) ? place : best));
    labels.push(label);
    return [graphic("path", { class: "line-control", d: `M${area.left} ${coordinate(y)}H${area.right}` }),
      graphic("text", { class: "level", x: coordinate(label.right), y: coordinate(label.top + 9), "text-anchor": "end" }, text)];
  });
}

// Reading values: a cross-hair at the step nearest to the pointer, or chosen with the arrow keys, and
// the value of each line there.
function makeReadable(picture, reading, lines, px, py, unit) {
  const steps = [...new Set(lines.flatMap((line) => line.points.map((p) => p[0])))].sort((a, b) => a - b);
  const cross = graphic("g", { class: "cross" });
  let now = steps.length - 1;
  const read = (i) => {
    now = Math.max(0, Math.min(steps.length - 1, i));
    const step = steps[now];
    const there = lines.map((line) => [line, line.points.findLast((p) => p[0] <= step)]).filter(([, p]) => p);
    cross.replaceChildren(
      graphic("path", { class: "grid", d: `M${coordinate(px(step))} ${area.top}V${area.bottom}` }),
      ...there.map(([line, p]) =>
        graphic("circle", { class: line.look, cx: coordinate(px(p[0])), cy: coordinate(py(p[1])), r: 2.5 })));
    const place = unit === "step" ? String : short;
    reading.textContent = `${unit} ${place(step)}: ` + there.map(([line, p]) => {
      const of = p[2] || (p[0] === step ? "" : `of ${unit} ${place(p[0])}`);
      return `${line.name} ${short(p[1])}${of && ` (${of})`}`.trim();
    }).join(", ");
  };
  const leave = () => { cross.replaceChildren(); reading.textContent = ""; };
  picture.append(cross);
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect(), x = ((event.clientX - box.left) / box.width) * area.width;
    const far = (i) => Math.abs(px(steps[i]) - x);
    read(steps.reduce((best, _, i) => (far(i) < far(best) ? i : best), 0));
  });
  picture.addEventListener("pointerleave", leave);
  picture.addEventListener("focus", () => read(now));
  picture.addEventListener("blur", leave);
  const choose = () => onFilm.choose?.(steps[now]);
  picture.addEventListener("click", choose);
  picture.addEventListener("keydown", (event) => {
    if (event.key === "Enter") choose();
    const jump = Math.max(1, Math.round(steps.length / 10));
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, PageDown: now - jump, PageUp: now + jump, Home: 0,
      End: steps.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    read(to);
  });
}

// The chart as a file, with its legend beneath it.
function saveChart(title, picture, legend) {
  const samples = [...legend.querySelectorAll("svg.sample")].map((sample, i) => {
    const x = area.left + (i % 3) * 95, y = area.height + 4 + 14 * Math.floor(i / 3);
    const name = graphic("text", { x: x + 28, y: y + 8, "font-family": "system-ui, sans-serif", "font-size": 10,
      fill: getComputedStyle(legend).color }, sample.parentNode.textContent);
    const mark = graphic("g", { transform: `translate(${x} ${y})` }, ...copied(sample).childNodes);
    return graphic("g", {}, mark, name);
  });
  const bottom = area.height + (samples.length > 0 ? 8 + 14 * Math.ceil(samples.length / 3) : 0);
  saveSvg(title, area.width, bottom, ...copied(picture).childNodes, ...samples);
}

// lines: [{ name, points: [[step, value, perhaps what it is of], ...], control, perhaps look, perhaps note (ends its
// group in the legend) }], with name "" for a single line. Values that are not numbers are left out, as are values <= 0
// on a logarithmic axis. options.levels: [[name, value], ...], reference lines; options.of: prefix of the file name;
// options.unit of the horizontal axis, if not steps; options.frames: [[step, value], ...], points that are the film's.
// Returns a list with one figure, or an empty list if there are no points.
function chart(title, lines, options = {}) {
  const unit = options.unit ?? "step";
  const drawable = ([x, y]) => Number.isFinite(x) && Number.isFinite(y) && (!options.logarithmic || y > 0);
  let count = 0;  // lines, not counting controls; colours repeat after five
  const drawn = lines.map((line) => {
    const n = line.control ? 0 : count++;
    const look = line.control ? "line-control" : line.look ?? `line-${n % 5} dash-${(n + Math.floor(n / 5)) % 5}`;
    return { ...line, look, points: line.points.filter(drawable) };
  }).filter((line) => line.points.length > 0);
  if (drawn.length === 0) return [];

  const all = drawn.flatMap((line) => line.points);
  const levels = levelsNear(all.map((p) => p[1]), options);
  const x = axisOf(all.map((p) => p[0]), { fromZero: true });
  const y = axisOf([...all, ...levels].map((p) => p[1]), options);
  const px = (v) => area.left + x.share(v) * (area.right - area.left);
  const py = (v) => area.bottom - y.share(v) * (area.bottom - area.top);
  const path = ({ look, points }) => points.length === 1
    ? graphic("circle", { class: look, cx: coordinate(px(points[0][0])), cy: coordinate(py(points[0][1])), r: 3 })
    : graphic("path", {
      class: look, d: "M" + thinned(points).map(([a, b]) => `${coordinate(px(a))} ${coordinate(py(b))}`).join("L") });
  const sample = ({ name, look }) => element("span", {},
    graphic("svg", { class: "sample", viewBox: "0 0 24 8", "aria-hidden": true },
      graphic("path", { class: look, d: "M0 4H24" })), name);
  const mark = graphic("path", { class: "now-shown" });
  const dots = (options.frames ?? []).filter(drawable).map(([step, value]) =>
    graphic("circle", { class: "frame", cx: coordinate(px(step)), cy: coordinate(py(value)), r: 2.5 }));
  const named = drawn.filter((line) => line.name !== "");
  const words = [...drawn.map((line) => (line.name ? line.name + " " : "") + inWords(line.points, unit)),
    ...levels.map(([name, value]) => `${name} ${short(value)}`)].join("; ");
  const legend = element("span", { class: "legend" }, ...named.flatMap((line) => [sample(line), line.note ?? "", " "]));
  const picture = graphic("svg", { class: "chart", role: "img", tabindex: 0, viewBox: `0 0 ${area.width} ${area.height}`,
    "aria-label": `${title}: ${words}` }, mark, ...grid(x, y, px, py), ...drawn.map(path), ...drawLevels(levels, drawn, px, py), ...dots);
  onFilm.marks.push((step) => mark.setAttribute("d", `M${coordinate(px(step))} ${area.top}V${area.bottom}`));
  const reading = element("output", { class: "reading" }), of = options.of ? options.of + ": " : "";
  makeReadable(picture, reading, drawn, px, py, unit);
  return [element("figure", {},
    element("figcaption", {}, title + " ", legend), picture,
    saveButton(of + title, () => saveChart(of + title, picture, legend)), reading)];
}
const charts = (...figures) => element("div", { class: "charts" }, ...figures.flat());
