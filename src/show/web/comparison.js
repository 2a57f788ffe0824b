// The page of `heed report RUN RUN ...`.

const curve = (part, key) => data.map((r) =>
  ({ name: r.run, points: r[part].steps.map((step, i) => [step, r[part][key][i]]) }));
// A figure of the best checkpoint, from the validation of its step.
const atBest = (r, key) => r.valid[key][r.valid.steps.lastIndexOf(r.best_step)] ?? null;
const written = (value) => value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

document.title = $("title").textContent = data.map((r) => r.run).join(", ");
$("charts").replaceWith(charts(
  chart("Held-out loss (nats per token)", curve("valid", "loss")),
  chart("Training loss (nats per token)", curve("train", "loss")),
  chart("Held-out bits per byte", curve("valid", "bits_per_byte")),
  chart("Held-out accuracy", curve("valid", "accuracy"), { fromZero: true }),
  chart("Held-out metric", curve("valid", "metric"), { fromZero: true }),
  chart("Learning rate", curve("train", "learning_rate"), { fromZero: true }),
  chart("Gradient norm", curve("train", "gradient_norm"), { fromZero: true }),
  chart("Speed (tokens per second)", curve("train", "tokens_per_second"), { fromZero: true })));
const keys = [...new Set(data.flatMap((r) => Object.keys(r.keys)))].sort();
find("#differences .scroll").append(numbers(
  ["", ...data.map((r) => r.run)], [
    ["steps", ...data.map((r) => Math.max(0, ...r.train.steps, ...r.valid.steps))],
    ["best held-out loss", ...data.map((r) => short(r.best_loss))],
    ["at step", ...data.map((r) => r.best_step ?? "")],
    ["bits per byte", ...data.map((r) => short(atBest(r, "bits_per_byte")))],
    ["accuracy", ...data.map((r) => short(atBest(r, "accuracy")))],
    ...keys.map((key) => [key, ...data.map((r) => written(r.keys[key]))])]));
