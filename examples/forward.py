#!/usr/bin/env python3
"""What a decoder computes, in numpy: the log-probability of every token, from the files of a checkpoint alone.

    heed tokenize RUN --ids The fox saw | examples/forward.py RUN/checkpoints/best

Every line is a text, as token ids. The formulas are those of docs/formats.md, "The forward pass", for a decoder alone
(objective causal_lm, or seq2seq: the source, 2 and the target).
"""
import json
import math
import pathlib
import sys

import numpy as np

ACTIVATIONS = {
    "relu": lambda u: np.maximum(u, 0),
    "relu2": lambda u: np.maximum(u, 0) ** 2,
    "silu": lambda u: u / (1 + np.exp(-u)),
    "gelu": lambda u: u * (1 + np.vectorize(math.erf)(u / math.sqrt(2))) / 2,
    "gelu_tanh": lambda u: u * (1 + np.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u**3))) / 2,
}


def read_tensors(file):
    """{name: array} of a safetensors file: the length of a header, the header, the numbers."""
    raw = file.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    return {name: np.frombuffer(raw, "<f4", math.prod(t["shape"]), start + t["data_offsets"][0]).reshape(t["shape"])
            for name, t in json.loads(raw[8:start]).items() if name != "__metadata__"}


def angles(n, width, base):
    """[n, width / 2]: by how much position p turns pair i."""
    return np.outer(np.arange(n), base ** (-np.arange(0, width, 2) / width))


def turn_pairs(x, angle):
    """Rotary positions: turns the pairs (x_2i, x_2i+1) of the rows of a head."""
    a, b, y = x[:, 0::2], x[:, 1::2], np.empty_like(x)
    y[:, 0::2], y[:, 1::2] = a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)
    return y


class Decoder:
    def __init__(self, checkpoint):
        config = json.loads((checkpoint / "config.json").read_text())
        if config["model"]["encoder_layers"] > 0:
            sys.exit("forward.py: this model is not a decoder alone")
        self.c, self.w = config["model"], read_tensors(checkpoint / "model.safetensors")

    def linear(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w.get(name + ".bias", 0)

    def norm(self, x, name, kind=None):
        if (kind or self.c["norm_type"]) == "layer":
            x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + self.c["norm_eps"])
        return x * self.w[name + ".weight"] + self.w.get(name + ".bias", 0)

    def embed(self, ids):
        d, n, x = self.c["d_model"], len(ids), self.w["embed_tokens.weight"][ids]
        if self.c["positions"] == "learned":
            x = x + self.w["positions.weight"][:n]
        if self.c["positions"] == "sinusoidal":
            angle = angles(n, d, 10000)
            x = x * math.sqrt(d) + np.stack([np.sin(angle), np.cos(angle)], -1).reshape(n, d)
        return x

    def attention(self, x, name):
        n, heads, kv_heads = len(x), self.c["n_heads"], self.c["n_kv_heads"]
        width, changed = self.c["d_model"] // heads, self.c["attention"]["decoder_self"]  # by experiments
        scale = 0 if changed["uniform"] else 1 / math.sqrt(width) if changed["scaled"] else 1
        hidden = np.triu(np.full((n, n), -np.inf), 1)  # a row sees itself and what came before
        q, k, v = (np.split(self.linear(x, f"{name}.{part}_proj"), parts, 1)
                   for part, parts in (("q", heads), ("k", kv_heads), ("v", kv_heads)))
        if self.c["qk_norm"]:
            q, k = ([self.norm(y, f"{name}.{part}_norm", "rms") for y in ys] for part, ys in (("q", q), ("k", k)))
        if self.c["positions"] == "rotary" and changed["positions"]:
            q, k = ([turn_pairs(y, angles(n, width, self.c["rope_base"])) for y in ys] for ys in (q, k))
        outputs = []
        for h in range(heads):
            g = h * kv_heads // heads  # neighbouring heads share keys and values
            scores = scale * q[h] @ k[g].T + hidden
            weights = np.exp(scores - scores.max(1, keepdims=True))
            outputs.append(weights / weights.sum(1, keepdims=True) @ v[g])
        return self.linear(np.concatenate(outputs, 1), name + ".out_proj")

    def feed_forward(self, x, name):
        f = ACTIVATIONS[self.c["activation"]]
        if self.c["feed_forward"] == "gated":
            return self.linear(f(self.linear(x, name + ".fc_gate")) * self.linear(x, name + ".fc1"), name + ".fc2")
        return self.linear(f(self.linear(x, name + ".fc1")), name + ".fc2")

    def residual(self, x, branch, name, norm):
        if self.c["norm"] == "pre":
            return x + branch(self.norm(x, norm), name)
        return self.norm(x + branch(x, name), norm)

    def log_probabilities(self, ids):
        """[n, vocabulary]: row i is about the token after the first i ones; row 0 reads <s> alone."""
        x = self.embed([1, *ids][:-1])
        for layer in range(self.c["decoder_layers"]):
            name = f"decoder.layers.{layer}"
            x = self.residual(x, self.attention, name + ".self_attn", name + ".self_attn_norm")
            if self.c["feed_forward"] != "none":
                x = self.residual(x, self.feed_forward, name, name + ".ffn_norm")
        if self.c["norm"] == "pre":
            x = self.norm(x, "decoder.norm")
        logits = x @ self.w["lm_head.weight" if self.c["tie"] == "none" else "embed_tokens.weight"].T
        logits -= logits.max(1, keepdims=True)
        return logits - np.log(np.exp(logits).sum(1, keepdims=True))


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    decoder = Decoder(pathlib.Path(sys.argv[1]))
    for line in sys.stdin:
        ids = list(map(int, line.split()))
        print(*(f"{row[i]:.6f}" for row, i in zip(decoder.log_probabilities(ids), ids)))


if __name__ == "__main__":
    main()
