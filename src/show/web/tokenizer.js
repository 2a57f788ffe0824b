// Text to tokens and back, as heed's src/text does it. A token is { id, begin, end }: its characters in the text.
// The bytes of a character that no piece has are tokens of their own, all with that character's place.

const unknownId = 0, beginId = 1, endId = 2;
const utf8 = new TextEncoder(), fromUtf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const spaceMark = "\u2581";

// A text as the model's data was read: normalised, then in lower case. Names of special tokens stay.
function asRead(text, { normalize, lowercase }, tokenizer) {
  return tokenizer.parts(wellFormed(text)).map(({ part, special }) => {
    if (normalize !== "none") part = part.normalize(normalize.toUpperCase());
    return (lowercase ? part.toLowerCase() : part) + (special >= 0 ? tokenizer.specials[special] : "");
  }).join("");
}
// Half a character becomes U+FFFD.
const wellFormed = (text) => fromUtf8.decode(utf8.encode(text));

class Tokenizer {
  constructor({ special, tokens }) {
    this.specials = special;
    this.tokens = tokens;
    this.first = special.length;  // the first ordinary id
    this.ids = new Map(tokens.map((token, i) => [token, this.first + i]));
  }
  get size() {
    return this.first + this.tokens.length;
  }
  isSpecial(id) {
    return id < this.first;
  }
  // The text before each name of a further special token ([MASK]) and that token's id; then the rest, with -1. Of two
  // names that begin in one place the longer counts.
  parts(text) {
    const names = this.specials.slice(3), parts = [];
    for (let from = 0; ; ) {
      let at = Infinity, special = -1;
      names.forEach((name, i) => {
        const found = text.indexOf(name, from);
        if (found < 0 || found > at || (found === at && name.length < this.specials[special].length)) return;
        [at, special] = [found, i + 3];
      });
      parts.push({ part: text.slice(from, special < 0 ? undefined : at), begin: from, special });
      if (special < 0) return parts;
      from = at + this.specials[special].length;
    }
  }
  // The tokens of a text. With pieces of words, the name of a special token includes a space before it.
  encode(text, withSpecials = true) {
    if (!withSpecials) return [...this.scan(text)];
    const tokens = [];
    for (let { part, begin, special } of this.parts(text)) {
      const end = begin + part.length;
      if (special >= 0 && this.pieces && part.endsWith(" ")) part = part.slice(0, -1);
      for (const t of this.scan(part)) tokens.push({ id: t.id, begin: begin + t.begin, end: begin + t.end });
      if (special >= 0) tokens.push({ id: special, begin: begin + part.length, end: end + this.specials[special].length });
    }
    return tokens;
  }
  decode(ids) {
    let text = "", bytes = [], previous = -1;
    for (const id of [...ids, endId]) {
      const byte = this.byteOf(id);
      if (byte !== undefined) bytes.push(byte);
      else if (bytes.length > 0) [text, bytes] = [text + fromUtf8.decode(Uint8Array.from(bytes)), []];
      if (this.isSpecial(id)) {
        text += id > endId ? this.specials[id] : "";
        if (id === unknownId) previous = id;  // a word
        continue;
      }
      if (byte === undefined) text += this.textAfter(previous, id);
      previous = id;
    }
    return text;
  }
  byteOf() {}  // of a token that is a single byte
  textAfter(previous, id) {
    return this.tokens[id - this.first];
  }
  // For display.
  piece(id) {
    return this.isSpecial(id) ? this.specials[id] : this.textAfter(-1, id);
  }
}

class CharTokenizer extends Tokenizer {
  *scan(text) {
    let at = 0;
    for (const c of text) yield { id: this.ids.get(c) ?? unknownId, begin: at, end: at += c.length };
  }
}

class ByteTokenizer extends Tokenizer {
  get size() {
    return this.first + 256;
  }
  *scan(text) {
    let at = 0;
    for (const c of text) {
      for (const byte of utf8.encode(c)) yield { id: this.first + byte, begin: at, end: at + c.length };
      at += c.length;
    }
  }
  byteOf(id) {
    return this.isSpecial(id) ? undefined : id - this.first;
  }
  piece(id) {
    const byte = this.byteOf(id);
    return byte === undefined ? this.specials[id] : byte >= 32 && byte < 127 ? String.fromCharCode(byte) : nameOfByte(byte);
  }
}

