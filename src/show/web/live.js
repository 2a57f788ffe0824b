// The page of a model (`heed report --live`, `heed attend --html`, `heed explain --html`): what is typed and clicked becomes a question to the machine (in a worker), and its
// answer is drawn. maps.js draws the heads.

const config = data.model, encodes = config.encoder_layers > 0, decodes = config.decoder_layers > 0, two = encodes && decodes;
const pairs = data.objective.type === "seq2seq", usual = pairs ? 0 : 1;  // temperature: as heed translate writes
const fills = !decodes, masks = data.objective.use === "fill";
data.kinds = [["encoder", config.encoder_layers], ["decoder", config.decoder_layers], ["cross", two ? config.decoder_layers : 0]]
  .filter(([, layers]) => layers > 0).map(([name, layers]) => ({ name, layers, heads: config.n_heads, queries: [], keys: [] }));
data.frames = [{ unpacked: {}, words: {} }];
data.first = Object.fromEntries(data.kinds.map(({ name }) => [name, { layer: 0, head: 0 }]));
const fresh = () => ({ text: "", target: "", written: [], off: [], row: null, answer: null, against: null, temperature: usual, layer: null, head: null });
const state = fresh();
let now = null;     // the last answer
let held = null;    // what was kept to compare: { word, next }, the guesses after a word
let writing = false;
const mostWritten = 500;  // at once
let hidden = [];    // the words behind the masks, in order
let own = "";       // what a person typed as target: the model wrote the rest

// ---- the machine

const blob = new Blob([$("machine").textContent, `
let machine;
onmessage = ({ data: [what, asked] }) => {
  try {
    if (what === "start") machine = new Machine(asked);
    else postMessage([what, machine[what](asked)]);
  } catch (error) { postMessage(["failed", String(error.message)]); }
};`], { type: "text/javascript" });
const [worker, looker] = [0, 1].map(() => new Worker(URL.createObjectURL(blob)));
let busy = false, wanted = null;  // at most one question is under way; only the latest of the others is asked after it
let writtenBefore;  // what is written where it goes on; another list if the text has changed meanwhile

function send(what) {
  if (busy) {
    wanted = what;
    return;
  }
  busy = true;
  if (what === "write") writtenBefore = state.written;
  worker.postMessage([what, state]);
}
worker.onmessage = ({ data: [what, answer] }) => {
  busy = false;
  const next = wanted;
  wanted = null;
  if (what === "failed") tell(answer, true);
  else what === "answer" ? show(answer, next === null) : wrote(answer);
  if (next) send(next);
  else if (writing) send("write");
};
worker.onerror = () => tell("The model has stopped: load the page again.");
// Says something; a failure until the next answer.
let failed = false;
function tell(what, failure = false) {
  if (failure) stop();
  $("notice").textContent = what;
  failed = failure;
}
const ask = () => send("answer");

// What the answer loses without each head: passes of another worker, once nobody types. As many as take 2 s, at least ten.
let round = 0, waiting = 0, without = {};  // of the answer: how probable it is, by the name of the head that is off
const headKey = ({ kind, layer, head }) => `${kind}.${layer}.${head}`;
const writers = () => now.shares?.filter((part) => part.kind) ?? data.kinds.filter((k) => k.name !== "encoder" || !decodes)
  .flatMap((k) => [...Array(k.layers * k.heads).keys()].map((i) => ({ kind: k.name, layer: Math.floor(i / k.heads), head: i % k.heads })));
