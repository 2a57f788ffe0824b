// A transformer's forward pass as heed computes it, in the order of its src/nn: each part below is a file there.
// A row is what the model holds for one token, d_model numbers. A matrix W is { rows, cols, data }, one row after the
// other; W x takes `cols` numbers to `rows`. `weights` finds the matrices by their names in a checkpoint.

// W x + b
function product({ rows, cols, data }, x, bias) {
  const y = new Float32Array(rows);
  for (let r = 0, at = 0; r < rows; ++r) {
    let a = 0, b = 0, c = 0, d = 0, i = 0;  // four sums side by side are faster than one
    for (; i + 3 < cols; i += 4, at += 4) {
      a += data[at] * x[i];
      b += data[at + 1] * x[i + 1];
      c += data[at + 2] * x[i + 2];
      d += data[at + 3] * x[i + 3];
    }
    for (; i < cols; ++i, ++at) a += data[at] * x[i];
    y[r] = a + b + c + d + (bias ? bias[r] : 0);
  }
  return y;
}

const rowOf = ({ cols, data }, r) => data.subarray(r * cols, (r + 1) * cols);
const sum = (x, y) => x.map((a, i) => a + y[i]);
function dot(x, y) {
  let s = 0;
  for (let i = 0; i < x.length; ++i) s += x[i] * y[i];
  return s;
}

// x - largest keeps exp from overflowing; it does not change the result.
function softmax(x) {
  const top = x.reduce((a, b) => Math.max(a, b), -Infinity), e = x.map((a) => Math.exp(a - top));
  const all = e.reduce((a, b) => a + b, 0);
  return e.map((a) => a / all);
}

// ---- nn/linear: y = W x + b

class Linear {
  constructor(weights, name) {
    this.weight = weights[name + ".weight"];
    this.bias = weights[name + ".bias"]?.data;
  }
  forward(x) {
    return product(this.weight, x, this.bias);
  }
}

// ---- nn/norm: every row gets mean 0 and variance 1 (layer), or mean square 1 (rms); then a learnt gain and bias

class Norm {
  constructor(weights, name, type, eps) {
    Object.assign(this, { type, eps, gain: weights[name + ".weight"].data, bias: weights[name + ".bias"]?.data });
  }
  // [mean, 1 / deviation] of a row
  measure(x) {
    let mean = 0, squares = 0;
    if (this.type === "layer") for (const a of x) mean += a / x.length;
    for (const a of x) squares += (a - mean) ** 2;
    return [mean, 1 / Math.sqrt(squares / x.length + this.eps)];
  }
  forward(x) {
    const [mean, inverse] = this.measure(x);
    return x.map((a, i) => (a - mean) * inverse * this.gain[i] + (this.bias ? this.bias[i] : 0));
  }
}

// ---- nn/embedding: a row for each token, and one for its position

// Pairs of numbers turn with the position p, each pair more slowly than the one before: pair i by p / base^(2i / width).
const angle = (p, i, width, base) => p * base ** (-2 * i / width);

class Embedding {
  constructor(weights, tokens, positions, config) {
    Object.assign(this, { tokens: weights[tokens], positions: weights[positions + ".weight"], kind: config.positions });
    this.scale = this.kind === "sinusoidal" ? Math.sqrt(config.d_model) : 1;
  }
  token(id) {
    return rowOf(this.tokens, id).map((a) => this.scale * a);
  }
  position(p) {
    const d = this.tokens.cols;
    if (this.kind === "learned") return rowOf(this.positions, p);
    if (this.kind !== "sinusoidal") return new Float32Array(d);  // rotary positions are in attention
    return Float32Array.from({ length: d }, (_, c) =>
      (c % 2 === 0 ? Math.sin : Math.cos)(angle(p, c >> 1, d, 10000)));
  }
  forward(id, p) {
    return sum(this.token(id), this.position(p));
  }
}

// ---- nn/attention: each head mixes the values of the tokens that it sees

