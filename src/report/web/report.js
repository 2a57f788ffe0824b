// The page of `heed report`: one function for each section.

const { train, valid } = data;
const find = (selector) => document.querySelector(selector);
const stepName = (step) => (step === 0 ? "before training" : "step " + step);
const charts = (...figures) => element("div", { class: "charts" }, ...figures.flat());
const numbers = (titles, rows) => element("table", { class: "numbers" }, ...rowsOf(titles, rows));

function about() {
  const count = (n) => n.toLocaleString("en");
  const text = `${count(data.last_step)} steps, ${count(data.parameter_count)} parameters`;
  const i = valid.steps.lastIndexOf(data.best.step);
  if (i < 0) return text + ".";
  const loss = `loss ${short(valid.loss[i])} nats per token (perplexity ${short(perplexity(valid.loss[i]))})`;
  const best = data.best.by_bleu ? `BLEU ${short(valid.bleu[i])} (${loss})` : loss;
  return `${text}; best held-out ${best} at step ${data.best.step}.`;
}

// Curves of training and of held-out text.

const perplexity = (loss) => (loss === null ? null : Math.exp(loss));
const same = (x) => x;
const line = (name, curves, key, of = same) =>
  ({ name, points: curves.steps.map((step, i) => [step, of(curves[key][i])]) });
const both = (key, of) => [line("training", train, key, of), line("held out", valid, key, of)];

function drawCurves() {
  const fromZero = { fromZero: true };
  $("charts").replaceWith(charts(
    chart("Loss (nats per token)", both("loss")),
    chart("Perplexity (logarithmic)", both("loss", perplexity), { logarithmic: true }),
    chart("Accuracy, held out", [line("", valid, "accuracy")], fromZero),
    chart("BLEU, held out", [line("", valid, "bleu")], fromZero),
    chart("Learning rate", [line("", train, "learning_rate")], fromZero),
    chart("Gradient norm", [line("", train, "gradient_norm")], fromZero),
    chart("Speed (tokens per second)", [line("", train, "tokens_per_second")], fromZero)));
  const rows = (name, curves) => spread(curves.steps.length, 60).map((i) => [name, curves.steps[i],
    ...[curves.loss[i], perplexity(curves.loss[i]), curves.accuracy?.[i] ?? null, curves.learning_rate?.[i] ?? null,
      curves.gradient_norm?.[i] ?? null, curves.tokens_per_second?.[i] ?? null].map(short)]);
  find("#curves .scroll").append(numbers(
    ["", "step", "loss", "perplexity", "accuracy", "learning rate", "gradient norm", "tokens/s"],
    [...rows("training", train), ...rows("held out", valid)]));
}

// The texts of each frame, on one line: a sign stands for the end of a line.

function drawSamples() {
  const oneLine = (text) => text.replace(/\n+/g, " ↵ ");
  const row = (name, text) => [element("dt", {}, name), element("dd", {}, oneLine(text))];
  const sample = (prompt, i) => element("div", { class: "sample" },
    element("h3", {}, oneLine(prompt) || "(no prompt)"),
    element("dl", {}, ...data.frames.flatMap((f) => row(stepName(f.step), f.written[i])),
      ...row("reference", data.expected[i])));
  $("samples").append(...(data.prompts.length > 0 ? data.prompts.map(sample) : [element("p", {}, "None.")]));
}

// Maps through training.

function drawMaps() {
  if (data.frames.length === 0) {
    $("maps-body").replaceChildren(element("p", {}, "None: see the notes above."));
    return;
  }
  $("step").max = data.frames.length - 1;
  $("step").value = at.frame;
  $("step").addEventListener("input", () => choose({ frame: Number($("step").value) }));
  startMaps(() => {
    const name = stepName(frame().step), loss = frame().loss;
    $("step-name").textContent = name + (loss === null ? "" : `, held-out loss ${short(loss)}`);
    $("step").setAttribute("aria-valuetext", $("step-name").textContent);
    drawMap($("weights"), `${headName()}, ${name}: percent of each row`, "--weight", (q) => weights(q));
    const largest = queries().map((_, q) => Math.max(...weights(q))).reduce((a, b) => a + b) / queries().length;
    $("summary").textContent = `${name}, layer ${at.layer}, head ${at.head}: ` +
      `on average the largest weight in a row is ${percent(largest)}.`;
  });
}

// The learning record: charts of each group of matrices and of the entropy of each layer.

const quantities = [["gradient_norm", "Gradient norm (logarithmic)", { logarithmic: true }],
  ["weight_norm", "Weight norm"], ["update_ratio", "Update / weight (logarithmic)", { logarithmic: true }],
  ["cosine", "Cosine to the initial value"]];
const recorded = (name, of, control = false) => ({ name, control, points: data.learning.map((r) => [r.step, of(r)]) });

// Groups the matrices of an attention; other tensors stand alone. { title: [[tensor, line]] }
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
  Object.entries(groupsOf(last.matrices)).forEach(([title, members], i) =>
    $("learning").append(details(i === 0, title, charts(...quantities.map(([key, name, options]) =>
      chart(name, members.map(([tensor, part]) => recorded(part, (r) => r.matrices[tensor][key])), options))))));
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