function lookFurther() {
  without = {};
  clearTimeout(waiting);
  const mine = ++round, heads = writers().map(headKey).filter((name) => !state.off.includes(name)), asked = { ...state, row: now.row, answer: now.answer.id };
  waiting = setTimeout(() => {
    const begin = performance.now(), next = (i) => looker.postMessage(["without", { ...asked, without: heads[i] }]);
    looker.onmessage = ({ data: [, p] }) => {
      if (mine !== round) return;
      const done = Object.keys(without).length + 1;
      without[heads[done - 1]] = p;
      drawShares();
      if (done < heads.length && (done < mostParts || performance.now() - begin < 2000)) next(done);
      else if (chosenHere === nameOfHead()) chooseNamed(dearest());
    };
    if (heads.length > 0) next(0);
  }, 300);
}
const dearest = () => Object.keys(without).reduce((a, b) => (without[b] < without[a] ? b : a), Object.keys(without)[0]);
let chosenHere = null;  // the head that the page chose, until somebody chooses
function chooseNamed(name) {
  const [which, layer, head] = name.split(".");
  chosenHere = null;
  choose({ kind: data.kinds.findIndex((k) => k.name === which), layer: Number(layer), head: Number(head) });
}
const askAt = (row) => {
  Object.assign(state, { row, answer: null, against: null });
  ask();
};

// ---- what is asked

// Typing: what was written before is text now; but what the model wrote to another source goes.
function typed({ target: box }) {
  stop();
  if (box.id === "source" || !two) {
    hidden = [];
    state.text = box.value;
    if (two) state.target = $("text").value = own;
  } else state.target = own = box.value;
  Object.assign(state, { written: [], row: null, answer: null, against: null });
  ask();
}

function wrote(id) {
  if (state.written !== writtenBefore) return ask();
  if (id === null) stop("The model has ended the text.");
  else if (id === "full") stop("The model writes no more tokens than these.");
  else {
    Object.assign(state, { written: [...state.written, id], row: null, answer: null, against: null });
    if (state.written.length % mostWritten === 0) stop("It has written enough: press the button to go on.");
  }
  ask();
}
function stop(why = "") {
  writing = false;
  $("on").textContent = "Write on";
  tell(why);
}

function switchHead(name) {
  state.off = state.off.includes(name) ? state.off.filter((x) => x !== name) : [...state.off, name];
  ask();
}
const nameOfHead = () => `${kind().name}.${at.layer}.${at.head}`;

// Puts `words` in place of a token of the text; what the model wrote becomes text.
function replace(token, words) {
  const text = now.read.source.slice(0, token.begin) + words + now.read.source.slice(token.end);
  Object.assign(state, { text: text.replace(/<extra_id_\d+>/g, "[MASK]"), target: "", written: [], answer: null, against: null });
  $("text").value = own = "";
  $(two ? "source" : "text").value = state.text;
  ask();
}
const masksBefore = (i) => now.masksBefore + now.source.slice(0, i).filter((t) => t.mask).length;
function mask(token, i) {
  const row = two ? null : now.sourceBegin + i, place = masksBefore(i), word = now.read.source.slice(token.begin, token.end);
  if (!token.mask) {
    while (hidden.length < place) hidden.push("");  // masks that were typed hide nothing
    hidden.splice(place, 0, word);
    state.row = row;
    replace(token, (word.startsWith(" ") ? " " : "") + "[MASK]");
  } else if (state.row === row && hidden[place]) {
    state.row = null;
    replace(token, hidden.splice(place, 1)[0]);
  } else askAt(row);
}
// A click on a token: what is predicted there is shown, and the token is selected in its text, so that typing replaces it.
let selecting = null;
function pick(i, side, box) {
  const row = now[side + "Begin"] + i;
  if (masks && side === "source" && now.source[i].begin !== undefined) return mask(now.source[i], i);
  if (side === "target" || !two) Object.assign(state, { row, answer: null, against: null });
  Object.assign(state, two ? { target: $("text").value } : { text: $("text").value }, { written: [] });
  selecting = { row, side, box };
  ask();
}
function select({ row, side, box }) {
  const token = now[side][row - now[side + "Begin"]], read = now.read[side];
  if (token?.begin === undefined) return;
  if (box.value !== read) box.value = read;
  box.focus();
  box.setSelectionRange(token.begin + (read[token.begin] === " " && token.end - token.begin > 1 ? 1 : 0), token.end);
}

// ---- what is drawn

