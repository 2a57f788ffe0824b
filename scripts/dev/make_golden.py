#!/usr/bin/python3
"""Golden values: heed's transformer built from plain PyTorch operations, in double.

    scripts/dev/make_golden.py [DIR]           writes DIR/NAME.json and DIR/NAME.safetensors (default tests/golden)
    scripts/dev/make_golden.py --check [DIR]   recomputes and compares; exits with 1 if they differ
    scripts/dev/make_golden.py --float         prints how far the same model in float32 is from the golden values

Needs Debian's python3-torch. Attention, norms, positions and the loss are written out below. Gradients come from autograd,
AdamW and clipping from torch, so nothing here repeats heed's code.

NAME.json
  model               heed's config section `model` (dropout is 0)
  source_vocab_size, target_vocab_size    equal if both sides share one table
  objective           {"type", "label_smoothing"}
  optimizer           {"type", "learning_rate", "betas", "eps", "weight_decay" (adamw only), "clip_norm"};
                      the learning rate is constant
  steps               optimizer steps from the initial values to after.*, all on the same batch
  sequences           a list of {"source", "target", "labels"}: the encoder's input ids, the decoder's
                      input ids, and one label per output row, -1 if the row is not scored. Output rows are
                      the decoder's or, without a decoder, the encoder's. The list of a missing side is
                      empty.
NAME.safetensors, all F64; R = output rows of all sequences, packed in order; V = target vocabulary
  <name>              initial value of heed's tensor <name>, exactly representable in float32
  logits [R, V]       with the initial values
  loss []             mean smoothed cross-entropy over the scored rows: this loss is differentiated
  plain_loss []       the same without smoothing: this loss is reported
  grad_norm []        L2 norm of all gradients together, before clipping
  grad.<name>         gradient of `loss` before clipping. The gradient of a key bias is zero, because softmax cancels
                      it, unless rotary positions or QK-norm change the key: its entries here are rounding errors
  losses [steps]      `loss` before each optimizer step
  after.<name>        values after the steps
  logits_after, loss_after, plain_loss_after
"""
import argparse
import json
import math
import pathlib
import struct
import sys

try:
    import torch
except ModuleNotFoundError:
    torch = None  # --help is there without it

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from heed_runs import tensors as tensors_in  # noqa: E402

SMALL = {"d_model": 12, "n_heads": 3, "d_ff": 20, "encoder_layers": 1, "decoder_layers": 1}
ADAMW = {"type": "adamw", "learning_rate": 0.002, "betas": [0.9, 0.98], "eps": 1e-4,
         "weight_decay": 0.1, "clip_norm": 0.5}
ADAM = {"type": "adam", "learning_rate": 0.003, "betas": [0.8, 0.95], "eps": 1e-8, "clip_norm": 100.0}

