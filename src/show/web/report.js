// The page of `heed report`: one function for each section.

const { train, valid } = data;
const find = (selector) => document.querySelector(selector);
const stepName = (step) => (step === 0 ? "before training" : "step " + step);
const charts = (...figures) => element("div", { class: "charts" }, ...figures.flat());
const numbers = (titles, rows) => element("table", { class: "numbers" }, ...rowsOf(titles, rows));

function about() {
  const count = (n) => n.toLocaleString("en");
  const parameters = data.parameter_count > 0 ? `, ${count(data.parameter_count)} parameters` : "";
  const text = `${count(data.last_step)} steps${parameters}`;
  if (data.best_loss === null) return text + ".";
  const i = valid.steps.lastIndexOf(data.best.step);
  const loss = `loss ${short(data.best_loss)} nats per token (perplexity ${short(perplexity(data.best_loss))})`;
  const best = data.best.by_metric ? `${data.metric} ${short(valid.metric[i])} (${loss})` : loss;
  return `${text}; best held-out ${best} at step ${data.best.step}.`;
}

// Curves of training and of held-out text.

const perplexity = (loss) => (loss === null ? null : Math.exp(loss));
const same = (x) => x;
const line = (name, curves, key, of = same) =>
  ({ name, points: curves.steps.map((step, i) => [step, of(curves[key][i])]) });

// The losses of training and of held-out text. The film knows those before the first line of the log;
// at step 0, that of the text which it shows. A point marks an end that the run went back from.
function losses(of = same) {
  const [training, held] = [line("training", train, "loss", of), line("held out", valid, "loss", of)];
  const begin = data.frames.filter((f) => f.step < (train.steps[0] ?? Infinity));
  training.points.unshift(...begin.map((f) => [f.step, of(f.step === 0 ? f.probe_loss : f.train_loss)]));
  const ends = data.ends.map((end) => ({ name: "ended first", points: [[end.step, of(end.loss)]] }));
  return [training, held, ...ends];
}

// Yardsticks, simpler methods on the same text: lines in the loss chart, and a table.

const yardsticks = data.yardsticks ?? [];

function drawYardsticks() {
  const loss = data.best_loss;
  if (yardsticks.length === 0 || loss === null) return;
  const known = yardsticks.find((y) => y.nats_per_token > 0 && y.bits_per_byte > 0);
  const model = { name: "this model", nats_per_token: loss,
    bits_per_byte: known ? (loss * known.bits_per_byte) / known.nats_per_token : null };
  const size = (y) => y.bits_per_byte ?? y.nats_per_token ?? Infinity;
  const all = [model, ...yardsticks].sort((a, b) => size(b) - size(a)), place = all.indexOf(model);
  const list = (some) => some.map((y) => y.name).join(", ").replace(/, (?=[^,]*$)/, " and ");
  const [worse, better] = [all.slice(0, place), all.slice(place + 1)];
  const table = numbers(["", "nats per token", "bits per byte"],
    all.map((y) => [y.name, short(y.nats_per_token), short(y.bits_per_byte)]));
  table.tBodies[0].rows[place].className = "chosen";
  $("yardsticks").append(element("h3", {}, "How good is that?"),
    element("p", {}, "The same held-out text, predicted by simpler methods. Lower is better. " +
      (better.length === 0 ? `This model beats all of them.` : worse.length === 0 ? "This model beats none of them."
        : `This model beats ${list(worse)}; it does not beat ${list(better)}.`)),
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "How good is that?" }, table));
}