function drawTokens(place, side, box) {
  const tokens = now[side], begin = now[side + "Begin"], count = now.counts[side === "source" ? 0 : 1];
  const focused = [...place.children].indexOf(document.activeElement), chosen = two && side === "source" ? -1 : now.row - begin;
  place.replaceChildren(...tokens.map((token, i) => {
    const button = element("button", { type: "button", "aria-pressed": i === chosen, tabindex: i === Math.max(0, chosen) ? 0 : -1 }, shown(token.piece));
    button.addEventListener("click", () => pick(i, side, box));
    return button;
  }));
  if (begin > 0 || begin + tokens.length < count)
    place.append(element("span", {}, `tokens ${begin} to ${begin + tokens.length - 1} of ${count}`));
  if (focused >= 0) place.children[Math.min(focused, tokens.length - 1)]?.focus();
}

// What the signs mean that stand here.
const meanings = { "▁": "a space", "␣": "a space", "↵": "the end of a line", "⇥": "a tab", "<s>": "the beginning", "</s>": "the end",
  "<unk>": "what the model does not know", "<extra_id_0>": "the first [MASK]" };
function drawSigns() {
  const here = [...now.source, ...now.target, ...now.next].map(({ piece }) => shown(piece));
  $("signs").textContent = Object.keys(meanings).filter((sign) => here.some((piece) => piece.includes(sign)))
    .map((sign) => `${sign} ${meanings[sign]}`).join(" · ");
}

const barOf = (x, most) => {
  const e = element("i", x < 0 ? { class: "minus" } : {});
  e.style.width = (most > 0 ? 100 * Math.abs(x) / most : 0) + "%";
  return element("td", { class: "bar" }, e);
};
const opener = (label, pressed, use) => {
  const button = element("button", { type: "button", "aria-pressed": pressed }, label);
  button.addEventListener("click", use);
  return button;
};
// Replaces rows; the focus stays in its row.
function refill(place, rows) {
  const all = () => [...place.querySelectorAll("button")], focused = all().indexOf(document.activeElement);
  place.replaceChildren(...rows);
  if (focused >= 0) all()[Math.min(focused, all().length - 1)]?.focus();
}

function drawGuesses() {
  const tokens = decodes ? now.target : now.source, i = now.row - (decodes ? now.targetBegin : now.sourceBegin);
  const word = tokens[i] ? shown(tokens[i].piece) : "", asked = `${fills ? "at" : "after"} “${word}”`;
  $("one").textContent = now.row === now.last ? "Write a token" : "Write at the end";
  $("next-title").textContent = fills ? `What stands at “${word}”?` : `What comes after “${word}”?`;
  refill($("guesses"), now.next.map(({ id, piece, p }) => {
    const before = held?.next.find((h) => h.id === id)?.p;
    const row = element("tr", {}, element("th", { scope: "row" }, opener(shown(piece), id === now.answer.id, () => {
      state.answer = id;
      if (state.against === id) state.against = null;
      ask();
    })), element("td", {}, percent(p)), barOf(p, 1));
    if (held) row.append(element("td", { class: "share" }, before === undefined ? "–" : "was " + percent(before)));
    const add = element("button", { type: "button", "aria-label": `put “${shown(piece)}” into the text` }, "+");
    add.addEventListener("click", () => take(id));
    row.append(element("td", {}, add));
    return row;
  }));
  const gone = held?.next.filter((h) => !now.next.some((n) => n.id === h.id)).map((h) => `${shown(h.piece)} ${percent(h.p)}`) ?? [];
  $("held").textContent = held ? `kept ${held.asked}${gone.length > 0 ? ": " + gone.join(", ") : ""}` : "";
  $("hold").textContent = held ? "Compare no more" : "Keep to compare";
  $("hold").setAttribute("aria-pressed", held !== null);
  $("hold").onclick = () => {
    held = held ? null : { asked, next: now.next };
    drawGuesses();
  };
}
// Takes a guess into the text: after the chosen token, what followed it goes; or in place of the mask.
function take(id) {
  const guess = now.next.find((n) => n.id === id), token = now.source[now.row - now.sourceBegin];
  stop();
  if (!fills) {
    const at = now.target[now.row - now.targetBegin], after = now.counts[1] - 1 - now.row, kept = state.written.length - after;
    if (kept < 0) state[two ? "target" : "text"] = $("text").value = now.read.target.slice(0, at.end ?? 0);
    Object.assign(state, { written: [...state.written.slice(0, Math.max(0, kept)), id], row: null, answer: null, against: null });
    return ask();
  }
  if (token?.begin === undefined) return;
  hidden.splice(masksBefore(now.row - now.sourceBegin), token.mask ? 1 : 0);
  const old = now.read.source.slice(token.begin, token.end), space = old.startsWith(" ") && !guess.piece.startsWith("▁") ? " " : "";
  state.row = null;
  replace(token, space + guess.piece.replaceAll("▁", " "));
}