# name: (model, source vocabulary, target vocabulary, objective, smoothing, optimizer,
#        lengths of (source, target) of the packed sequences)
CASES = {
    "encdec_post_sinusoidal_relu_tie_all": (
        SMALL | {"encoder_layers": 2, "decoder_layers": 2, "positions": "sinusoidal", "norm": "post",
                 "activation": "relu", "tie": "all"},
        13, 13, "seq2seq", 0.1, ADAMW, [(5, 4), (1, 6), (7, 1), (3, 5)]),
    "encdec_pre_learned_gelu_tie_output": (
        SMALL | {"d_model": 15, "encoder_layers": 1, "positions": "learned", "norm": "pre",
                 "activation": "gelu", "tie": "output"},
        11, 17, "seq2seq", 0.0, ADAMW, [(4, 6), (8, 1), (1, 3)]),
    "encdec_pre_rotary_silu_tie_none": (
        SMALL | {"n_heads": 2, "encoder_layers": 2, "positions": "rotary", "norm": "pre",
                 "activation": "silu", "tie": "none"},
        14, 11, "prefix_lm", 0.1, ADAMW, [(6, 5), (1, 1), (3, 8), (9, 2)]),
    "encdec_pre_none_relu_tie_all": (
        SMALL | {"d_model": 16, "n_heads": 2, "positions": "none", "norm": "pre", "activation": "relu",
                 "tie": "all"},
        13, 13, "prefix_lm", 0.0, ADAM, [(2, 4), (5, 3), (1, 1)]),
    "decoder_pre_learned_gelu_tie_all": (
        SMALL | {"d_model": 16, "n_heads": 2, "encoder_layers": 0, "decoder_layers": 2,
                 "positions": "learned", "norm": "pre", "activation": "gelu", "tie": "all"},
        17, 17, "causal_lm", 0.0, ADAMW, [(0, 8), (0, 1), (0, 5), (0, 3)]),
    "decoder_post_rotary_gelu_tie_none": (
        SMALL | {"encoder_layers": 0, "decoder_layers": 2, "positions": "rotary", "norm": "post",
                 "activation": "gelu", "tie": "none"},
        15, 15, "causal_lm", 0.2, ADAM, [(0, 7), (0, 4), (0, 1)]),
    "encoder_post_sinusoidal_gelu_tie_all": (
        SMALL | {"d_model": 14, "n_heads": 2, "encoder_layers": 2, "decoder_layers": 0,
                 "positions": "sinusoidal", "norm": "post", "activation": "gelu", "tie": "all"},
        14, 14, "masked_lm", 0.1, ADAMW, [(6, 0), (1, 0), (9, 0), (4, 0)]),
    "encoder_pre_rotary_silu_tie_none": (
        SMALL | {"d_model": 16, "n_heads": 2, "encoder_layers": 2, "decoder_layers": 0,
                 "positions": "rotary", "norm": "pre", "activation": "silu", "tie": "none"},
        13, 13, "masked_lm", 0.0, ADAMW, [(5, 0), (8, 0), (1, 0)]),
    "encdec_pre_rms_gated_silu_grouped_qknorm": (
        SMALL | {"d_model": 16, "n_heads": 4, "n_kv_heads": 2, "positions": "rotary", "rope_base": 500.0,
                 "norm": "pre", "norm_type": "rms", "norm_eps": 1e-3, "qk_norm": True,
                 "feed_forward": "gated", "activation": "silu", "bias": False, "tie": "all"},
        13, 13, "prefix_lm", 0.1, ADAMW, [(4, 6), (1, 2), (7, 3)]),
    "encdec_post_qknorm_gelu_tanh_tie_output": (
        SMALL | {"n_kv_heads": 1, "positions": "sinusoidal", "norm": "post", "qk_norm": True,
                 "activation": "gelu_tanh", "tie": "output"},
        11, 14, "seq2seq", 0.0, ADAMW, [(5, 3), (2, 5)]),
    "decoder_pre_relu2_no_bias": (
        SMALL | {"encoder_layers": 0, "decoder_layers": 2, "positions": "learned", "norm": "pre",
                 "activation": "relu2", "bias": False, "tie": "all"},
        15, 15, "causal_lm", 0.0, ADAM, [(0, 7), (0, 1), (0, 4)]),
    "decoder_post_rms_gated_relu2_grouped": (
        SMALL | {"d_model": 16, "n_heads": 4, "n_kv_heads": 2, "encoder_layers": 0, "positions": "rotary",
                 "norm": "post", "norm_type": "rms", "feed_forward": "gated", "activation": "relu2",
                 "tie": "none"},
        13, 13, "causal_lm", 0.1, ADAMW, [(0, 6), (0, 3)]),
    "encoder_pre_no_feed_forward": (
        SMALL | {"encoder_layers": 2, "decoder_layers": 0, "positions": "sinusoidal", "norm": "pre",
                 "feed_forward": "none", "tie": "all"},
        14, 14, "masked_lm", 0.0, ADAMW, [(6, 0), (3, 0)]),
}
STEPS = 10
MAX_LENGTH = 10
BOS, EOS, MASK = 1, 2, 3  # ids below 4 are special here


# ---- the batch ----------------------------------------------------------------------------------

