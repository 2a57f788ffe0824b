// The page of `heed explain --html`: one prediction, from what every layer would predict to the numbers of one head.

const { answer, against, head } = data;
const written = (x, digits = 4) => (x === null ? "" : x.toFixed(digits).replace("-", "−"));
const signed = (x) => (x > 0 ? "+" : "") + written(x);
const vector = (x) => `[${x.slice(0, 4).map((y) => written(y, 3)).join(", ")}${x.length > 4 ? ", …" : ""}]`;
const keysOf = (of) => (of.kind === "cross" ? data.source_tokens : data.tokens);
const nameOf = (part) => (part.kind === "cross" ? "cross-attention, " : "") + (part.kind === null ? "" : `layer ${part.layer}, `) +
  (part.head === null ? part.part.replaceAll("_", "-") : `head ${part.head}`);
// A part before the output layer, with the deviation of the last norm as it is for the row.
const normed = (z) => (data.norm ? `${data.norm.type === "rms" ? z : `(${z} − its mean)`} g / ${written(data.norm.divisor)}` : z);
const bySize = (rows, size) => [...rows].sort((a, b) => Math.abs(size(b)) - Math.abs(size(a)));

// A bar from 0 to x, in a picture that reaches from `low` to `high`, both on the sides of 0.
function barOf(x, low, high) {
  const at = (v) => (200 * (v - low)) / (high - low || 1);
  return graphic("svg", { viewBox: "0 0 200 16", preserveAspectRatio: "none", "aria-hidden": true },
    graphic("rect", { class: x < 0 ? "bar less" : "bar", x: at(Math.min(0, x)), y: 2, height: 12, width: Math.max(1, at(Math.abs(x)) - at(0)) }));
}

function drawText() {
  $("title").textContent = document.title = `Why “${shown(answer.token)}”${against ? ` and not “${shown(against.token)}”` : ""}?`;
  $("about").textContent = data.about;
  const side = (tokens, row) => tokens.flatMap((token, i) => [i === row ? element("mark", {}, shown(token)) : shown(token), " "]);
  $("text").append(...(data.source_tokens ? [...side(data.source_tokens, -1), "→ "] : []), ...side(data.tokens, data.row));
  $("ids").textContent = (data.source_ids ? `[${data.source_ids.join(", ")}] → ` : "") + `[${data.ids.join(", ")}]`;
  $("answers").append(...rowsOf(["", "id", "logit", "probability"],
    [answer, against].filter(Boolean).map((t) => [shown(t.token), t.id, written(t.logit), written(t.probability)])));
}

function drawLens() {
  $("lead").textContent = data.lead === null ? `“${shown(answer.token)}” is not the most probable in the end.`
    : `“${shown(answer.token)}” takes the lead in layer ${data.lead}.`;
  if (!data.norm) $("lens-row").textContent = "x";  // post-norm: no norm follows
  $("lens").append(...rowsOf(["layer", "rank", "logit", "ln Σ exp", "P", ...data.lens[0].top.map((_, i) => i + 1)], data.lens.map((l) =>
    [l.layer, l.rank, written(l.logit), written(l.log_sum), written(l.probability), ...l.top.map((t) => `${shown(t.token)} ${percent(Math.exp(t.logprob))}`)])));
  data.lens.forEach((l, i) => l.top.forEach((t, k) => {
    if (t.id === answer.id) $("lens").tBodies[0].rows[i].cells[5 + k].className = "best";
  }));
}

function drawShares() {
  if (!data.shares) {
    $("total").textContent = "With post-norm, every norm rescales all that was written before it: the answer is no sum of shares.";
    return;
  }
  const other = against ? shown(against.token) : "mean of all";
  $("total").textContent = `logit[${shown(answer.token)}] − logit[${other}] = ${written(answer.logit)} − (${written(answer.logit - data.total)}) = ` +
    `${written(data.total)}: the sum of what the parts wrote into the row. The share of a part z is ` +
    `${normed("z")} · (W_out[${shown(answer.token)}] − W_out[${other}]) (src/show/explain.h).`;
  const all = data.shares.map((p) => p.share), low = Math.min(0, smallest(all)), high = Math.max(0, largest(all));
  $("shares").append(...rowsOf(["part", "share", ""], bySize(data.shares, (p) => p.share).map((p) =>
    [nameOf(p), signed(p.share), barOf(p.share, low, high)])));
}

function drawHead() {
  $("head-title").textContent = `The strongest head: ${nameOf(head)}`;
  const first = new Map(head.keys.map((key) => [key.position, key]));
  $("weights").append(...rowsOf(["key", "", "id", "weight P", "", "|k|", "cos", "q · k", "score S", "share", "value v"],
    bySize(head.weights.map((weight, position) => ({ weight, position })), (row) => row.weight).map(({ weight, position }) => {
      const { id = "", length = null, cosine = null, dot = null, share = null, v } = first.get(position) ?? {};
      const score = head.uniform ? null : head.log_sum + Math.log(weight);
      return [position, shown(keysOf(head)[position]), id, written(weight), barOf(weight, 0, 1), written(length), written(cosine), written(dot), written(score),
        share === null ? "" : signed(share), v ? vector(v) : ""];
    })));
  const key = head.keys[0], n = head.weights.length, others = head.others;
  const sum = head.keys.map((k) => `${written(k.weight)} v${k.position}`).join(" + ") +
    (others ? ` + ${written(others.weight)} ${vector(others.v)} (all other keys)` : "");
  $("steps").append(...rowsOf(["formula", "numbers", "file"], [
    ...(head.uniform ? [["P = 1 / keys", `1 / ${n}: uniform, without scores`, "src/math/batch_invariant.h"]] : [
      ["q · k = |q| |k| cos", `${written(head.length)} × ${written(key.length)} × ${written(key.cosine)} = ${written(key.dot)}`, "src/nn/attention.h"],
      [head.scale === 1 ? "S = q · k" : `S = q · k / √${head.q.length}`, `${written(key.dot)} × ${written(head.scale)} = ${written(key.score)}`, "src/nn/attention.h"],
      ["P = softmax(S)", `exp(${written(key.score)} − ${written(head.log_sum)}) = ${written(key.weight)}, less ln Σ exp S`, "src/nn/attention.h"]]),
    ["o = Σ P v", `${sum} = ${vector(head.output)}`, "src/nn/attention.h"],
    [`logits ${normed("(W_O o)")} W_outᵀ, less their mean`, "promotes " + head.promotes.map((t) => `${shown(t.token)} ${signed(t.logit)}`).join(", "), "src/nn/loss.h"]]));
}

function drawPull() {
  $("pulled").hidden = !data.pull;
  if (!data.pull) return;
  $("pull-title").textContent = `The pull of the loss of “${shown(answer.token)}”`;
  const rows = data.pull.flatMap((h) => h.pull.map((pull, j) =>
    [nameOf(h), shown(keysOf(h)[j]), short(pull), short(h.value_pull[j]), pull]));
  $("pull").append(...rowsOf(["head", "key", "pull of the score", "of the value"],
    bySize(rows, (row) => row[4]).slice(0, 30).map((row) => row.slice(0, 4))));
}

for (const draw of [drawText, drawLens, drawShares, drawHead, drawPull]) draw();
