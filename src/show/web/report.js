// The page of `heed report`: one function for each section.

const { train, valid } = data;
const stepName = (step) => (step === 0 ? "before training" : "step " + step);
const config = JSON.parse(data.config), objective = config.objective.type;

// What it learnt, for somebody who has never seen such a page.
function lede() {
  const files = ["train", "source", "target", "pairs"].flatMap((key) => config.data[key] || []);
  const from = files.length > 3 ? files.length + " files" : files.map((file) => file.split("/").filter(Boolean).pop()).join(" and ");
  const task = { causal_lm: "to continue text like that of", prefix_lm: "to write what follows in text like that of",
    masked_lm: "to fill in words that are hidden in text like that of", seq2seq: "to turn one line into another, as in",
    span_corruption: "to fill in what is missing in text like that of" }[objective] ?? "from";
  const play = data.frames.length > 0 ? " Press Play to see how: what it writes, and where it looks, step by step." : "";
  return `This model learnt ${task} ${from}.${play}`;
}

// A button that moves the film, or chooses a head.
function mover(words, move) {
  const button = element("button", { type: "button", class: "move" }, words);
  button.addEventListener("click", () => { play(false); move(); });
  return button;
}
const showStep = (step) => chooseFrame(data.frames.reduce((best, f, i) =>  // or the nearest one that has a frame
  (Math.abs(f.step - step) < Math.abs(data.frames[best].step - step) ? i : best), 0));
const stepButton = (step) => mover(stepName(step), () => showStep(step));
// A text in which each "step 64" is a button, if there is a film.
const withSteps = (text) => text.split(/\bstep (\d+)/).map((part, i) =>
  (i % 2 === 0 ? part : data.frames.length > 0 ? stepButton(Number(part)) : "step " + part));

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
const line = (name, curves, key) => ({ name, points: curves.steps.map((step, i) => [step, curves[key][i]]) });

// The losses of training and of held-out text. The frames know those of single steps before the log's first line: they
// stand for its mean.
const early = data.frames.filter((f) => f.step > 0 && f.step < (train.steps[0] ?? Infinity) && f.train_loss !== null)
  .map((f) => [f.step, f.train_loss]);
const losses = [{ name: "training", points: [...early, ...trainingPoints(train).slice(early.length > 0 ? 1 : 0)] },
  line("held out", valid, "loss")];