def make_sequences(case, generator):
    _, source_vocab, target_vocab, objective, _, _, lengths = case

    def words(n, vocab):
        return torch.randint(4, vocab, (n,), generator=generator).tolist()

    sequences = []
    for source_length, target_length in lengths:
        if objective == "masked_lm":  # the first row and every third after it are hidden and scored
            text = words(source_length, source_vocab)
            hidden = [i % 3 == 0 for i in range(source_length)]
            sequences.append({"source": [MASK if h else w for w, h in zip(text, hidden)], "target": [],
                              "labels": [w if h else -1 for w, h in zip(text, hidden)]})
        elif objective == "seq2seq":  # source + </s>; <s> + target; target + </s>
            text = words(target_length - 1, target_vocab)
            sequences.append({"source": words(source_length - 1, source_vocab) + [EOS],
                              "target": [BOS] + text, "labels": text + [EOS]})
        else:  # prefix_lm, causal_lm: no </s>
            text = words(target_length, target_vocab)
            sequences.append({"source": words(source_length, source_vocab), "target": [BOS] + text[:-1],
                              "labels": text})
    return sequences


# ---- the parameters -----------------------------------------------------------------------------

def tensor_shapes(m, source_vocab, target_vocab):
    """heed's tensor names, in order, with their shapes."""
    d, ff = m["d_model"], m["d_ff"]
    d_head, kv_heads = d // m["n_heads"], m.get("n_kv_heads", m["n_heads"])
    feed_forward, bias = m.get("feed_forward", "plain"), m.get("bias", True)
    two_sided = m["encoder_layers"] > 0 and m["decoder_layers"] > 0
    shapes = {}
    if two_sided and m["tie"] != "all":
        shapes["source_embed.weight"] = (source_vocab, d)
        shapes["target_embed.weight"] = (target_vocab, d)
    else:
        shapes["embed_tokens.weight"] = (target_vocab, d)
    if m["positions"] == "learned":
        for name in ["source_positions", "target_positions"] if two_sided else ["positions"]:
            shapes[name + ".weight"] = (m["max_length"], d)

    def add(name, *shape):
        shapes[name + ".weight"] = shape
        if bias and not (len(shape) == 1 and m.get("norm_type") == "rms"):
            shapes[name + ".bias"] = shape[:1]

    for stack in ["encoder", "decoder"]:
        for i in range(m[stack + "_layers"]):
            layer = f"{stack}.layers.{i}"
            for attention in ["self_attn"] + (["cross_attn"] if stack == "decoder" and two_sided else []):
                for projection in "qkv":
                    rows = d if projection == "q" else kv_heads * d_head
                    add(f"{layer}.{attention}.{projection}_proj", rows, d)
                    if m.get("qk_norm") and projection != "v":
                        shapes[f"{layer}.{attention}.{projection}_norm.weight"] = (d_head,)
                add(f"{layer}.{attention}.out_proj", d, d)
                add(f"{layer}.{attention}_norm", d)
            if feed_forward != "none":
                for name in ["fc_gate", "fc1"] if feed_forward == "gated" else ["fc1"]:
                    add(f"{layer}.{name}", ff, d)
                add(f"{layer}.fc2", d, ff)
                add(f"{layer}.ffn_norm", d)
        if m["norm"] == "pre" and m[stack + "_layers"]:
            add(f"{stack}.norm", d)
    if m["tie"] == "none":
        shapes["lm_head.weight"] = (target_vocab, d)
    return shapes


def initial_values(shapes, generator):
    """Gains are near 1 and biases away from 0, so that forgetting one shows. All values fit float32."""
    values = {}
    for name, shape in shapes.items():
        u = 2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1
        if "norm.weight" in name:
            u = 1 + 0.3 * u
        elif len(shape) == 1:
            u = 0.3 * u
        else:
            u = u * math.sqrt(6 / sum(shape))
        values[name] = u.float().double()
    return values


# ---- the model ----------------------------------------------------------------------------------