function drawCurves() {
  const fromZero = { fromZero: true }, levels = yardsticks.map((y) => [y.name, y.nats_per_token ?? NaN]);
  if (levels.length === 0 && data.uniform > 0) levels.push(["uniform", data.uniform]);
  $("charts").replaceWith(charts(
    chart("Loss (nats per token)", losses(), { levels }),
    chart("Perplexity (logarithmic)", losses(perplexity), { logarithmic: true }),
    chart("Accuracy, held out", [line("", valid, "accuracy")], fromZero),
    chart(`${data.metric}, held out`, [line("", valid, "metric")], fromZero),
    chart("Learning rate", [line("", train, "learning_rate")], fromZero),
    chart("Gradient norm", [line("", train, "gradient_norm")], fromZero),
    chart("Speed (tokens per second)", [line("", train, "tokens_per_second")], fromZero)));
  for (const text of [data.overfitting, data.training_loss_note])
    if (text) $("remarks").append(element("p", {}, text[0].toUpperCase() + text.slice(1).replace(/[^.]$/, "$&.")));
  drawYardsticks();
  const rows = (name, curves) => spread(curves.steps.length, 60).map((i) => [name, curves.steps[i],
    ...[curves.loss[i], perplexity(curves.loss[i]), curves.accuracy?.[i] ?? null, curves.learning_rate?.[i] ?? null,
      curves.gradient_norm?.[i] ?? null, curves.tokens_per_second?.[i] ?? null].map(short)]);
  find("#data-of-curves").append(numbers(
    ["", "step", "loss", "perplexity", "accuracy", "learning rate", "gradient norm", "tokens/s"],
    [...rows("training", train), ...rows("held out", valid)]));
}

// The film: one slider moves through the texts and maps of the frames.

// "step 64: loss 3.21 held out, 3.3 training, 2.9 on this text"
function frameInWords() {
  const losses = [[frame().loss, "held out"], [frame().train_loss, "training"], [frame().probe_loss, "on this text"]];
  const known = losses.filter(([loss]) => Number.isFinite(loss)).map(([loss, where]) => `${short(loss)} ${where}`);
  return stepName(frame().step) + (known.length > 0 ? ": loss " + known.join(", ") : "");
}

// Plays the film from the chosen frame, or from the first if the last is chosen.
let playing;
function play(on) {
  clearInterval(playing);
  playing = undefined;
  $("play").textContent = on ? "❚❚ Pause" : "▶ Play";
  $("step-name").setAttribute("aria-live", on ? "off" : "polite");
  if (!on) return;
  const last = data.frames.length - 1, still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (at.frame === last) choose({ frame: 0 });
  playing = setInterval(() => {
    if (at.frame < last) choose({ frame: at.frame + 1 });
    if (at.frame === last) play(false);
  }, still ? 1500 : 350);
}

function startFilm() {
  $("step").max = data.frames.length - 1;
  $("step").addEventListener("input", () => {
    play(false);
    choose({ frame: Number($("step").value) });
  });
  $("play").addEventListener("click", () => play(playing === undefined));
}

// The texts of each frame, on one line, with a sign for each line end. The text of the chosen frame is
// large; all frames share one place, so that nothing moves while the film plays.
function drawSamples() {
  const oneLine = (text) => text.replace(/\n+/g, " ↵ ")
    .replace(/[\0-\x1f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)));  // ␀, ␁, ...
  const row = (name, text) => [element("dt", {}, name), element("dd", { dir: "auto" }, oneLine(text))];
  const some = spread(data.frames.length, data.frames.length > 8 ? 4 : 8);
  const sample = (prompt, i) => element("div", { class: "sample" },
    element("h3", { dir: "auto" }, oneLine(prompt) || "(no prompt)"),
    element("div", { class: "now" }, ...data.frames.map((f) => element("div", { dir: "auto" }, oneLine(f.written[i])))),
    element("dl", {}, ...some.flatMap((n) => row(stepName(data.frames[n].step), data.frames[n].written[i])),
      ...row("reference", data.expected[i])));
  $("samples").append(...(data.prompts.length > 0 ? data.prompts.map(sample) : [element("p", {}, "None.")]));
}

// Maps through training.

// "decoder self-attention, layer 1, head 2: induction since step 300 (...)" for each head with a name.
function namedHeads() {
  const named = (f, h) => f.heads.find((x) => ["kind", "layer", "head", "name"].every((key) => x[key] === h[key]));
  return frame().heads.map((h) => {
    let first = at.frame;
    while (first > 0 && named(data.frames[first - 1], h)) --first;
    return element("li", {}, `${names[h.kind]}, layer ${h.layer}, head ${h.head}: ${h.name} since ` +
      `${stepName(data.frames[first].step)} (${h.score.toFixed(2)} of the weight; untrained ${h.untrained.toFixed(2)}, on ` +
      `keys in random order ${h.shuffled.toFixed(2)})`);
  });
}

function drawFrame() {
  $("named").hidden = frame().heads.length === 0;
  $("named-heads").replaceChildren(...namedHeads());

  const words = frameInWords();
  $("step").value = at.frame;
  $("step-name").textContent = words;
  $("step").setAttribute("aria-valuetext", words);
  for (const texts of document.querySelectorAll(".now"))
    [...texts.children].forEach((text, i) => text.classList.toggle("chosen", i === at.frame));
  drawView(() => {}, ", " + stepName(frame().step));
}

