// One prediction taken apart. `seen` is what the stack that predicts has read, `row` one of its tokens.

const best = (logs, n) => {
  const order = [...logs.keys()].sort((a, b) => logs[b] - logs[a] || a - b);
  return order.slice(0, n).map((id) => ({ id, p: Math.exp(logs[id]) }));
};

const without = (never) => (x, id) => (never(id) ? -Infinity : x);
// What would be predicted if the model ended after each layer (the logit lens), at a temperature. `never`: no answers.
function lens(model, stack, seen, row, answer, heat, never) {
  return seen.layers.map(({ out }, layer) => {
    const logs = logSoftmax(model.logits(stack.last(out[row])).map((x) => x / heat));
    const others = logs.map(without(never));
    return { layer, top: best(others, 5), p: Math.exp(logs[answer]), rank: 1 + others.filter((x) => x > logs[answer]).length };
  });
}

// The direction of a token's row of the output layer, less the mean row (softmax does not see what all logits have in
// common) or less another token's.
function direction({ rows, cols, data }, answer, against) {
  const w = Float64Array.from(rowOf({ cols, data }, answer));
  for (let r = 0; r < rows; ++r)
    if (against === null || r === against)
      for (let c = 0; c < cols; ++c) w[c] -= data[r * cols + c] / (against === null ? rows : 1);
  return w;
}

const outPart = (attention, context, head) => {  // what a head adds to the row
  const alone = new Float32Array(context.length);
  attention.part(alone, head).set(attention.part(context, head));
  return product(attention.out.weight, alone);
};

// The head that adds most to the answer; in a post-norm model, which has no shares, to the row.
function strongest(model, stack, seen, row, parts) {
  if (parts) return parts.filter((part) => part.kind).reduce((a, b) => (b.share > a.share ? b : a));
  const heads = stack.blocks.flatMap((block, layer) => [block.self, block.cross].filter(Boolean).flatMap((attention) =>
    Array.from({ length: attention.heads }, (_, head) => {
      const added = outPart(attention, seen.layers[layer][attention.kind === "cross" ? "cross" : "self"].contexts[row], head);
      return { kind: attention.kind, layer, head, length: dot(added, added) };
    })));
  return heads.reduce((a, b) => (b.length > a.length ? b : a));
}

// A pre-norm model's last row is a sum, and its last norm is linear once its deviation is fixed: so each part of the
// sum has a share of the answer's logit (less the mean of all logits, or the logit of `against`).
function shares(model, stack, embedding, seen, row, answer, against) {
  if (!stack.norm) return null;
  const w = direction(model.output, answer, against), x = seen.layers.at(-1).out[row], [mean, inverse] = stack.norm.measure(x);
  const u = w.map((a, i) => a * stack.norm.gain[i] * inverse), all = u.reduce((a, b) => a + b, 0) / u.length;
  if (stack.norm.type === "layer") u.forEach((_, i) => { u[i] -= all; });  // (x - mean) u = x (u - mean of u)
  const stackName = stack.blocks[0].cross ? "decoder, " : "";  // where a model has several kinds
  const parts = [{ part: "embedding", share: dot(u, embedding.token(seen.ids[row])) }];
  if (embedding.kind === "learned" || embedding.kind === "sinusoidal") parts.push({ part: "positions", share: dot(u, embedding.position(row)) });
  const biases = stack.norm.bias ? [dot(w, stack.norm.bias)] : [];
  stack.blocks.forEach((block, layer) => {
    const { self, cross, fed } = seen.layers[layer];
    for (const [attention, of] of [[block.self, self], [block.cross, cross]]) {
      if (!attention) continue;
      for (let head = 0; head < attention.heads; ++head)
        parts.push({ part: `${stackName && (attention.kind === "cross" ? "cross-attention, " : stackName)}layer ${layer}, head ${head}`, kind: attention.kind, layer, head,
          share: dot(u, outPart(attention, of.contexts[row], head)) });
      if (attention.out.bias) biases.push(dot(u, attention.out.bias));
    }
    if (!block.feed) return;
    const bias = block.feed.fc2.bias ? dot(u, block.feed.fc2.bias) : 0;
    if (block.feed.fc2.bias) biases.push(bias);
    parts.push({ part: `${stackName}layer ${layer}, feed-forward`, layer, share: dot(u, fed[row]) - bias });
  });
  if (biases.length > 0) parts.push({ part: "biases", share: biases.reduce((a, b) => a + b) });
  return parts;
}

// The numbers of a head at a row: q . k / sqrt(width) and P for its three largest keys, and the five tokens that what it
// adds makes more probable.
function arithmetic(model, stack, seen, row, { kind, layer, head }) {
  const block = stack.blocks[layer], attention = kind === "cross" ? block.cross : block.self;
  const of = seen.layers[layer][kind === "cross" ? "cross" : "self"], p = of.weights[head][row];
  const scores = attention.scores(of.queries[row], of.keys.slice(0, p.length), head);
  const keys = best(p.map(Math.log), 3).map(({ id }) => ({ key: id, score: scores[id], p: p[id] }));
  let added = outPart(attention, of.contexts[row], head);
  if (stack.norm) {
    const [, inverse] = stack.norm.measure(seen.layers.at(-1).out[row]), [mean] = stack.norm.measure(added);
    added = added.map((a, i) => (a - mean) * inverse * stack.norm.gain[i]);
  }
  const logits = model.logits(added), mean = logits.reduce((a, b) => a + b, 0) / logits.length;
  return { kind, layer, head, keys, uniform: attention.uniform, scale: attention.scale, width: attention.width,
    promoted: best(logits, 5).map(({ id }) => ({ id, by: logits[id] - mean })) };
}