class Attention {
  constructor(weights, name, kind, layer, config) {
    const { d_model, n_heads, n_kv_heads, rope_base } = config;
    Object.assign(this, { kind, layer, heads: n_heads, keyHeads: n_kv_heads || n_heads, width: d_model / n_heads, base: rope_base });
    for (const part of ["q", "k", "v", "out"]) this[part] = new Linear(weights, `${name}.${part}_proj`);
    if (config.qk_norm)
      for (const part of ["q_norm", "k_norm"]) this[part] = new Norm(weights, `${name}.${part}`, "rms", config.norm_eps);
    const { uniform, scaled, positions } = config.attention[kind === "cross" ? kind : kind + "_self"];
    this.uniform = uniform;
    this.scale = scaled ? 1 / Math.sqrt(this.width) : 1;
    this.rotary = config.positions === "rotary" && positions && kind !== "cross";
  }
  // A head's part of a row. With fewer heads for keys and values, neighbouring heads share them.
  part(row, head) {
    return row.subarray(head * this.width, (head + 1) * this.width);
  }
  keyHead(head) {
    return Math.floor(head * this.keyHeads / this.heads);
  }
  // A row of queries or keys: each head's part is normed, if at all, and turned by its position.
  prepared(row, norm, position) {
    for (let h = 0; h < row.length / this.width; ++h) {
      const x = this.part(row, h);
      if (norm) x.set(norm.forward(x));
      for (let c = 0; this.rotary && c < this.width; c += 2) {
        const turn = angle(position, c / 2, this.width, this.base), [a, b] = [x[c], x[c + 1]];
        x[c] = a * Math.cos(turn) - b * Math.sin(turn);
        x[c + 1] = a * Math.sin(turn) + b * Math.cos(turn);
      }
    }
    return row;
  }
  query(x, position) {
    return this.prepared(this.q.forward(x), this.q_norm, position);
  }
  // Reads a token: its key and its value.
  read(x, position, seen) {
    seen.keys.push(this.prepared(this.k.forward(x), this.k_norm, position));
    seen.values.push(this.v.forward(x));
  }
  // How well the query fits each key: q . k / sqrt(width)
  scores(query, keys, head) {
    const q = this.part(query, head);
    return Float32Array.from(keys, (key) => this.scale * dot(q, this.part(key, this.keyHead(head))));
  }
  // The row that the heads write for a query. P = softmax(scores); each head gives sum_j P_j v_j.
  forward(query, seen, off) {
    const context = new Float32Array(query.length);
    for (let h = 0; h < this.heads; ++h) {
      const n = seen.keys.length, out = this.part(context, h);
      const p = this.uniform ? new Float32Array(n).fill(1 / n) : softmax(this.scores(query, seen.keys, h));
      seen.weights[h].push(p);
      if (off.has(`${this.kind}.${this.layer}.${h}`)) continue;  // a head that is switched off gives 0
      for (let j = 0; j < n; ++j) {
        const v = this.part(seen.values[j], this.keyHead(h));
        for (let c = 0; c < out.length; ++c) out[c] += p[j] * v[c];
      }
    }
    seen.queries.push(query);
    seen.contexts.push(context);
    return this.out.forward(context);
  }
}

// ---- nn/feed_forward: every row alone, through d_ff numbers

// The error function, to 2e-7 (Abramowitz and Stegun 1964, 7.1.26).
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.sign(x) * (1 - poly * Math.exp(-x * x));
}

const activations = {
  relu: (u) => Math.max(0, u),
  relu2: (u) => Math.max(0, u) ** 2,
  gelu: (u) => u * (1 + erf(u / Math.SQRT2)) / 2,
  gelu_tanh: (u) => u * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (u + 0.044715 * u ** 3))) / 2,
  silu: (u) => u / (1 + Math.exp(-u)),
};

class FeedForward {
  constructor(weights, name, config) {
    this.activation = activations[config.activation];
    for (const part of ["fc1", "fc2", ...(config.feed_forward === "gated" ? ["fc_gate"] : [])])
      this[part] = new Linear(weights, `${name}.${part}`);
  }
  // plain: fc2(f(fc1 x)); gated: fc2(f(fc_gate x) ⊙ fc1 x)
  forward(x) {
    const u = (this.fc_gate ?? this.fc1).forward(x).map(this.activation);
    const h = this.fc_gate ? this.fc1.forward(x).map((v, i) => v * u[i]) : u;
    return this.fc2.forward(h);
  }
}

// ---- nn/block: a branch adds to a row. pre: x + f(norm(x)); post: norm(x + f(x))

class Residual {
  constructor(weights, name, config) {
    this.pre = config.norm === "pre";
    this.norm = new Norm(weights, name, config.norm_type, config.norm_eps);
  }
  // What the branch reads of a row.
  input(x) {
    return this.pre ? this.norm.forward(x) : x;
  }
  forward(x, branch) {
    return this.pre ? sum(x, branch) : this.norm.forward(sum(x, branch));
  }
}

// ---- nn/block: self-attention, cross-attention if there is an encoder to look at, feed-forward

class Block {
  constructor(weights, name, kind, layer, config) {
    const cross = kind === "decoder" && config.encoder_layers > 0;
    this.causal = kind === "decoder";
    this.self = new Attention(weights, name + ".self_attn", kind, layer, config);
    this.selfResidual = new Residual(weights, name + ".self_attn_norm", config);
    if (cross) this.cross = new Attention(weights, name + ".cross_attn", "cross", layer, config);
    if (cross) this.crossResidual = new Residual(weights, name + ".cross_attn_norm", config);
    if (config.feed_forward === "none") return;
    this.feed = new FeedForward(weights, name, config);
    this.feedResidual = new Residual(weights, name + ".ffn_norm", config);
  }
  // xs: the new rows, the first at position `first`. An encoder's token sees all others, a decoder's those before it.
  forward(xs, first, seen, off) {
    const inputs = xs.map((x) => this.selfResidual.input(x));
    if (!this.causal) inputs.forEach((h, i) => this.self.read(h, first + i, seen.self));
    return xs.map((x, i) => {
      if (this.causal) this.self.read(inputs[i], first + i, seen.self);
      let y = this.selfResidual.forward(x, this.self.forward(this.self.query(inputs[i], first + i), seen.self, off));
      if (this.cross) {
        const query = this.cross.query(this.crossResidual.input(y), first + i);
        y = this.crossResidual.forward(y, this.cross.forward(query, seen.cross, off));
      }
      if (this.feed) {
        seen.fed.push(this.feed.forward(this.feedResidual.input(y)));
        y = this.feedResidual.forward(y, seen.fed.at(-1));
      }
      seen.out.push(y);
      return y;
    });
  }
}