function drawMaps() {
  if (data.frames.length === 0) {
    $("maps-body").replaceChildren(element("p", {}, "None; see the notes above."));
    $("film-bar").remove();
    return;
  }
  startFilm();
  Object.assign(at, data.first[kind().name]);
  const views = [{ name: "Weights", colour: "--weight", row: weights }];
  startMaps(drawFrame, data.frames.some((f) => f.pull.length > 0) ? [...views, pullView] : views);
}

// The learning record: charts of each group of matrices and of the entropy of each layer.

const quantities = [["gradient_norm", "Gradient norm (logarithmic)", { logarithmic: true }],
  ["weight_norm", "Weight norm"], ["update_ratio", "Update / weight (logarithmic)", { logarithmic: true }],
  ["cosine", "Cosine to the initial value"]];
const recorded = (name, of, control = false) => ({ name, control, points: data.learning.map((r) => [r.step, of(r)]) });

// Groups the matrices of each attention; any other tensor is a group of its own. { title: [[tensor, line]] }
function groupsOf(matrices) {
  const groups = {}, parts = { q_proj: "W_Q", k_proj: "W_K", v_proj: "W_V", out_proj: "W_O" };
  for (const tensor of Object.keys(matrices)) {
    const [, title, part] = tensor.match(/(.*)\.(q_proj|k_proj|v_proj|out_proj)/) ?? [null, tensor, null];
    (groups[title] ??= []).push([tensor, parts[part] ?? ""]);
  }
  return groups;
}

function entropyCharts(entropy) {
  return Object.entries(entropy).flatMap(([kind, { heads }]) => heads.flatMap((layer, l) =>
    chart(`Entropy (nats): ${names[kind]}, layer ${l}`, [recorded("uniform", (r) => r.entropy[kind].uniform, true),
      ...layer.map((_, h) => recorded("head " + h, (r) => r.entropy[kind].heads[l][h]))], { fromZero: true })));
}

function drawLearning() {
  const last = data.learning.at(-1);
  if (!last) {
    $("learning").append(element("p", {}, "This run has no learning record."));
    return;
  }
  const details = (open, title, body) =>
    element("details", open ? { open: "" } : {}, element("summary", {}, title), body);
  const groups = groupsOf(last.matrices), titles = Object.keys(groups);
  const telling = ["cross_attn", "self_attn", ""].map((part) => titles.find((t) => t.includes(part))).find(Boolean);
  Object.entries(groups).forEach(([title, members]) =>
    $("learning").append(details(title === telling, title, charts(...quantities.map(([key, name, options]) =>
      chart(name, members.map(([tensor, part]) => recorded(part, (r) => r.matrices[tensor][key])), { ...options, of: title }))))));
  $("learning").append(details(true, "How widely each head looks", charts(...entropyCharts(last.entropy))));
  const scroll = { class: "scroll", tabindex: 0, role: "region", "aria-label": "Learning record, last step" };
  $("learning").append(details(false, "Data of step " + last.step, element("div", scroll,
    numbers(["matrix", "gradient norm", "weight norm", "update / weight", "cosine to start"],
      Object.entries(last.matrices).map(([name, m]) => [name, ...quantities.map(([key]) => short(m[key]))])),
    numbers(["entropy (nats)", "uniform", "heads, from 0"],
      Object.entries(last.entropy).flatMap(([kind, { uniform, heads }]) => heads.map((layer, l) =>
        [`${kind}, layer ${l}`, short(uniform), layer.map(short).join(" ")]))))));
}

document.title = $("title").textContent = "Report: " + data.run;
$("about").textContent = about();
$("notes").append(...data.notes.map((note) => element("li", {}, note)));
drawCurves();
drawSamples();
drawMaps();
drawLearning();
find("#parameters .scroll").append(numbers(["tensor", "shape", "norm", "norm at start", "moved", "cosine to start"],
  data.parameters.map((p) => [p.name, p.shape.join(" × "),
    ...[p.norm, p.initial_norm, p.distance, p.cosine].map((x) => x?.toFixed(3) ?? "")])));
find("#config pre").textContent = data.config;
