// The page of `heed report`: one function for each section.

const { train, valid } = data;
const stepName = (step) => (step === 0 ? "before training" : "step " + step);

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

// The losses of training and of held-out text. The frames know those before the first line of the log;
// at step 0, that of the text which they show.
function losses(of = same) {
  const [training, held] = [line("training", train, "loss", of), line("held out", valid, "loss", of)];
  const begin = data.frames.filter((f) => f.step < (train.steps[0] ?? Infinity));
  training.points.unshift(...begin.map((f) => [f.step, of(f.step === 0 ? f.probe_loss : f.train_loss)]));
  return [training, held];
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
  const advice = [data.advice.text, data.advice.command].filter(Boolean).join(": ");
  for (const text of [data.overfitting, advice, data.training_loss_note])
    if (text) $("remarks").append(element("p", {}, text[0].toUpperCase() + text.slice(1).replace(/[^.]$/, "$&.")));
  drawYardsticks();
  const rows = (name, curves) => spread(curves.steps.length, 60).map((i) => [name, curves.steps[i],
    ...[curves.loss[i], perplexity(curves.loss[i]), curves.accuracy?.[i] ?? null, curves.learning_rate?.[i] ?? null,
      curves.gradient_norm?.[i] ?? null, curves.tokens_per_second?.[i] ?? null].map(short)]);
  find("#data-of-curves").append(numbers(
    ["", "step", "loss", "perplexity", "accuracy", "learning rate", "gradient norm", "tokens/s"],
    [...rows("training", train), ...rows("held out", valid)]));
}

// One slider moves through the texts and maps of the frames.

// "step 64: loss 3.21 held out, 3.3 training, 2.9 on this text"
function frameInWords() {
  const losses = [[frame().loss, "held out"], [frame().train_loss, "training"], [frame().probe_loss, "on this text"]];
  const known = losses.filter(([loss]) => Number.isFinite(loss)).map(([loss, where]) => `${short(loss)} ${where}`);
  return stepName(frame().step) + (known.length > 0 ? ": loss " + known.join(", ") : "");
}

// Plays from the chosen frame; from the first if that is the last, or the one at which the page opens.
let playing;
function play(on) {
  clearInterval(playing);
  playing = undefined;
  $("play").textContent = on ? "❚❚ Pause" : "▶ Play";
  $("step-name").setAttribute("aria-live", on ? "off" : "polite");
  if (!on) return;
  const last = data.frames.length - 1, still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (at.frame === last || at.frame === opened) chooseFrame(0);
  playing = setInterval(() => {
    if (at.frame < last) chooseFrame(at.frame + 1);
    if (at.frame === last) play(false);
  }, still ? 1500 : 350);
}

function startBar() {
  $("step").max = data.frames.length - 1;
  $("step").addEventListener("input", () => {
    play(false);
    chooseFrame(Number($("step").value));
  });
  $("play").addEventListener("click", () => play(playing === undefined));
}

// The texts of each frame, on one line, with a sign for each line end. The text of the chosen frame is
// large; all frames share one place, so that nothing moves while it plays.
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

// The losses and texts of the chosen frame.
function drawTexts() {
  const words = frameInWords();
  $("step").value = at.frame;
  $("step-name").textContent = words;
  $("step").setAttribute("aria-valuetext", words);
  for (const texts of document.querySelectorAll(".now"))
    [...texts.children].forEach((text, i) => text.classList.toggle("chosen", i === at.frame));
}

function drawFrame() {
  $("named").hidden = frame().heads.length === 0;
  $("named-heads").replaceChildren(...namedHeads());
  drawTexts();
  drawView(() => {}, ", " + stepName(frame().step));
}

const haveMaps = data.frames.some((f) => f.weights.length > 0);  // all frames, or none
function chooseFrame(n) {
  at.frame = n;
  if (haveMaps) choose({});
  else drawTexts();
}

function drawFrames() {
  if (!haveMaps) $("maps-body").replaceChildren(element("p", {}, "None."));
  if (data.frames.length === 0) {
    $("bar").remove();
    return;
  }
  startBar();
  if (!haveMaps) return drawTexts();
  Object.assign(at, data.first[kind().name]);
  startMaps(drawFrame);
}

document.title = $("title").textContent = "Report: " + data.run;
$("about").textContent = about();
$("notes").append(...data.notes.map((note) => element("li", {}, note)));
drawCurves();
drawSamples();
drawFrames();
drawLearning();
find("#config pre").textContent = data.config;