const perplexities = losses.map(({ name, points }) => ({ name, points: points.map(([x, loss, of]) => [x, perplexity(loss), of]) }));
const filmed = [...early, ...data.frames.map((f) => [f.step, f.loss ?? NaN])];

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
    chart("Loss (nats per token)", losses, { levels, frames: filmed }),
    chart("Perplexity (logarithmic)", perplexities, { logarithmic: true }),
    chart("Accuracy, held out", [line("", valid, "accuracy")], fromZero),
    chart(`${data.metric}, held out`, [line("", valid, "metric")], fromZero),
    chart("Learning rate", [line("", train, "learning_rate")], fromZero),
    chart("Gradient norm", [line("", train, "gradient_norm")], fromZero),
    chart("Speed (tokens per second)", [line("", train, "tokens_per_second")], fromZero)));
  const sentence = (text) => text && text[0].toUpperCase() + text.slice(1).replace(/[^.]$/, "$&.");
  const advice = data.advice.command ? `${sentence(data.advice.text)} Try ${data.advice.command}` : sentence(data.advice.text);
  for (const text of [sentence(data.overfitting), advice, sentence(data.training_loss_note)])
    if (text) $("remarks").append(element("p", {}, ...withSteps(text)));
  drawYardsticks();
  const rows = (name, curves) => spread(curves.steps.length, 60).map((i) => [name, stepsOf(curves, i),
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
  const last = data.frames.length - 1;
  if (at.frame === last || at.frame === opened) chooseFrame(0);
  playing = setInterval(() => {
    if (at.frame < last) chooseFrame(at.frame + 1);
    if (at.frame === last) play(false);
  }, 1000);  // long enough to read what it writes
}

function startBar() {
  $("step").max = data.frames.length - 1;
  $("step").addEventListener("input", () => {
    play(false);
    chooseFrame(Number($("step").value));
  });
  $("play").addEventListener("click", () => play(playing === undefined));
}

// The texts of each frame, on one line, with a sign for each line end; those with masks are written token by token. The
// text of the chosen frame is large; all frames share one place, so that nothing moves while it plays.
const fills = ["masked_lm", "span_corruption"].includes(objective);
const oneLine = (text) => signs((fills ? text.replace(/(?<=^| )(<0x0A>|\\n)(?=,? |,?$)/g, "↵") : text).replace(/\n+/g, " \n "));

function drawSamples() {
  const row = (name, text) => [element("dt", {}, name), element("dd", { dir: "auto" }, oneLine(text))];
  const some = spread(data.frames.length, data.frames.length > 8 ? 4 : 8);
  const title = (i) => element("h3", { dir: "auto" }, oneLine(data.prompts[i]) || "(no prompt)");
  $("texts").append(...data.prompts.map((_, i) => element("div", { class: "sample" }, title(i),
    element("dl", {}, ...some.flatMap((n) => row(stepButton(data.frames[n].step), data.frames[n].written[i])),
      ...(data.expected[i] ? row("reference", data.expected[i]) : [])))));
  if (data.prompts.length === 0) return;
  const first = data.prompts.length > 1 ? 1 : 0;  // the one that the maps are about
  $("samples").append(title(first),
    element("div", { class: "now" }, ...data.frames.map((f) => element("div", { dir: "auto" }, oneLine(f.written[first])))));
  if (data.expected[first] && (fills || objective === "seq2seq")) $("samples").append(element("p", {}, "Right: " + oneLine(data.expected[first])));
}

// Maps through training.

// Heads with a name at the end, the surest first: { h, first }, the frame from which on they have it.
const gain = (h) => h.score - Math.max(h.untrained, h.shuffled);
const isShown = (h) => data.kinds.some((k) => k.name === h.kind && h.layer >= 0 && h.layer < k.layers && h.head >= 0 && h.head < k.heads);
const isNamed = (f, h) => f.heads.some((x) => ["kind", "layer", "head", "name"].every((key) => x[key] === h[key]));
const named = (data.frames.at(-1)?.heads ?? []).filter(isShown).sort((a, b) => gain(b) - gain(a))
  .map((h) => ({ h, first: 1 + data.frames.findLastIndex((f) => !isNamed(f, h)) }));

// "decoder self-attention, layer 1, head 2: induction since step 300 (...)"
function namedHead({ h, first }) {
  const show = () => {
    const kind = data.kinds.findIndex((k) => k.name === h.kind);
    choose({ kind, layer: h.layer, head: h.head });
  };
  const step = mover(stepName(data.frames[first].step), () => { at.frame = first; show(); });
  return element("li", {}, mover(`${nameOf(h.kind)}, layer ${h.layer}, head ${h.head}: ${h.name}`, show),
    " since ", step, ` (${h.score.toFixed(2)} of the weight; ` +
    `untrained ${h.untrained.toFixed(2)}, on keys in random order ${h.shuffled.toFixed(2)})`);
}

// The losses and texts of the chosen frame.
function drawTexts() {
  const words = frameInWords();
  $("step").value = at.frame;
  $("step-name").textContent = words;
  $("step").setAttribute("aria-valuetext", words);
  markStep(frame().step);
  for (const texts of document.querySelectorAll(".now"))
    [...texts.children].forEach((text, i) => text.classList.toggle("chosen", i === at.frame));
}

function drawFrame() {
  named.forEach(({ first }, i) => $("named-heads").children[i].classList.toggle("later", at.frame < first));
  drawTexts();
  const name = frame().heads.find((h) => h.kind === kind().name && h.layer === at.layer && h.head === at.head)?.name;
  if (name) $("pattern").append(`; over the held-out text: ${name}`);
  drawView(() => {}, ", " + stepName(frame().step));
}

const haveMaps = data.frames.some((f) => f.weights.length > 0);  // all frames, or none
function chooseFrame(n) {
  at.frame = n;
  if (haveMaps) choose({});
  else drawTexts();
}

// Begins with the last kind that has a named head, and with the surest of each kind; else with the clearest in this text.
function chooseFirst() {
  for (const { h } of [...named].reverse()) data.first[h.kind] = { layer: h.layer, head: h.head };
  const last = data.kinds.findLastIndex((k) => named.some(({ h }) => h.kind === k.name));
  if (last >= 0) at.kind = last;
  Object.assign(at, data.first[kind().name]);
}

// What there is nothing to show of goes, and with it the way to it.
function without(...places) {
  for (const place of places) {
    $(place).remove();
    find(`nav a[href="#${place}"]`)?.remove();
  }
}

function drawFrames() {
  if (data.frames.length === 0) return without("bar", "film", "texts", "about-points");
  $("named").hidden = named.length === 0;
  startBar();
  onFilm.choose = showStep;
  $("curves").classList.add("moves");
  if (haveMaps) {
    $("named-heads").append(...named.map(namedHead));
    chooseFirst();
    $("kinds").hidden = data.kinds.length === 1;
    startMaps(drawFrame);
    const pull = views.findIndex((view) => view.name === "Pull");
    if (pull > 0) $("lede").append(" ", mover("Why does it look there?", () => {
      $("views").querySelectorAll("input")[pull].click();
      $("head").scrollIntoView({ block: "nearest" });
    }));
  } else {
    without("maps", "head", "named");
    drawTexts();
  }
}

document.title = $("title").textContent = "Report: " + data.run;
$("lede").textContent = lede();
if (data.live) $("lede").append(" ", element("a", { href: data.live }, "Type to it"));
$("notes").append(...data.notes.map((note) => element("li", {}, note)));
drawSamples();
drawCurves();
$("about").append(...withSteps(about()));
drawLearning();
drawFrames();
find("#config pre").textContent = data.config;