function drawLens() {
  const chosen = now.lens[state.layer];
  const rows = now.lens.map(({ layer, top, rank, p }) => element("tr", {},
    element("th", { scope: "row" }, opener(layer, chosen?.layer === layer, () => {
      state.layer = state.layer === layer ? null : layer;
      drawLens();
      keep();
    })), element("td", {}, shown(top[0].piece)), element("td", {}, percent(top[0].p)), element("td", {}, `${rank}.`), element("td", {}, percent(p))));
  const titles = ["layer", "first", "", "rank", `“${shown(now.answer.piece)}”`].map((title) => element("th", { scope: "col" }, title));
  if (chosen) rows.splice(chosen.layer + 1, 0, ...chosen.top.map(({ piece, p }) => element("tr", {}, element("td", {}),
    element("td", {}, shown(piece)), element("td", {}, percent(p)), element("td", { colspan: 2 }))));
  const lost = now.lens.findLastIndex(({ rank }) => rank > 1) + 1;
  $("lead").textContent = lost < now.lens.length ? `“${shown(now.answer.piece)}” leads after layer ${lost}.` : "";
  refill($("lens"), [element("thead", {}, element("tr", {}, ...titles)), element("tbody", {}, ...rows)]);
}

const mostParts = 10;
function drawShares() {
  const against = now.against ? ` and not “${shown(now.against.piece)}” (${percent(now.against.p)})` : "";
  $("shares-title").textContent = `Who wrote “${shown(now.answer.piece)}” (${percent(now.answer.p)})${against}?`;
  const listed = now.next.filter((n) => n.id !== now.answer.id), { against: other } = now;
  const options = other === null || listed.some((n) => n.id === other.id) ? listed : [...listed, other];
  $("against").replaceChildren(element("option", { value: "" }, "any other"),
    ...options.map(({ id, piece }) => element("option", { value: id }, shown(piece))));
  $("against").value = now.against?.id ?? "";
  $("about-shares").textContent = (now.shares ? `Its logit (the score before softmax) less ${now.against ? "that of the other" : "the mean of all"} is the sum of what every part adds, its share: what it wrote itself, not what later parts made of it. `
    : "This model norms every sum (norm \"post\"): its parts have no shares that add up. ") + "“If off”: how probable the answer is without that head.";
  const all = now.shares ?? writers().map((part) => ({ ...part, part: `${two ? (part.kind === "cross" ? "cross-attention, " : `${part.kind}, `) : ""}layer ${part.layer}, head ${part.head}` }));
  const listed10 = (part, i) => i < mostParts || (part.kind && headKey(part) === dearest()), total = (list) => list.reduce((s, p) => s + p.share, 0);
  const parts = all.filter(listed10), rest = all.filter((part, i) => !listed10(part, i)), most = largest(parts.map((p) => Math.abs(p.share)));
  const number = (x) => (isNaN(x) ? "" : x.toFixed(2).replace("-", "−")), cell = (x) => element("td", {}, x);
  const row = (label, share, ...more) => element("tr", {}, element("th", { scope: "row" }, label), cell(number(share)), ...more);
  refill($("parts"), [element("tr", {}, ...["", now.shares ? "share" : "", "", "if off"].map((title) => element("th", { scope: "col" }, title))),
    ...parts.map((part) => row(part.kind ? opener(part.part, headKey(part) === nameOfHead(), () => chooseNamed(headKey(part))) : part.part, part.share,
      now.shares ? barOf(part.share, most) : cell(""), cell(part.kind && headKey(part) in without ? percent(without[headKey(part)]) : ""))),
    ...(rest.length > 0 ? [row(`${rest.length} smaller ones`, total(rest))] : []), ...(now.shares ? [row("sum", total(all))] : [])]);
}