// ---- nn/attention (Cache): what a stack has read. A token more needs its own row alone: keys and values of the others are here.

const nothing = (heads) => ({ keys: [], values: [], queries: [], contexts: [], weights: Array.from({ length: heads }, () => []) });

class Seen {
  constructor(stack, heads) {
    this.ids = [];
    this.layers = stack.blocks.map(() => ({ self: nothing(heads), cross: nothing(heads), fed: [], out: [] }));
    this.hidden = [];
  }
  // Forgets the rows from `n` on. (What cross-attention looks at stays.)
  keep(n) {
    const cut = (rows) => { rows.length = Math.min(n, rows.length); };
    for (const { self, cross, fed, out } of this.layers)
      [self.keys, self.values, self.queries, self.contexts, ...self.weights, cross.queries, cross.contexts, ...cross.weights, fed, out].forEach(cut);
    [this.ids, this.hidden].forEach(cut);
  }
}

// ---- nn/block: one block after the other; pre-norm models end with a norm

class Stack {
  constructor(weights, kind, layers, config) {
    this.blocks = Array.from({ length: layers }, (_, i) => new Block(weights, `${kind}.layers.${i}`, kind, i, config));
    if (config.norm === "pre" && layers > 0) this.norm = new Norm(weights, kind + ".norm", config.norm_type, config.norm_eps);
  }
  last(x) {
    return this.norm ? this.norm.forward(x) : x;
  }
  forward(xs, seen, off) {
    const first = seen.hidden.length;
    this.blocks.forEach((block, i) => { xs = block.forward(xs, first, seen.layers[i], off); });
    seen.hidden.push(...xs.map((x) => this.last(x)));
  }
}

// ---- nn/transformer: embeddings, encoder, decoder, output layer. With no encoder it is a GPT, with no decoder a BERT

class Transformer {
  constructor(config, weights) {
    const both = config.encoder_layers > 0 && config.decoder_layers > 0, two = both && config.tie !== "all";
    const embedding = (side) => new Embedding(weights, two ? side + "_embed.weight" : "embed_tokens.weight",
      both ? side + "_positions" : "positions", config);
    this.config = config;
    this.source = embedding("source");
    this.target = embedding("target");
    this.encoder = new Stack(weights, "encoder", config.encoder_layers, config);
    this.decoder = new Stack(weights, "decoder", config.decoder_layers, config);
    this.output = config.tie === "none" ? weights["lm_head.weight"]
      : (config.decoder_layers > 0 ? this.target : this.source).tokens;
    this.off = new Set();  // heads that are switched off: "decoder.0.2" is layer 0, head 2
    this.forget();
  }
  forget() {
    this.read = { encoder: new Seen(this.encoder, this.config.n_heads), decoder: new Seen(this.decoder, this.config.n_heads) };
  }
  // Reads ids and returns what was seen, with a hidden row for each: of the decoder, or of an encoder alone. What has
  // been read before is not computed again.
  forward(sourceIds, targetIds) {
    const same = String(sourceIds) === String(this.read.encoder.ids);
    if (!same) this.forget();
    const { encoder, decoder } = this.read;
    if (!same && this.encoder.blocks.length > 0) {
      this.encoder.forward(sourceIds.map((id, p) => this.source.forward(id, p)), encoder, this.off);
      encoder.ids = [...sourceIds];
      this.decoder.blocks.forEach((block, i) => encoder.hidden.forEach((row, p) => block.cross.read(row, p, decoder.layers[i].cross)));
    }
    if (this.decoder.blocks.length === 0) return encoder;
    let first = 0;
    while (first < targetIds.length && decoder.ids[first] === targetIds[first]) ++first;
    decoder.keep(first);
    this.decoder.forward(targetIds.slice(first).map((id, i) => this.target.forward(id, first + i)), decoder, this.off);
    decoder.ids = [...targetIds];
    return decoder;
  }
  // How probable each token is: softmax of these.
  logits(hidden) {
    return product(this.output, hidden);
  }
}

// ---- nn/loss: the log-probabilities of all tokens

function logSoftmax(logits) {
  const top = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const log = top + Math.log(logits.reduce((s, a) => s + Math.exp(a - top), 0));
  return logits.map((a) => a - log);
}
