// The learning record of a report: charts of each group of matrices and of the entropy of each layer, and tables
// of the last frame.

const quantities = [["gradient_norm", "Gradient norm (logarithmic)", { logarithmic: true }],
  ["weight_norm", "Weight norm"], ["update_ratio", "Update / weight (logarithmic)", { logarithmic: true }],
  ["cosine", "Cosine to the initial value"]];
const recorded = (name, of, control = false) => ({ name, control, points: data.learning.map((r) => [r.step, of(r)]) });

// Groups the matrices of each attention; any other tensor is a group of its own. { title: [[tensor, line]] }
function groupsOf(matrices) {
  const groups = Object.create(null), parts = { q_proj: "W_Q", k_proj: "W_K", v_proj: "W_V", out_proj: "W_O" };
  for (const tensor of Object.keys(matrices)) {
    const [, title, part] = tensor.match(/(.*)\.(q_proj|k_proj|v_proj|out_proj)/) ?? [null, tensor, null];
    (groups[title] ??= []).push([tensor, parts[part] ?? ""]);
  }
  return groups;
}

function entropyCharts(entropy) {
  return Object.entries(entropy).flatMap(([kind, { heads }]) => heads.flatMap((layer, l) =>
    chart(`Entropy (nats): ${nameOf(kind)}, layer ${l}`, [recorded("uniform", (r) => r.entropy[kind]?.uniform, true),
      ...layer.map((_, h) => recorded("head " + h, (r) => r.entropy[kind]?.heads[l]?.[h]))], { fromZero: true })));
}

function drawLearning() {
  const last = data.learning.at(-1), moved = data.last_move ?? last;
  if (!last) return without("learning", "matrices");
  const details = (open, title, body) =>
    element("details", open ? { open: "" } : {}, element("summary", {}, title), body);
  const place = find("#learning details"), groups = groupsOf(last.matrices), titles = Object.keys(groups);
  const telling = ["cross_attn", "self_attn", ""].map((part) => titles.find((t) => t.includes(part))).find(Boolean);
  Object.entries(groups).forEach(([title, members]) =>
    place.append(details(title === telling, title, charts(...quantities.map(([key, name, options]) =>
      chart(name, members.map(([tensor, part]) => recorded(part, (r) => r.matrices[tensor]?.[key])), { ...options, of: title }))))));
  place.append(details(true, "How widely each head looks", charts(...entropyCharts(last.entropy))));
  const entropies = Object.entries(last.entropy).flatMap(([kind, { uniform, heads }]) => heads.map((layer, l) =>
    [`${kind}, layer ${l}`, short(uniform), layer.map(short).join(" ")]));
  const scroll = { class: "scroll", tabindex: 0, role: "region", "aria-label": "Entropy, last step" };
  place.append(details(false, "Entropy at step " + last.step,
    element("div", scroll, numbers(["entropy (nats)", "uniform", "heads, from 0"], entropies))));
  $("of-step").textContent = `At step ${last.step}` +
    (moved.step === last.step ? "." : `; the updates are those of step ${moved.step}, the last one here that moved the weights.`);
  find("#matrices .scroll").append(numbers(["matrix", "gradient norm", "weight norm", "update / weight", "cosine to start"],
    Object.entries(last.matrices).map(([name, m]) => [name,
      ...quantities.map(([key]) => short((key === "update_ratio" ? moved.matrices[name] : m)?.[key] ?? null))])));
}
