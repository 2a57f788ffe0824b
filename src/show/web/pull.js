// The pull of the chosen head, one more view of it. A frame has a byte for each score, the root of its share
// of the strongest: 128 is 0.

function pullOfHead() {
  const head = at.layer * kind().heads + at.head, known = ((frame().pulls ??= {})[at.kind] ??= {});
  if (known[head]) return known[head];
  const all = frame().pull?.[at.kind], size = queries().length * keys().length, root = (b) => (b - 128) / 127;
  const pull = all ? Array.from(bytesOf(all.map, head * size, size), (b) => all.largest * root(b) * Math.abs(root(b))) : Array(size).fill(0);
  return (known[head] = { pull, strongest: pull.reduce((most, x) => Math.max(most, Math.abs(x)), 0) });
}
function pullOf(query) {
  const n = keys().length;
  return pullOfHead().pull.slice(query * n, (query + 1) * n);
}

if (data.frames.some((f) => f.pull?.length))
  views.push({
    name: "Pull", colour: "--weight", against: "--share",
    about: "Blue: had it looked more here, it would have been less surprised by the right word; training makes it look more " +
      "there. Orange: less.",
    formula: "The pull −∂L/∂S says how the loss L of this text would move each score S. A step changes all rows at once, so the " +
      "weights follow on average only.",
    row: (query) => pullOf(query).map((x) => x / (pullOfHead().strongest || 1)),
    of: () => `in percent of the strongest, ${short(pullOfHead().strongest)} nats per unit of score`,
  });