function drawSum() {
  const { head } = now, number = (x) => x.toFixed(3).replace("-", "−");
  $("sums-title").textContent = `${names[head.kind]}, layer ${head.layer}, head ${head.head}, in numbers`;
  const formula = head.uniform ? "P = 1 / n" : head.scale === 1 ? "score = q · k" : `score = q · k / √${head.width}`;
  const lines = head.keys.map((k) => `“${shown(k.piece)}” (${k.key}): ${head.uniform ? "" : number(k.score) + " → "}P = ${number(k.p)}`);
  const promoted = head.promoted.map((t) => `“${shown(t.piece)}” ${t.by < 0 ? "" : "+"}${number(t.by)}`);
  if (state.off.includes(headKey(head))) $("sum").textContent = "It is switched off: it adds 0.";
  else $("sum").replaceChildren(formula + (head.uniform ? "" : ", P = softmax(score)"), element("small", {}, "  Attention in model.js, src/nn/attention.h"), "\n" + lines.join("\n") + "\n",
    "Σ P v, through W_O and the output layer, promotes", element("small", {}, "  arithmetic in explain.js, src/show/explain.h"), "\n" + promoted.join("\n"));
}

// In maps.js a head is in words; here, where it looks from the chosen row.
function wordsOf({ name, queries, keys }, map, off) {
  const row = name === "encoder" ? now.row - now.sourceBegin : now.row - now.targetBegin;
  const n = keys.length, q = Math.max(0, Math.min(queries.length - 1, decodes && name === "encoder" ? queries.length - 1 : row));
  const weights = [...map.subarray(q * n, (q + 1) * n)], order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, 3);
  return `${off ? "(off) " : ""}“${shown(queries[q] ?? "")}” ${off ? "would look" : "looks"} at ` + order.filter((k) => weights[k] >= 0.005).map((k) => `“${shown(keys[k])}” ${percent(weights[k])}`).join(", ");
}

let drawn;  // the kind and the sizes of the pictures
function drawHeadsOf() {
  const { unpacked, words } = frame(), shape = () => [at.kind, ...data.kinds.flatMap((k) => [k.queries.length, k.keys.length])].join();
  data.kinds.forEach((k, i) => {
    const tokens = (side) => side.map((t) => t.piece);
    k.queries = tokens(k.name === "encoder" ? now.source : now.target);
    k.keys = tokens(k.name === "decoder" ? now.target : now.source);
    unpacked[i] = now.maps[k.name];
    words[k.name] = now.maps[k.name].map((map, i) => wordsOf(k, map, state.off.includes(headKey({ kind: k.name, layer: Math.floor(i / k.heads), head: i % k.heads }))));
  });
  const begin = now.targetBegin + now.target.length;
  data.next = decodes && now.row === now.last && begin === now.counts[1] ? { [now.target.length - 1]: [{ token: now.next[0].piece }] } : undefined;
  at.query = Math.max(0, now.row - (decodes ? now.targetBegin : now.sourceBegin));
  const focused = $("heads").contains(document.activeElement), same = shape() === drawn;
  drawn = shape();
  if (!drawChosen) return startMaps(drawChosenHead);
  choose(same ? {} : { kind: at.kind });
  if (focused) buttonsOfHeads()[at.layer * kind().heads + at.head].focus();
}
// After a choice, and after every answer.
function drawChosenHead() {
  if (state.head !== null && state.head !== nameOfHead()) {
    state.head = nameOfHead();
    ask();  // for its numbers
  }
  drawView((query) => { at.query = query; });
  const off = state.off.includes(nameOfHead());
  $("off").textContent = off ? "Switch it on" : "Switch it off";
  $("off").setAttribute("aria-pressed", off);
  $("all-on").hidden = state.off.length === 0;
  buttonsOfHeads().forEach((button, i) => {
    const [layer, head] = [Math.floor(i / kind().heads), i % kind().heads], isOff = state.off.includes(`${kind().name}.${layer}.${head}`);
    button.classList.toggle("off", isOff);
    button.setAttribute("aria-label", `layer ${layer}, head ${head}${isOff ? ", switched off" : ""}`);
  });
  const rows = [...($("map").tBodies[0]?.rows ?? [])], chosen = two && kind().name === "encoder" ? undefined : rows[at.query];
  chosen?.classList.add("chosen");
  if (chosen) rows.forEach((row, q) => row.cells[0].addEventListener("click", () => askAt(q + now[decodes ? "targetBegin" : "sourceBegin"])));
  if (rows.length > 0) $("map").parentNode.scrollTop = chosen ? chosen.offsetTop - $("map").parentNode.clientHeight / 2 : 0;
  keep();
}

