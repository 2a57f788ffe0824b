// Runs the model of a live page without its page: node live_model.js PAGE < lines of JSON > lines of JSON. A line is
// [method of the class Machine, its argument], or ["read", request] for ids, maps and log-probabilities of every row, or
// ["tokens", texts] for their ids.
"use strict";
const fs = require("fs");

const page = fs.readFileSync(process.argv[2], "utf-8");
const part = (start) => page.slice(page.indexOf(start) + start.length, page.indexOf("</script>", page.indexOf(start)));
const code = part('<script type="text/plain" id="machine">'), data = JSON.parse(part('<script type="application/json" id="data">'));
const { machine, logSoftmax, asRead } = new Function("data", code + "\nreturn { machine: new Machine(data), logSoftmax, asRead };")(data);

const noting = page.slice(page.indexOf("const unseen ="), page.indexOf("function show(answer"));
const noteOf = new Function("data", `let strange = [];\n${noting}\nreturn noteOf;`)(data);

const asked = {
  read(request) {
    const { source, target, seen } = machine.forward({ target: "", written: [], off: [], ...request });
    const { encoder, decoder } = machine.model.read, maps = {};
    const add = (name, stack, which) => {
      if (stack.layers[0]?.[which].weights[0].length) maps[name] = stack.layers.map((l) => l[which].weights.map((rows) => rows.map((r) => [...r])));
    };
    add("encoder", encoder, "self");
    add("decoder", decoder, "self");
    add("cross", decoder, "cross");
    return { source_ids: source.ids, target_ids: target.ids, maps,
      logprobs: seen.hidden.map((h) => [...logSoftmax(machine.model.logits(h))]) };
  },
  // Each token of a text masked in turn: its log-probability.
  masked({ text }) {
    const { objective, source, model } = machine, ids = source.encode(asRead(text, data.reading, source)).map((t) => t.id);
    return ids.map((id, i) => {
      const read = ids.map((other, j) => (j === i ? 3 : other)), t5 = objective.type === "span_corruption";
      const { hidden } = t5 ? model.forward(read, [1, 3]) : model.forward([1, ...read], []);
      return logSoftmax(model.logits(hidden[t5 ? 1 : 1 + i]))[id];
    });
  },
  tokens: (texts) => texts.map((text) => machine.target.encode(asRead(text, data.reading, machine.target)).map((t) => t.id)),
  // What the page says of a text.
  note: (request) => noteOf(machine.answer({ target: "", written: [], off: [], row: null, answer: null, against: null, temperature: 1, ...request })),
  decode: (lists) => lists.map((ids) => machine.target.decode(ids)),
};
for (const line of fs.readFileSync(0, "utf-8").split("\n").filter(Boolean)) {
  const [what, given] = JSON.parse(line);
  let answer;
  try {
    answer = asked[what] ? asked[what](given) : machine[what](given);
  } catch (error) {
    answer = { error: String(error.stack) };
  }
  process.stdout.write(JSON.stringify(answer, (key, value) => (ArrayBuffer.isView(value) ? [...value] : value)) + "\n");
}
