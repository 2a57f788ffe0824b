// What the chosen head does, in words: which of a list of simple patterns it follows most.

// Patterns of a kind: [words, (query, key) => does the pattern point there?]. A row counts only if
// the pattern points to one of its keys.
function patterns() {
  const [q, k] = [queries(), keys()];
  const place = (j) => (j === 0 ? "the first token" : j === k.length - 1 ? "the last token" : "one token");
  const single = k.map((token, at) => [`${place(at)}, “${shown(token)}”`, (_, j) => j === at]);
  if (kind().name === "cross")
    return [["the token that comes next", (i, j) => k[j] === q[i + 1]],
      ["the token at the same position", (i, j) => j === i],
      ["the mirrored position", (i, j) => j === k.length - 2 - i], ...single];
  return [["itself", (i, j) => j === i],
    ["the previous token", (i, j) => j === i - 1],
    ["the token two back", (i, j) => j === i - 2],
    ["the next token", (i, j) => j === i + 1 && kind().name === "encoder"],
    ["earlier copies of the same token", (i, j) => j < i && k[j] === q[i]],
    ["the token after an earlier copy", (i, j) => j < i && j > 0 && k[j - 1] === q[i]], ...single];
}

// The mean share of a row's weight that follows a pattern, and the same for evenly spread weights.
function match(points, rows) {
  let [share, even, count] = [0, 0, 0];
  for (const [i, row] of rows) {
    const there = [];
    for (let j = 0; j < visible(i); ++j) if (points(i, j)) there.push(j);
    if (there.length === 0) continue;
    ++count;
    share += there.reduce((sum, j) => sum + row[j], 0);
    even += there.length / visible(i);
  }
  return { share: share / count, even: even / count, count };
}

// "mostly the previous token" and its numbers. A pattern must apply to at least half of the rows that
// have a choice, and get twice the weight it would get by chance.
function headInWords() {
  const rows = queries().map((_, i) => [i, weights(i)]).filter(([i]) => visible(i) > 1);
  if (rows.length === 0) return ["there is only one token to look at", ""];
  const found = patterns().map(([words, points]) => ({ words, ...match(points, rows) }))
    .filter((m) => m.count >= rows.length / 2 && (m.share >= 2 * m.even || m.share >= 0.8));
  const best = found.sort((a, b) => b.share - a.share)[0];
  if (best && best.share >= 0.3)
    return [`${best.share >= 0.5 ? "mostly" : "often"} ${best.words}`,
      `${best.share.toFixed(2)} of the weight in the rows that see it; evenly spread weights would give ${best.even.toFixed(2)}`];
  const largest = rows.reduce((sum, [, row]) => sum + Math.max(...row), 0) / rows.length;
  const even = rows.reduce((sum, [i]) => sum + 1 / visible(i), 0) / rows.length;
  return [largest < 2 * even ? "spread widely" : "no simple pattern",
    `on average the largest weight of a row is ${largest.toFixed(2)}; evenly spread weights would give ${even.toFixed(2)}`];
}

function drawPattern() {
  const [words, numbers] = headInWords();
  $("pattern").replaceChildren(`${headName()}: ${words} `, element("small", {}, numbers && `(${numbers})`));
}