// What the model cannot read of the text.
let noted = false;
let strange = [];  // what the address names and is not there
// What is not seen by its name: white space, control characters and those that turn or join.
const unseen = (text) => text.replace(/[\s\p{Cc}\p{Cf}]/gu, (c) => "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0"));
function noteOf({ dropped, source, target, read }) {
  if (strange.length > 0) return `The address names what is not here: ${strange.splice(0).join(", ")}.`;
  const long = dropped.findIndex((n) => n > 0), bytes = data.tokenizer.type !== "byte";
  const words = (side, tokens, is) => tokens.filter((t) => t.begin < t.end && is(t)).map((t) => unseen(read[side].slice(t.begin, t.end)));
  const found = (is) => [...new Set([...words("source", source, is), ...words("target", target, is)])].slice(0, 8).join(", ");
  const unknown = found((t) => t.id === 0), spelled = bytes ? found((t) => /^<0x/.test(t.piece) && t.piece !== "<0x0A>") : "";
  if (long >= 0) return `The model reads at most ${data.objective[long === 0 ? "longest_source" : "longest_target"]} tokens here: ${dropped[long]} are left out.`;
  if (unknown) return `The model does not know, and reads as <unk>: ${unknown}${data.example ? `. It knows texts like: ${data.example.text}` : ""}`;
  if (spelled) return `The model has no tokens for these, and reads their bytes: ${spelled}`;
  const spaced = data.objective.type === "seq2seq" && (data.source_tokenizer ?? data.tokenizer).type !== "word" && read.source !== read.source.trim();
  return spaced ? "The white space at an end of the line is read too, and may change its translation." : "";
}
function show(answer, latest) {
  now = answer;
  const used = { row: now.row, answer: now.answer.id, against: now.against?.id, layer: now.lens[state.layer]?.layer };
  for (const [name, value] of Object.entries(used)) if (latest && state[name] !== null && state[name] !== value && !(pair && name === "row")) {
    strange.push(`${name}=${state[name]}`);
    state[name] = null;
  }
  // The first text shows its strongest head of this kind.
  const { kind: which, layer, head } = now.strongest;
  if (state.head === null && Math.max(...now.counts) > 2) {
    if (which === kind().name) Object.assign(at, { layer, head });
    state.head = chosenHere = nameOfHead();
  }
  const box = $("text"), text = answer.text;
  if (state.written.length > 0 && box.value !== text) {
    box.value = text;
    box.scrollTop = box.scrollHeight;
  }
  const note = noteOf(answer);
  if (note || failed || noted) tell(note);
  noted = note !== "";
  if (encodes) drawTokens($(two ? "source-tokens" : "tokens"), "source", $(two ? "source" : "text"));
  if (decodes) drawTokens($("tokens"), "target", $("text"));
  drawSigns();
  drawGuesses();
  drawHeadsOf();
  if (latest) lookFurther();
  drawLens();
  drawShares();
  drawSum();
  if (selecting) select(selecting);
  selecting = null;
}