// Words are between spaces; a line end is a word. With punctuation "split" every mark and symbol is a word, and joins its
// neighbours by rules.
class WordTokenizer extends Tokenizer {
  constructor(file) {
    super(file);
    this.splits = file.punctuation === "split";
  }
  *scan(text) {
    for (const found of text.matchAll(this.splits ? /\n|[\p{P}\p{S}]|[^ \t\r\v\f\n\p{P}\p{S}]+/gu : /\n|[^ \t\r\v\f\n]+/g))
      yield { id: this.ids.get(found[0]) ?? unknownId, begin: found.index, end: found.index + found[0].length };
  }
  textAfter(previous, id) {
    const [before, word] = [this.tokens[previous - this.first], super.textAfter(previous, id)];
    const joined = previous < 0 || word === "\n" || before === "\n" || (this.splits &&
      (/^['’\-‐‑/_.,;:!?%…、。，．：；！？\p{Pe}\p{Pf}]$/u.test(word) || /^['’\-‐‑/_¡¿\p{Ps}\p{Pi}]$/u.test(before)));
    return (joined ? "" : " ") + word;
  }
}

const nameOfByte = (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
// Characters that SentencePiece uses itself, and the line end, are always bytes.
const reserved = /[\0\t\n\u2581\u2585\ufffd]/;
const mostBytes = 1024;  // of a word

// Pieces of words: bpe and unigram. A word is a space and what follows up to the next one.
class PieceTokenizer extends Tokenizer {
  constructor(file) {
    super({ special: file.special, tokens: file.pieces });
    const { pieces, reading } = file, scores = file.scores.map(Math.fround);
    Object.assign(this, { pieces, scores, reading, byLine: file.by_line, user: new Set(file.user_defined), unigram: file.type === "unigram" });
    this.texts = new Map(pieces.map((piece, i) => [piece, i]));
    this.longest = pieces.reduce((most, piece) => Math.max(most, piece.length), 0);
    const normal = scores.filter((_, i) => !this.user.has(i));
    this.worst = Math.fround(normal.reduce((a, b) => Math.min(a, b), Infinity) - 10);  // of a character without a piece
    this.best = normal.reduce((a, b) => Math.max(a, b), -Infinity);
    this.known = new Map();  // words
  }
  get size() {
    return this.first + 256 + this.pieces.length;
  }
  *scan(text) {
    for (const { word, begin } of this.byLine ? this.lines(text) : this.words(text)) {
      let at = begin;
      const tokens = this.known.get(word) ?? this.split(word);
      if (this.known.size < 20000) this.known.set(word, tokens);
      for (const { id, length } of tokens) {
        const end = Math.min(text.length, at + length);
        yield { id, begin: at, end };
        if (length > 0) at = end;
      }
    }
  }
  *words(text) {
    for (const found of text.matchAll(/[\0\t\n\u2581\u2585\ufffd]| ?[^ \0\t\n\u2581\u2585\ufffd]+| /g)) {
      let word = "", begin = found.index, bytes = 0;
      for (const c of found[0]) {  // very long words are cut
        const n = utf8.encode(c).length;
        if (bytes + n > mostBytes) {
          yield { word, begin };
          [word, begin, bytes] = ["", begin + word.length, 0];
        }
        word += c;
        bytes += n;
      }
      yield { word, begin };
    }
  }
  // A model of others may read whole lines.
  *lines(text) {
    let begin = 0;
    for (const line of text.split("\n")) {
      if (begin > 0) yield { word: "\n", begin: begin - 1 };
      let word = line;
      if (this.reading.remove_extra_whitespaces) word = word.replace(/^ +|[ \u2581]+$/g, "").replace(/ +/g, " ");
      if (this.reading.add_dummy_prefix && word) word = " " + word;
      if (word) yield { word, begin };
      begin += line.length + 1;
    }
  }
  // [{ id, length }]: bytes of a character share its length, the first ones have 0
  split(word) {
    if (!this.byLine && reserved.test(word)) return this.bytes(word);
    const marked = !this.byLine || this.reading.escape_whitespaces ? word.replaceAll(" ", spaceMark) : word;
    if (word === "\n") return this.bytes(word);
    return (this.unigram ? this.mostProbable(marked) : this.merged(marked)).flatMap((text) => {
      const i = this.texts.get(text);
      return i === undefined ? this.bytes(text) : [{ id: this.first + 256 + i, length: text.length }];
    });
  }
  bytes(text) {
    return [...text].flatMap((c) => [...utf8.encode(c)].map((byte, i, all) =>
      ({ id: this.first + byte, length: i === all.length - 1 ? c.length : 0 })));
  }
  // bpe: joins the two neighbours whose piece was learnt first, the left ones of several, again and again.
  merged(word) {
    const symbols = this.symbols(word), score = (i) => {
      const piece = symbols[i].fixed || symbols[i + 1].fixed ? undefined : this.texts.get(symbols[i].text + symbols[i + 1].text);
      return piece === undefined ? -Infinity : this.scores[piece];
    };
    const scores = symbols.slice(1).map((_, i) => score(i));
    for (;;) {
      let at = -1;
      scores.forEach((s, i) => { if (s > (scores[at] ?? -Infinity)) at = i; });
      if (at < 0) return symbols.map(({ text }) => text);
      symbols.splice(at, 2, { text: symbols[at].text + symbols[at + 1].text });
      scores.splice(at, 1);
      for (const i of [at - 1, at]) if (i >= 0 && i < scores.length) scores[i] = score(i);
    }
  }
  // Characters, and user-defined pieces, which are taken whole.
  symbols(word) {
    const symbols = [];
    for (let at = 0; at < word.length; at += symbols.at(-1).text.length) {
      let text = String.fromCodePoint(word.codePointAt(at)), fixed = false;
      for (let n = Math.min(this.longest, word.length - at); this.user.size > 0 && n > 0 && !fixed; --n)
        if (this.user.has(this.texts.get(word.slice(at, at + n)))) [text, fixed] = [word.slice(at, at + n), true];
      symbols.push({ text, fixed });
    }
    return symbols;
  }
  // unigram: the pieces whose probabilities have the largest product (Viterbi). SentencePiece keeps sums of logarithms as
  // floats and compares before it rounds; so does this.
  mostProbable(word) {
    const ends = Array(word.length + 1).fill(null);
    ends[0] = { score: 0 };
    for (let at = 0; at < word.length; ) {
      const here = ends[at].score, next = at + String.fromCodePoint(word.codePointAt(at)).length;
      let single = false;
      const offer = (end, score) => {
        if (ends[end] === null || score > ends[end].score) ends[end] = { score: Math.fround(score), from: at };
      };
      for (let end = next; end <= word.length && end - at <= this.longest; ++end) {
        const i = this.texts.get(word.slice(at, end));
        if (i === undefined) continue;
        single ||= end === next;
        offer(end, here + (this.user.has(i) ? Math.fround(utf8.encode(word.slice(at, end)).length * this.best) - 0.1 : this.scores[i]));
      }
      if (!single) offer(next, Math.fround(here + this.worst));
      at = next;
    }
    const texts = [];
    for (let end = word.length; end > 0; end = ends[end].from) texts.unshift(word.slice(ends[end].from, end));
    return texts;
  }
  byteOf(id) {
    return this.isSpecial(id) || id >= this.first + 256 ? undefined : id - this.first;
  }
  textAfter(previous, id) {
    const text = this.pieces[id - this.first - 256].replaceAll(spaceMark, " ");
    const prefixed = this.reading.add_dummy_prefix && (previous < 0 || previous === this.first + 10);
    return prefixed && text.startsWith(" ") ? text.slice(1) : text;
  }
  piece(id) {
    return this.isSpecial(id) ? this.specials[id] : this.byteOf(id) !== undefined ? nameOfByte(this.byteOf(id)) : this.pieces[id - this.first - 256];
  }
}

const tokenizers = { char: CharTokenizer, byte: ByteTokenizer, word: WordTokenizer, bpe: PieceTokenizer, unigram: PieceTokenizer };
const tokenizerOf = (file) => new tokenizers[file.type](file);