class Model:
    """The model as functions of a dictionary of tensors `p`, one sequence at a time."""

    def __init__(self, model, p):
        self.m, self.p = model, p
        self.two_sided = model["encoder_layers"] > 0 and model["decoder_layers"] > 0

    def linear(self, name, x):
        y = x @ self.p[name + ".weight"].T
        return y + self.p[name + ".bias"] if name + ".bias" in self.p else y

    def rms_norm(self, name, x):
        mean_square = (x ** 2).mean(-1, keepdim=True)
        return x / torch.sqrt(mean_square + self.m.get("norm_eps", 1e-5)) * self.p[name + ".weight"]

    def norm(self, name, x):
        if self.m.get("norm_type") == "rms":
            return self.rms_norm(name, x)
        mean = x.mean(-1, keepdim=True)
        variance = ((x - mean) ** 2).mean(-1, keepdim=True)
        y = (x - mean) / torch.sqrt(variance + self.m.get("norm_eps", 1e-5)) * self.p[name + ".weight"]
        return y + self.p[name + ".bias"] if name + ".bias" in self.p else y

    def activation(self, x):
        kind = self.m["activation"]
        if kind == "relu":
            return x.clamp(min=0)
        if kind == "relu2":
            return x.clamp(min=0) ** 2
        if kind == "silu":
            return x * torch.sigmoid(x)
        if kind == "gelu_tanh":
            return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
        return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))

    def feed_forward(self, layer, x):
        h = self.linear(f"{layer}.fc1", x)
        if self.m.get("feed_forward") == "gated":
            h = self.activation(self.linear(f"{layer}.fc_gate", x)) * h
        else:
            h = self.activation(h)
        return self.linear(f"{layer}.fc2", h)

    def rotate(self, x):
        """x [n, d_head]: turns the pair (x_2i, x_2i+1) of row t by the angle t * base^(-2i / d_head)."""
        n, d = x.shape
        t = torch.arange(n, dtype=x.dtype)[:, None]
        angle = t * self.m.get("rope_base", 10000.0) ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
        even, odd = x[:, 0::2], x[:, 1::2]
        turned = [even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos()]
        return torch.stack(turned, -1).reshape(n, d)

    def attention(self, name, x, memory=None, causal=False):
        """Queries from x, keys and values from memory (x itself in self-attention)."""
        keys_from = x if memory is None else memory
        q, k, v = (self.linear(f"{name}.{w}_proj", r) for w, r in zip("qkv", [x, keys_from, keys_from]))
        size = self.m["d_model"] // self.m["n_heads"]
        heads = []
        for h in range(self.m["n_heads"]):
            shared = h * self.m.get("n_kv_heads", self.m["n_heads"]) // self.m["n_heads"]
            qh, kh, vh = (t[:, i * size:(i + 1) * size] for t, i in ((q, h), (k, shared), (v, shared)))
            if self.m.get("qk_norm"):
                qh, kh = self.rms_norm(f"{name}.q_norm", qh), self.rms_norm(f"{name}.k_norm", kh)
            if memory is None and self.m["positions"] == "rotary":
                qh, kh = self.rotate(qh), self.rotate(kh)
            scores = qh @ kh.T / math.sqrt(size)
            if causal:
                future = torch.ones(scores.shape, dtype=torch.bool).triu(1)
                scores = scores.masked_fill(future, -math.inf)
            heads.append(torch.softmax(scores, -1) @ vh)
        return self.linear(name + ".out_proj", torch.cat(heads, -1))

    def residual(self, norm, x, f):
        if self.m["norm"] == "pre":
            return x + f(self.norm(norm, x))
        return self.norm(norm, x + f(x))

    def embed(self, side, ids):
        both = self.two_sided
        table = f"{side}_embed.weight" if both and self.m["tie"] != "all" else "embed_tokens.weight"
        x = self.p[table][ids]
        d = self.m["d_model"]
        if self.m["positions"] == "learned":
            x = x + self.p[f"{side}_positions.weight" if both else "positions.weight"][:len(ids)]
        if self.m["positions"] == "sinusoidal":
            t = torch.arange(len(ids), dtype=x.dtype)[:, None]
            angle = t / 10000.0 ** (torch.arange(0, d, 2, dtype=x.dtype) / d)
            x = x * math.sqrt(d) + torch.stack([angle.sin(), angle.cos()], -1).reshape(len(ids), d)
        return x

    def stack(self, side, x, memory=None):
        for i in range(self.m[side + "_layers"]):
            layer = f"{side}.layers.{i}"
            x = self.residual(f"{layer}.self_attn_norm", x,
                              lambda y: self.attention(f"{layer}.self_attn", y, causal=side == "decoder"))
            if memory is not None:
                x = self.residual(f"{layer}.cross_attn_norm", x,
                                  lambda y: self.attention(f"{layer}.cross_attn", y, memory))
            if self.m.get("feed_forward") != "none":
                x = self.residual(f"{layer}.ffn_norm", x, lambda y: self.feed_forward(layer, y))
        return self.norm(f"{side}.norm", x) if self.m["norm"] == "pre" else x

    def logits(self, sequences):
        rows = []
        for s in sequences:
            x = None
            if self.m["encoder_layers"]:
                x = self.stack("encoder", self.embed("source", s["source"]))
            if self.m["decoder_layers"]:
                x = self.stack("decoder", self.embed("target", s["target"]), x)
            rows.append(x)
        if self.m["tie"] == "none":
            head = self.p["lm_head.weight"]
        elif self.m["tie"] == "output" and self.two_sided:
            head = self.p["target_embed.weight"]
        else:
            head = self.p["embed_tokens.weight"]
        return torch.cat(rows) @ head.T