// ---- the address keeps the state

let kept = 0;
function keep() {
  clearTimeout(kept);
  kept = setTimeout(() => {
    const apart = pair && answers, text = two || apart ? state.text : now.text, of = new URLSearchParams({ text });
    const add = (name, value, usual) => { if (String(value ?? usual) !== String(usual)) of.set(name, value); };
    add("target", two ? (apart ? own : now.text) : "", "");
    add("off", state.off.join(" "), "");
    for (const name of ["row", "answer", "against", "layer"]) add(name, state[name], "");
    add("temperature", state.temperature, usual);
    add("head", nameOfHead(), "");
    add("view", at.view, 0);
    add("wrote", two && !apart ? Math.max(0, now.text.length - own.length) : 0, 0);
    add("writes", apart && (writing || now.text !== (two ? own : state.text)) ? 1 : 0, 0);
    for (const word of hidden) of.append("hidden", word);
    const hash = "#" + of;
    if (pair) pair(hash);
    else if (hash !== location.hash) history.replaceState(openedAt, "", hash);
  }, 300);
}

// Beside another model (pair.js) the page of both has the address, and is told what it would be here. Each writes its own answer.
const answers = two || pairs;
let pair = null, other = () => null, pairAddress = "";
function joinPair(told, otherWindow) {
  pair = told;
  other = otherWindow;
  document.body.classList.add("paired");
  if (pairs && !two && data.example) goTo("#" + new URLSearchParams({ text: data.example.text, writes: 1 }));
}
function goTo(hash) {
  const { text, target, written } = state, typedHere = own, goesOn = writing;
  pairAddress = hash.slice(1);
  clearTimeout(kept);
  stop();
  restore();
  const same = answers && state.text === text && own === typedHere;
  if (same) Object.assign(state, { target, written });
  if (same && two) $("text").value = target;
  if (answers && (same ? goesOn : new URLSearchParams(pairAddress).has("writes"))) write(true);
  else ask();
}
// Writes a token, or on.
function write(on) {
  stop();
  writing = on;
  if (on) $("on").textContent = "Stop";
  send("write");
}
const onBothSides = (use) => [window, ...(answers ? [other()] : [])].forEach((side) => side && use(side));

// The text that the maps of the run's film are about and, where that is another text, what the model wrote to it.
function exampleOf({ prompts, written, filled }) {
  const shown = prompts.length > 1 ? 1 : 0, target = two || data.objective.type === "seq2seq" ? written[shown] : "";
  if (masks) return { text: filled.replace(/›.*?‹/gs, "[MASK]") };
  return { text: prompts[shown] ?? "", ...(target ? { target, wrote: target.length } : {}), ...(target && two ? { row: 1 } : {}) };
}
if (data.film) data.example = exampleOf(data.film);

