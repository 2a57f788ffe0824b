// The model behind the page: reads texts as heed's commands do, and answers what the page asks. It runs in a worker.

// A float16 as a number: a sign, 5 bits of exponent, 10 of fraction (IEEE 754).
function numberOf(half) {
  const exponent = (half >> 10) & 31, fraction = half & 1023, sign = half >> 15 ? -1 : 1;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

function weightsOf({ tensors, weights }) {
  const letters = atob(weights), numbers = Float32Array.from({ length: 65536 }, (_, half) => numberOf(half)), found = {};
  let at = 0;
  for (const [name, rows, cols] of tensors) {
    const data = new Float32Array(rows * cols);
    for (let i = 0; i < data.length; ++i, at += 2) data[i] = numbers[letters.charCodeAt(at) | (letters.charCodeAt(at + 1) << 8)];
    found[name] = { rows, cols, data };
  }
  return found;
}

const endMark = "</s>";  // between a source and its target in one text
const mostShown = 48;  // tokens of a side, in maps

class Machine {
  constructor(data) {
    Object.assign(this, { reading: data.reading, objective: data.objective, model: new Transformer(data.model, weightsOf(data)) });
    this.target = tokenizerOf(data.tokenizer);
    this.source = data.source_tokenizer ? tokenizerOf(data.source_tokenizer) : this.target;
    this.pairs = data.objective.type === "seq2seq";
    this.two = this.model.encoder.blocks.length > 0 && this.model.decoder.blocks.length > 0;
    this.joined = this.pairs && !this.two;  // a decoder alone reads both
    this.maskId = data.objective.use === "fill" ? 3 : -1;
  }

  // What both sides read, { tokens, ids, before }: `before` ids stand before the tokens that were typed.
  read({ text, target, written }) {
    const { type, longest_source: mostSource, longest_target: mostTarget } = this.objective;
    const encode = (tokenizer, x) => {
      const read = asRead(x, this.reading, tokenizer);
      return { read, tokens: tokenizer.encode(read) };
    };
    const side = ({ read, tokens, dropped = 0 }, first, last) => ({ read, dropped, tokens, before: first.length,
      ids: [...first, ...tokens.map((t) => t.id), ...last] });
    const cut = ({ read, tokens }, most) => ({ read, tokens: tokens.slice(0, most), dropped: Math.max(0, tokens.length - most) });
    [text, target] = [text, target].map((x) => x.replace(/^\ufeff|\r$/g, ""));  // as lines of files are read
    if (this.maskId >= 0) text = text.replace(/<mask>|\[mask\]|_{3,}/gi, "[MASK]");
    const heldSource = !this.pairs && this.held(text), lead = target && heldSource ? 1 : 0;
    if (heldSource) text = text.slice(0, -1);
    if (lead) target = " " + target;
    if (this.held(target)) target = target.slice(0, -1);
    if (type === "span_corruption") {
      let masks = 0;  // the last sentinel ends an answer
      text = text.replace(/\[MASK\]/g, (mask) => (masks + 1 < this.source.first - 3 ? this.source.specials[3 + masks++] : mask));
    }
    const first = encode(this.source, text), none = { read: "", tokens: [] };
    if (this.joined) {
      const [source, ...rest] = (target ? text + endMark + target : text).split(endMark);
      const typed = rest.join(endMark), line = encode(this.source, source), answer = encode(this.target, this.held(typed) ? typed.slice(0, -1) : typed);
      const begin = line.read.length + endMark.length, end = { id: endId, written: true };
      const moved = answer.tokens.map((t) => ({ ...t, begin: t.begin + begin, end: t.end + begin }));
      const tokens = [...line.tokens, end, ...moved, ...written.map((id) => ({ id, written: true }))];
      const read = rest.length > 0 ? line.read + endMark + answer.read : line.read;
      return { source: side(line, [], [endId]), target: side(cut({ read, tokens }, mostTarget - 1), [beginId], []) };
    }
    const answer = this.two ? encode(this.target, target) : first;
    if (lead) answer.read = answer.read.slice(1);  // as it was typed
    for (const t of answer.tokens) [t.begin, t.end] = [Math.max(0, t.begin - lead), t.end - lead];
    const own = [...answer.tokens, ...written.map((id) => ({ id, written: true }))];
    if (type === "masked_lm") return { source: side(cut(first, mostSource - 1), [beginId], []), target: side(none, [], []) };
    if (type === "causal_lm") {
      // Of a long text the end is read. When it is full, writing starts again with the last half.
      let end = first.tokens.length + 1, dropped = Math.max(0, end - mostTarget);
      while (++end <= own.length + 1) if (end - dropped > mostTarget) dropped = end - Math.max(1, mostTarget >> 1);
      return { source: side(none, [], []), target: side({ read: first.read, tokens: own.slice(Math.max(0, dropped - 1)), dropped }, dropped ? [] : [beginId], []) };
    }
    // What is written in place of masks begins with the name of the first one.
    const mask = first.tokens.find(({ id }) => this.isMask(id))?.id, begin = mask === undefined || own[0]?.id === mask ? [beginId] : [beginId, mask];
    const decoder = side(cut({ read: answer.read, tokens: own }, mostTarget - begin.length), begin, []);
    if (type === "seq2seq") return { source: side(cut(first, mostSource - 1), [], [endId]), target: decoder };
    if (type === "span_corruption") return { source: side(cut(first, mostSource), [], []), target: decoder };
    const last = { read: first.read, tokens: first.tokens.slice(-mostSource), dropped: Math.max(0, first.tokens.length - mostSource) };
    return { source: side(last, last.tokens.length > 0 ? [] : [beginId], []), target: decoder };
  }

  // Pieces of words begin with a space: one that ends a text which goes on is read with what follows it.
  held(text) {
    return this.target.pieces && text.length > 1 && text.endsWith(" ");
  }
  // What may not follow the ids of such a text: the end, and what does not begin with the space.
  notNext({ text, target, written }, ids) {
    const typed = target || (this.joined ? text.split(endMark).slice(1).join(endMark) : this.pairs ? "" : text), { target: t } = this;
    if (this.maskId >= 0 || written.length > 0 || !this.held(typed)) return () => false;
    const first = (id) => t.byteOf(id) ?? t.textAfter(ids.at(-1), id).charCodeAt(0);
    return (id) => id === endId || (!t.isSpecial(id) && first(id) !== 32);
  }

  isMask(id) {
    return this.maskId >= 0 && id >= this.maskId && this.source.isSpecial(id);
  }

  // How probable the answer is at a row if one more head is off.
  without({ without, ...request }) {
    const { seen, side } = this.forward({ ...request, off: [...request.off, without] }), heat = request.temperature || 1;
    const row = Math.min(request.row, side.ids.length - 1);
    return Math.exp(logSoftmax(this.model.logits(seen.hidden[row]).map((x) => x / heat))[request.answer]);
  }

  // Runs the model on a request { text, target, written, off }.
  forward(request) {
    const { source, target } = this.read(request), off = request.off.join(" ");
    if (off !== this.off) {
      this.model.off = new Set(request.off);
      this.model.forget();
      this.off = off;
    }
    const decodes = this.model.decoder.blocks.length > 0;
    const seen = source.ids.length + target.ids.length > 0 ? this.model.forward(this.joined ? [] : source.ids, target.ids) : null;
    return { source, target, seen, decodes, stack: decodes ? this.model.decoder : this.model.encoder, side: decodes ? target : source };
  }

  // The id that the model writes next, null at the end, or "full" if there is no room for it.
  write(request) {
    const { seen, target, side } = this.forward(request), never = new Set(this.objective.never_written), notNext = this.notNext(request, side.ids);
    const full = (this.two || this.joined) && target.ids.length >= this.objective.longest_target;
    if (full) return "full";
    const logits = this.model.logits(seen.hidden.at(-1)).map((x, id) => (never.has(id) || notNext(id) ? -Infinity : x));
    if (request.temperature === 0) return this.unlessEnd(best(logits, 1)[0].id);
    let left = Math.random();
    const id = softmax(Float64Array.from(logits, (x) => x / request.temperature)).findIndex((p) => (left -= p) < 0);
    return this.unlessEnd(id < 0 ? best(logits, 1)[0].id : id);
  }
  unlessEnd(id) {
    return id === endId ? null : id;
  }

  // The typed text, and what was written after it.
  continued({ text, target, written }) {
    if (written.length === 0) return this.two ? target : text;
    const typed = this.two ? target : text, held = this.held(typed) && (!this.joined || typed.includes(endMark));
    const kept = held ? typed.slice(0, -1) : this.joined && !typed.includes(endMark) ? typed + endMark : typed;
    const before = this.joined ? kept.slice(kept.indexOf(endMark) + endMark.length) : kept;
    const ids = this.target.encode(asRead(before, this.reading, this.target)).map((t) => t.id);
    return kept + this.target.decode([...ids, ...written]).slice(this.target.decode(ids).length);
  }

  // The maps of a window of tokens, [layer * heads + head] of each kind.
  maps(of, sourceShown, targetShown) {
    const maps = {}, { encoder, decoder } = this.model.read;
    const add = (name, layers, queries, keys) => {
      maps[name] = layers.flatMap((layer) => layer.weights.map((rows) => {
        const map = new Float32Array((queries.end - queries.begin) * (keys.end - keys.begin));
        for (let q = queries.begin, at = 0; q < queries.end; ++q)
          for (let k = keys.begin; k < keys.end; ++k, ++at) map[at] = rows[q][k] ?? 0;
        return map;
      }));
    };
    if (encoder.layers.length > 0) add("encoder", encoder.layers.map((l) => l.self), sourceShown, sourceShown);
    if (decoder.layers.length > 0) add("decoder", decoder.layers.map((l) => l.self), targetShown, targetShown);
    if (this.two) add("cross", decoder.layers.map((l) => l.cross), targetShown, sourceShown);
    return maps;
  }

  // Everything that the page shows of a request { text, target, written, off, row, answer, against, temperature, head }.
  answer(request) {
    const run = this.forward(request), { source, target, seen, stack, side } = run;
    if (side.ids.length === 0 || (this.two && source.ids.length === 0)) throw new Error("Type a text.");
    const name = (t, id) => t.piece(id);
    const window = (ids, at) => {
      const begin = Math.max(0, Math.min(ids.length - mostShown, at - mostShown / 2));
      return { begin, end: Math.min(ids.length, begin + mostShown) };
    };
    const masks = [...source.ids.keys()].filter((i) => this.isMask(source.ids[i]));
    const last = run.decodes ? side.ids.length - 1 : masks[0] ?? Math.min(1, side.ids.length - 1);
    const row = Math.max(0, Math.min(side.ids.length - 1, request.row ?? last));
    const shownOf = { source: window(source.ids, run.decodes ? 0 : row), target: window(target.ids, row) };
    const tokensOf = (which, tokenizer, { begin, end }) => which.ids.slice(begin, end).map((id, i) => {
      const t = which.tokens[begin + i - which.before];
      return { id, piece: name(tokenizer, id), ...(t && !t.written ? { begin: t.begin, end: t.end } : {}), mask: this.isMask(id) };
    });
    const logits = this.model.logits(seen.hidden[row]), logs = logSoftmax(logits);
    if (logs.some(Number.isNaN)) throw new Error("The model's numbers overflow: nothing can be shown.");
    const never = row < side.ids.length - 1 ? () => false : this.notNext(request, side.ids);
    const heat = request.temperature || 1, warm = logSoftmax(logits.map((x) => x / heat));
    const chance = (id) => Math.exp((heat === 1 ? logs : warm)[id]);
    const named = (list, tokenizer = this.target) => list.map((x) => ({ ...x, piece: name(tokenizer, x.id) }));
    const out = {
      text: this.continued(request), read: { source: source.read, target: target.read }, row, last, two: this.two, decodes: run.decodes, dropped: [source.dropped, target.dropped],
      source: tokensOf(source, this.source, shownOf.source), target: tokensOf(target, this.target, shownOf.target),
      sourceBegin: shownOf.source.begin, masksBefore: masks.filter((i) => i < shownOf.source.begin).length, targetBegin: shownOf.target.begin, counts: [source.ids.length, target.ids.length],
      next: named(best(logs.map(without(never)), 5).map(({ id }) => ({ id, p: chance(id) }))),
      maps: this.maps(run, shownOf.source, shownOf.target),
    };
    const chosen = request.answer !== null && request.answer < logs.length ? request.answer : out.next[0].id;
    const against = request.against !== null && request.against < logs.length && request.against !== chosen ? request.against : null;
    out.answer = { id: chosen, piece: name(this.target, chosen), p: chance(chosen), logit: logits[chosen] };
    out.against = against === null ? null : { id: against, piece: name(this.target, against), p: chance(against) };
    out.less = against === null ? logits.reduce((a, b) => a + b, 0) / logits.length : logits[against];  // of the logit: what shares leave out
    out.lens = lens(this.model, stack, seen, row, chosen, heat, never).map((l) => ({ ...l, top: named(l.top) }));
    const embedding = run.decodes ? this.model.target : this.model.source;
    const parts = shares(this.model, stack, embedding, seen, row, chosen, against);
    out.shares = parts?.sort((a, b) => Math.abs(b.share) - Math.abs(a.share));
    out.strongest = strongest(this.model, stack, seen, row, parts);
    const [kind, layer, number] = (request.head ?? "").split("."), writes = kind === "cross" || kind === (run.decodes ? "decoder" : "encoder");
    const head = arithmetic(this.model, stack, seen, row, writes ? { kind, layer: Number(layer), head: Number(number) } : out.strongest);
    const [keys, of] = head.kind === "cross" ? [source, this.source] : [side, run.decodes ? this.target : this.source];
    out.head = { ...head, promoted: named(head.promoted), keys: head.keys.map((k) => ({ ...k, piece: of.piece(keys.ids[k.key]) })) };
    return out;
  }
}