def losses(logits, sequences, smoothing):
    """(smoothed, plain): means over the scored rows. Smoothing e gives each of K ids e / K, and the label 1 - e more."""
    labels = torch.tensor([y for s in sequences for y in s["labels"]])
    scored = labels >= 0
    log_p = torch.log_softmax(logits, -1)[scored]
    plain = -log_p.gather(1, labels[scored][:, None]).mean()
    return (1 - smoothing) * plain + smoothing * -log_p.mean(1).mean(), plain


# ---- one case -----------------------------------------------------------------------------------

def describe(case, generator):
    model, source_vocab, target_vocab, objective, smoothing, optimizer, _ = case
    return {"model": model | {"dropout": 0.0, "max_length": MAX_LENGTH}, "source_vocab_size": source_vocab,
            "target_vocab_size": target_vocab, "objective": {"type": objective, "label_smoothing": smoothing},
            "optimizer": optimizer, "steps": STEPS, "sequences": make_sequences(case, generator)}


def make_optimizer(o, params):
    settings = {"lr": o["learning_rate"], "betas": tuple(o["betas"]), "eps": o["eps"]}
    if o["type"] == "adam":
        return torch.optim.Adam(list(params.values()), **settings)
    groups = [{"params": [t for t in params.values() if t.dim() == 2], "weight_decay": o["weight_decay"]},
              {"params": [t for t in params.values() if t.dim() == 1], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, **settings)


def compute(about, initial, dtype="float64"):
    sequences, smoothing = about["sequences"], about["objective"]["label_smoothing"]
    params = {name: value.to(getattr(torch, dtype), copy=True).requires_grad_() for name, value in initial.items()}
    model = Model(about["model"], params)
    optimizer = make_optimizer(about["optimizer"], params)
    out, path = dict(initial), []
    for step in range(about["steps"]):
        optimizer.zero_grad()
        logits = model.logits(sequences)
        loss, plain = losses(logits, sequences, smoothing)
        loss.backward()
        path.append(loss.detach())
        gradients = {"grad." + name: t.grad.clone() for name, t in params.items()}
        norm = torch.nn.utils.clip_grad_norm_(params.values(), about["optimizer"]["clip_norm"])
        if step == 0:
            out |= {"logits": logits.detach(), "loss": loss.detach(), "plain_loss": plain.detach(),
                    "grad_norm": norm} | gradients
        optimizer.step()
    out["losses"] = torch.stack(path)
    out |= {"after." + name: t.detach() for name, t in params.items()}
    with torch.no_grad():
        logits = model.logits(sequences)
        loss, plain = losses(logits, sequences, smoothing)
    return out | {"logits_after": logits, "loss_after": loss, "plain_loss_after": plain}


# ---- files --------------------------------------------------------------------------------------

def safetensors(tensors):
    """Eight bytes of header length, a JSON header padded to a multiple of 8, the numbers (F64)."""
    header, blob = {}, b""
    for name, t in tensors.items():
        data = struct.pack(f"<{t.numel()}d", *t.double().flatten().tolist())
        header[name] = {"dtype": "F64", "shape": list(t.shape),
                        "data_offsets": [len(blob), len(blob) + len(data)]}
        blob += data
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + blob


def read_safetensors(data):
    return {name: torch.tensor(struct.unpack(f"<{(end - begin) // 8}d", data[begin:end]), dtype=torch.float64).reshape(shape)
            for name, _, shape, begin, end in tensors_in(data)}


def largest_error(expected, actual):
    """(error, tensor): the largest |a - b| / max|a| over all tensors except parameters with a zero gradient
    (key biases): those gradients, and Adam's updates from them, are rounding errors."""
    def size(t):
        return float(t.abs().max())

    zero = {name[5:] for name, t in expected.items() if name.startswith("grad.") and size(t) < 1e-14}
    assert all(name.endswith("k_proj.bias") for name in zero), zero
    zero |= {prefix + name for name in zero for prefix in ["grad.", "after."]}
    return max((size(a - actual[name].double()) / size(a), name)
               for name, a in expected.items() if name not in zero)


def json_text(about):
    lines = [json.dumps(key) + ": " + json.dumps(value) for key, value in about.items() if key != "sequences"]
    rows = ",\n".join("  " + json.dumps(s) for s in about["sequences"])
    return "{" + ",\n".join(lines) + ',\n"sequences": [\n' + rows + "\n]}\n"


def check(folder, name, text, data):
    """True if the files hold these values byte for byte, or differ only by the rounding of another machine."""
    try:
        old_text, old = (folder / f"{name}.json").read_text(), (folder / f"{name}.safetensors").read_bytes()
    except OSError as error:
        print(f"{name}: {error}")
        return False
    if (old_text, old) == (text, data):
        print(f"{name}: identical")
        return True
    expected, actual = read_safetensors(old), read_safetensors(data)
    shapes = [{n: t.shape for n, t in x.items()} for x in (expected, actual)]
    if old_text != text or shapes[0] != shapes[1]:
        print(f"{name}: another case, or other tensors")
        return False
    error, tensor = largest_error(expected, actual)
    print(f"{name}: differs by {error:.1e} ({tensor}); at most 1e-11 is rounding")
    return error <= 1e-11


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--float", action="store_true", help="print the errors of float32")
    args = parser.parse_args()
    if torch is None:
        sys.exit("make_golden.py: PyTorch is missing: apt-get install python3-torch")
    torch.set_num_threads(1)
    good = True
    for number, (name, case) in enumerate(CASES.items(), 1):
        generator = torch.Generator().manual_seed(number)
        about = describe(case, generator)
        shapes = tensor_shapes(about["model"], *case[1:3])
        initial = initial_values(shapes, generator)
        tensors = compute(about, initial)
        if args.float:
            error, tensor = largest_error(tensors, compute(about, initial, "float32"))
            print(f"{name}: {error:.1e} ({tensor})")
            continue
        text, data = json_text(about), safetensors(tensors)
        if args.check:
            good = check(args.folder, name, text, data) and good
        else:
            args.folder.mkdir(parents=True, exist_ok=True)
            (args.folder / f"{name}.json").write_text(text)
            (args.folder / f"{name}.safetensors").write_bytes(data)
            print(f"{name}: loss {tensors['loss']:.4f} -> {tensors['loss_after']:.4f}, "
                  f"gradient norm {tensors['grad_norm']:.2f}, {len(data)} bytes")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