const whole = (text) => (/^\d{1,9}$/.test(text ?? "") ? Number(text) : null);
// Where the page begins: at the address, or at what the command that wrote it was asked, if it has written anew since.
const inAddress = (asked) => {
  const of = new URLSearchParams(asked);
  if (!two && pairs && of.get("target")) of.set("text", `${of.get("text")}</s>${of.get("target")}`);
  return of;
};
const opening = inAddress(data.opening ?? data.example ?? {});
const openedAt = String(opening);
const address = () => pair ? pairAddress : (location.hash && (history.state ?? openedAt) === openedAt ? location.hash.slice(1) : openedAt);
function restore() {
  const of = new URLSearchParams(), isHead = (name) => {
    const [, which, layer, head] = name.match(/^(encoder|decoder|cross)\.(\d+)\.(\d+)$/) ?? [], k = data.kinds.find((x) => x.name === which);
    return k && layer < k.layers && head < k.heads;
  };
  for (const [name, value] of new URLSearchParams(address())) of.append(name.toLowerCase().replace("source", "text"), value);
  // What is asked for and can be: else it is named.
  const taken = (name, can) => (of.get(name) ?? "").split(" ").filter((x) => x && (can(x) || !strange.push(`${name}=${x}`)));
  strange = [...of.keys()].filter((name) => !(name in state) && !["view", "hidden", "wrote", "writes"].includes(name));
  Object.assign(state, fresh(), { text: of.get("text") ?? "", target: of.get("target") ?? "", off: taken("off", isHead), head: taken("head", isHead)[0] ?? null });
  for (const name of ["row", "answer", "against", "layer"]) state[name] = whole(taken(name, (x) => whole(x) !== null)[0]);
  state.temperature = Math.round(100 * Math.max(0, Math.min(2, Number(taken("temperature", (x) => !isNaN(x))[0] ?? usual)))) / 100;
  hidden = of.getAll("hidden");
  chosenHere = null;
  own = state.target.slice(0, Math.max(0, state.target.length - whole(of.get("wrote"))));
  at.view = Number(taken("view", (x) => Number(x) === views.length)[0] ?? 0);
  $("views").querySelectorAll("input").forEach((input, i) => { input.checked = i === at.view; });
  if (state.head) {
    const [which, layer, number] = state.head.split(".");
    Object.assign(at, { kind: data.kinds.findIndex((k) => k.name === which), layer: Number(layer), head: Number(number) });
  }
  $("text").value = two ? state.target : state.text;
  $("source").value = state.text;
  $("heat").value = state.temperature;
  $("degrees").textContent = state.temperature;
}

function startPage() {
  $("about").textContent = data.about + "; its weights are float16 here: last digits may differ from heed's";
  if (data.reloads) addEventListener("blur", () => addEventListener("focus", () => location.reload()));
  document.title = data.about + ": a model to type to";
  if (masks) $("picking").textContent = "Click a token of your text to put a [MASK] in its place and see what is expected there; one more click shows it again.";
  $("source-side").hidden = !two;
  $("sides").classList.toggle("two", two);
  $("text-label").textContent = two ? "What the model writes" : "Text";
  $("one").hidden = $("on").hidden = fills;
  $("kinds").hidden = data.kinds.length === 1;
  $(two ? "source" : "text").placeholder = data.objective.instructions + (data.example ? ` For example: ${data.example.text}` : "");
  if (data.report) find("nav").prepend(element("a", { href: data.report }, "How it learnt"));
  restore();
  $("how").open = innerWidth > 600 && state.text === "";
  if (innerWidth <= 600) for (const panel of document.querySelectorAll("section > details")) panel.open = false;
  for (const box of ["text", "source"]) $(box).addEventListener("input", typed);
  $("one").addEventListener("click", () => onBothSides((side) => side.write?.(false)));
  $("on").addEventListener("click", () => {
    const on = !writing;
    onBothSides((side) => (on ? side.write?.(true) : side.stop()));
  });
  $("heat").addEventListener("input", () => {
    state.temperature = Number($("heat").value);
    $("degrees").textContent = state.temperature;
    ask();
  });
  $("clear").addEventListener("click", () => {
    stop();
    Object.assign(state, fresh());
    hidden = [];
    own = "";
    for (const box of ["text", "source"]) $(box).value = "";
    $("heat").value = $("degrees").textContent = usual;
    $(two ? "source" : "text").focus();
    ask();
  });
  $("against").addEventListener("change", () => {
    Object.assign(state, { answer: now.answer.id, against: whole($("against").value) });
    ask();
  });
  $("off").addEventListener("click", () => switchHead(nameOfHead()));
  $("all-on").addEventListener("click", () => { state.off = []; ask(); });
  $("heads").addEventListener("click", () => {  // before the listener that chooses
    state.head ??= "";
    chosenHere = null;
  }, true);
  for (const group of ["tokens", "source-tokens"]) arrows($(group), false);
  addEventListener("hashchange", () => {
    if (/^#(word-|glossary)/.test(location.hash)) return;
    stop();
    restore();
    ask();
  });
  tell("The weights are being read …", true);
  for (const each of [worker, looker]) each.postMessage(["start", data]);
  delete data.weights;
  ask();
}
