// The page of `heed report RUN RUN ...`.

const shows = { minutes: false, logarithmic: false };

// Runs that differ in `seed` alone are a group: one colour.
const butSeed = (r) => JSON.stringify({ ...r.keys, seed: "" });
const groups = [...new Set(data.map(butSeed))].map((keys) => data.filter((r) => butSeed(r) === keys));

// The minutes of training up to a step, between the lines of the log.
function minutesAt({ steps, minutes }, step) {
  let i = 0;  // of the first line that is not before it
  for (let end = steps.length - 1; i < end;) {
    const middle = (i + end) >> 1;
    steps[middle] < step ? (i = middle + 1) : (end = middle);
  }
  const [from, at] = i > 0 ? [steps[i - 1], minutes[i - 1]] : [0, 0];
  return at === null || minutes[i] === null ? NaN : at + ((minutes[i] - at) * (step - from)) / (steps[i] - from);
}

const mean = (all) => all.reduce((sum, x) => sum + x, 0) / all.length;
const named = (group) => group[0].run + (group.length > 1 ? ` and ${group.length - 1} more` : "");

// The points of a run; of a group the means where all of it have a value, each with its range.
function pointsOf(group, points) {
  const all = group.map((r) => new Map(points(r).filter(([, y]) => y !== null)
    .map(([step, y, what]) => [step, [shows.minutes ? minutesAt(r.train, step) : step, y, what]])));
  return [...all[0].keys()].filter((step) => all.every((of) => of.has(step))).map((step) => {
    const there = all.map((of) => of.get(step)), ys = there.map(([, y]) => y), range = [smallest(ys), largest(ys)];
    return group.length === 1 ? there[0] : [mean(there.map(([x]) => x)), mean(ys), range.map(short).join(" to "), range];
  });
}

// A line for each group of points(run), of steps.
const lines = (points) => groups.map((group, g) => ({
  name: named(group), look: `line-${g % 5} dash-${(g + Math.floor(g / 5)) % 5}`,
  note: group.length > 1 ? `mean and range of ${group.length} that differ in seed alone` : "", points: pointsOf(group, points) }));
const curve = (part, key) => lines((r) => r[part].steps.map((step, i) => [step, r[part][key][i]]));
// A figure of the best checkpoint, from the validation of its step.
const atBest = (r, key) => r.valid[key][r.valid.steps.lastIndexOf(r.best_step)] ?? null;
const written = (value) => value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

document.title = $("title").textContent = data.map((r) => r.run).join(", ");
function draw() {
  const unit = shows.minutes ? "minute" : "step", loss = { unit, logarithmic: shows.logarithmic }, other = { unit, fromZero: true };
  $("charts").replaceChildren(charts(
    chart("Held-out loss (nats per token)", curve("valid", "loss"), loss),
    chart("Training loss (nats per token)", lines((r) => trainingPoints(r.train)), loss),
    chart("Held-out bits per byte", curve("valid", "bits_per_byte"), loss),
    chart("Held-out accuracy", curve("valid", "accuracy"), other),
    chart("Held-out metric", curve("valid", "metric"), other),
    chart("Learning rate", curve("train", "learning_rate"), other),
    chart("Gradient norm", curve("train", "gradient_norm"), other),
    chart("Speed (tokens per second)", curve("train", "tokens_per_second"), other)));
}
const timed = data.some((r) => r.train.minutes.some((x) => x !== null));
radios($("axes"), "axis", timed ? ["steps", "minutes of training"] : ["steps"], 0, (i) => { shows.minutes = i === 1; draw(); });
radios($("scales"), "scale", ["even", "logarithmic"], 0, (i) => { shows.logarithmic = i === 1; draw(); });
draw();
const figures = data.flatMap(({ compared }) => Object.values(compared?.figures ?? {}).sort((a, b) => (b.unit === "accuracy") - (a.unit === "accuracy")).map((f) => [
  `${compared.second.join(", ")} less ${compared.first.join(", ")}`, f.unit, short(f.first), short(f.second), short(f.difference),
  f.interval.map(short).filter(Boolean).join(" to "), short(f.p ?? f.p_randomization ?? null)]));
if (data.some((r) => r.compared)) {
  const said = data.filter((r) => r.compared).map(({ compared: c }) => element("p", {}, c.error ?? c.sentence));
  if (figures.length > 0) said.push(numbers(["", "figure", "first", "second", "difference", "95\u00a0% interval", "p"], figures));
  find("#luck .scroll").append(...said);
} else $("luck").remove();
const keys = [...new Set(data.flatMap((r) => Object.keys(r.keys)))].sort();
find("#differences .scroll").append(numbers(
  ["", ...data.map((r) => r.run)], [
    ["steps", ...data.map((r) => largest([0, ...r.train.steps, ...r.valid.steps]))],
    ["best held-out loss", ...data.map((r) => short(r.best_loss))],
    ["at step", ...data.map((r) => r.best_step ?? "")],
    ["bits per byte", ...data.map((r) => short(atBest(r, "bits_per_byte")))],
    ["accuracy", ...data.map((r) => short(atBest(r, "accuracy")))],
    ...keys.map((key) => [key, ...data.map((r) => written(r.keys[key]))])]));
