#!/usr/bin/env python3
"""Does what `heed export` writes compute in other programs what heed computes? Trains a tiny model of each class.

    scripts/dev/check_export.py [--heed PATH] [--lines N] [--only NAME,NAME] [--work FOLDER]

For each model: the exported tokenizer against `heed tokenize` on lines of five scripts, with tabs, double spaces,
newlines and names of special tokens, and back; log-probabilities of transformers against `heed score`; its greedy text
against `heed sample`; for pairs, its greedy translation against `heed translate --beam-size 1`. GGUF files are read with
the package gguf, and run by llama.cpp if llama-cpp-python is there.

Needs pip install torch transformers tokenizers safetensors gguf. A folder that exists already is used again.
"""
import argparse
import contextlib
import importlib.metadata
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
HERE = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = [
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZàéîõüßçñøÅÉ'-.,;:!?()\"%&/<>[]{}0123456789_",
    "абвгдежзийклмнопрстуфхцчшщъыьэюяАБВГДЕЖЗІЇЄҐёЁ«»—.,!?",
    "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里所去行过家十用发天如然作方成者多日都三小军二无同么经法当起与好看学进种将还分此心前面又定见只主没公从。，！？「」",
    "ابتثجحخدذرزسشصضطظعغفقكلمنهويءآأؤإئىةًٌٍَُِّْ،؛؟",
    "😀😂🥰👍🏽👨‍👩‍👧🇫🇷❤️🎉🔥✨🤖🐢🦊🌍⚽🍎",
]
ODD = ["<s>", "</s>", "<unk>", "<0x41>", "<0x0A>", "\u2581", "\u2585", "\ufffd", "don't", "3.14", "ΟΔΟΣ", "ﬁ", "①", "e\u0301", "\u00a0"]

TEXT = {"data": {"train": "text.txt", "valid_fraction": 0.05}, "objective": {"type": "causal_lm", "target_length": 64}}
PAIRS = {"data": {"source": "pairs.source", "target": "pairs.target", "valid_fraction": 0.05}, "objective": {"type": "seq2seq"}}
SIZES = {"d_model": 32, "n_heads": 4, "d_ff": 48, "encoder_layers": 0, "decoder_layers": 2, "dropout": 0}
RMS = {**SIZES, "positions": "rotary", "norm": "pre", "norm_type": "rms", "bias": False}
BOTH = {**SIZES, "encoder_layers": 2, "positions": "sinusoidal", "tie": "all"}
MODELS = {
    "qwen3": (TEXT, {**RMS, "qk_norm": True, "feed_forward": "gated", "activation": "silu"}, {"type": "bpe", "vocab_size": 1500}),
    "llama": (TEXT, {**RMS, "n_kv_heads": 2, "feed_forward": "gated", "activation": "silu", "tie": "none"}, {"type": "bpe", "vocab_size": 1500}),
    "llama-unigram": (TEXT, {**RMS, "feed_forward": "gated", "activation": "silu", "norm_eps": 1e-6, "rope_base": 500.0}, {"type": "unigram", "vocab_size": 1500}),
    "apertus": (TEXT, {**RMS, "qk_norm": True, "activation": "relu2"}, {"type": "byte"}),
    "gpt2": (TEXT, {**SIZES, "positions": "learned", "activation": "gelu_tanh"}, {"type": "word", "vocab_size": 1500}),
    "gpt2-char": (TEXT, {**SIZES, "positions": "learned", "activation": "gelu"}, {"type": "char"}),
    "gpt-neox": (TEXT, {**SIZES, "positions": "rotary", "activation": "gelu"}, {"type": "word", "vocab_size": 1500, "punctuation": "split"}),
    "gpt-neox-lower": ({**TEXT, "data": {**TEXT["data"], "lowercase": True, "normalize": "nfkc"}}, {**SIZES, "positions": "rotary", "tie": "none", "activation": "relu"}, {"type": "bpe", "vocab_size": 1500}),
    "pegasus": (PAIRS, {**BOTH, "norm": "pre", "activation": "gelu"}, {"type": "char"}),
    "joined": (PAIRS, {**SIZES, "positions": "rotary", "activation": "gelu"}, {"type": "char"}),
    "marian": (PAIRS, {**BOTH, "norm": "post", "activation": "silu"}, {"type": "bpe", "vocab_size": 700}),
    "marian-two": (PAIRS, {**BOTH, "tie": "output", "norm": "post", "activation": "gelu"}, {"type": "char", "target": {"type": "word", "punctuation": "split"}}),
}


def words(rng, n):
    """A text of n words of five scripts."""
    out = []
    for _ in range(n):
        script = rng.choice(SCRIPTS)
        out.append(rng.choice(ODD) if rng.random() < 0.02 else "".join(rng.choice(script) for _ in range(rng.randint(1, 7))))
    return out


def line(rng):
    text = "".join(word + rng.choice([" "] * 8 + ["  ", "\t", "   ", ""]) for word in words(rng, rng.randint(1, 12)))
    return rng.choice(["", "", "", " ", "\t"]) + text


def fables():
    return (HERE / "data" / "fables.txt").read_text()


def write_data(folder):
    rng = random.Random(1)
    known = sorted(set(words(rng, 3000)))
    mixed = [" ".join(rng.choice(known) for _ in range(10)) for _ in range(2000)]
    folder.joinpath("text.txt").write_text(fables()[:150_000] + "\n".join(mixed) + "\n")
    for side in "source", "target":
        lines = (HERE / "data" / f"dates.train.{side}").read_text().splitlines()[:3000]
        folder.joinpath(f"pairs.{side}").write_text("\n".join(lines) + "\n")


def run(heed, *arguments, **options):
    done = subprocess.run([heed, *map(str, arguments)], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"heed {' '.join(map(str, arguments))[:200]}\n{done.stderr}")
    return done.stdout


def json_lines(text):
    return [json.loads(one) for one in text.split("\n") if one]


class Model:
    def __init__(self, heed, work, name, steps):
        self.heed, self.name, self.run, self.folder = heed, name, work / name, work / f"{name}.hf"
        common, model, tokenizer = MODELS[name]
        self.pairs, self.joined = common is PAIRS, common is PAIRS and not model["encoder_layers"]
        config = {**common, "model": model, "tokenizer": tokenizer, "optimizer": {"type": "muon", "learning_rate": 1e-2},
                  "train": {"max_steps": steps, "batch_tokens": 2048, "shards": 1, "threads": 1, "eval_every": 0, "save_every": 0}}
        if not self.run.exists():
            (work / f"{name}.json").write_text(json.dumps(config))
            run(heed, "train", work / f"{name}.json", "--run", self.run, "--quiet")
        if not self.folder.exists():
            run(heed, "export", self.run, self.folder)
        self.two = "target" in tokenizer
        self.type = tokenizer.get("target", tokenizer)["type"]

    def tokens(self, path):
        return [one["ids"] for one in json_lines(run(self.heed, "tokenize", self.run, "--file", path, "--json"))]


def check_tokenizer(model, tokenizer, lines, path):
    ours = model.tokens(path)
    newlines = [one + "\n" + two + rest for one, two, rest in zip(lines[::400], lines[1::400], ["", "\n", "\n\n "] * len(lines))]
    for text in newlines:
        ours.append(json.loads(run(model.heed, "tokenize", model.run, "--json", "--", text))["ids"])
    texts = lines + newlines
    theirs = tokenizer(texts, add_special_tokens=False)["input_ids"]
    differ = [i for i in range(len(texts)) if theirs[i] != ours[i]]
    print(f"  tokenizer: {len(differ)} of {len(texts)} lines differ", end="")
    if model.type in ("byte", "bpe", "unigram") and not model.name.endswith("lower"):
        back = tokenizer.batch_decode(ours, skip_special_tokens=True)
        wrong = [i for i in range(len(texts)) if back[i] != texts[i]]
        print(f", {len(wrong)} do not decode back", end="")
        differ += wrong
    print()
    for i in differ[:3]:
        print("   ", repr(texts[i])[:150], "\n      ours  ", ours[i][:40], "\n      theirs", theirs[i][:40])
    return len(differ) * 1000 <= len(texts)


def check_numbers(model, tokenizer, network, torch, work):
    """Log-probabilities of about 1,000 tokens."""
    path, worst, count = work / f"{model.name}.lines", 0.0, 0
    if model.pairs:
        sources = (work / "pairs.source").read_text().splitlines()[-300:]
        targets = (work / "pairs.target").read_text().splitlines()[-300:]
        path.write_text("\n".join(sources) + "\n")
        (work / "targets").write_text("\n".join(targets) + "\n")
        scored = json_lines(run(model.heed, "score", model.run, "--json", "--file", path, "--target-file", work / "targets"))
    else:
        parts = fables()[160_000:]
        path.write_text("\n".join(parts[i:i + 60].replace("\n", " ").strip() or "a" for i in range(0, 6000, 60)) + "\n")
        scored = json_lines(run(model.heed, "score", model.run, "--json", "--file", path))
    for one in scored:
        ids = torch.tensor([one["ids"]])
        start = torch.tensor([[one["bos_id"]]])
        with torch.no_grad():
            if model.joined:
                read = torch.cat([start, torch.tensor([one["source_ids"]]), ids[:, :-1]], 1)
                logits = network(input_ids=read).logits[:, -ids.shape[1]:]
            elif model.pairs:
                read = torch.cat([start, ids[:, :-1]], 1)
                logits = network(input_ids=torch.tensor([one["source_ids"]]), decoder_input_ids=read).logits
            else:
                if ids.shape[1] > 64:
                    continue
                logits = network(input_ids=torch.cat([start, ids[:, :-1]], 1)).logits
        found = torch.log_softmax(logits.double(), -1)[0].gather(1, ids[0][:, None])[:, 0]
        worst = max(worst, (found - torch.tensor(one["token_logprobs"]).double()).abs().max().item())
        count += ids.shape[1]
    print(f"  log-probabilities: at most {worst:.1e} apart on {count} tokens")
    return worst <= 1e-4 and count >= 500


def check_texts(model, reader, tokenizer, network, work):
    if model.pairs:
        path = work / f"{model.name}.sources"
        sources = (work / "pairs.source").read_text().splitlines()[-50:]
        path.write_text("\n".join(sources) + "\n")
        ours = run(model.heed, "translate", model.run, "--file", path, "--beam-size", 1).split("\n")[:-1]
        theirs = []
        for source in sources:
            given = reader(source, return_tensors="pt")
            written = network.generate(**given, num_beams=1)[0][given["input_ids"].shape[1] if model.joined else 0:]
            theirs.append(tokenizer.decode(written, skip_special_tokens=True))
    else:
        prompts = ["The fox", "A", "One day the old"]
        ours, theirs = [], []
        for prompt in prompts:
            given = tokenizer(prompt, return_tensors="pt")
            room = network.config.max_position_embeddings + 1 - given["input_ids"].shape[1]
            told = run(model.heed, "sample", model.run, prompt, "--temperature", 0, "--max-tokens", room, "--json")
            ours.append(prompt + json.loads(told.rstrip("\n").split("\n")[-1])["text"])
            theirs.append(tokenizer.decode(network.generate(**given)[0], skip_special_tokens=True))
            if model.name.endswith("lower"):
                ours[-1] = ours[-1].replace(prompt, prompt.lower(), 1)
        given = tokenizer(prompts, return_tensors="pt", padding=True)
        together = network.generate(**given, max_new_tokens=20, max_length=None)
        for i, prompt in enumerate(prompts):
            alone = network.generate(**tokenizer(prompt, return_tensors="pt"), max_new_tokens=20, max_length=None)
            if tokenizer.decode(together[i], skip_special_tokens=True) != tokenizer.decode(alone[0], skip_special_tokens=True):
                ours.append("alone as in a batch")
                theirs.append(prompt)
    same = sum(a == b for a, b in zip(ours, theirs))
    print(f"  greedy texts: {same} of {len(ours)} equal")
    if same < len(ours):
        first = next(i for i in range(len(ours)) if ours[i] != theirs[i])
        print("    ours  ", repr(ours[first])[:300], "\n    theirs", repr(theirs[first])[:300])
    return same == len(ours)


def check_attention(model, torch):
    """TransformerLens: the weights of every head against `heed attend`."""
    try:
        from transformer_lens.model_bridge import TransformerBridge
    except ImportError:
        print("  attention: TransformerLens not run")
        return True
    bridge = TransformerBridge.boot_transformers(str(model.folder), device="cpu")
    told = json.loads(run(model.heed, "attend", model.run, "The old fox ran to the river", "--json"))
    _, cache = bridge.run_with_cache(torch.tensor([told["target_ids"]]))
    worst = max((cache[f"blocks.{layer}.attn.hook_pattern"][0] - torch.tensor(heads)).abs().max().item()
                for layer, heads in enumerate(told["decoder"]))
    print(f"  attention: at most {worst:.1e} apart")
    return worst <= 1e-5


def check_gguf(model, lines, work):
    """llama.cpp: tokens, perplexity (its logits on heed's ids), and greedy text up to the first near-tie."""
    import gguf
    import numpy
    good = True
    for kind, most in ("f16", 0.001), ("q8_0", 0.01):
        folder = work / f"{model.name}.{kind}"
        if not folder.exists():
            run(model.heed, "export", model.run, folder, "--to", "gguf", "--type", kind)
        path = str(folder / "model.gguf")
        read = gguf.GGUFReader(path)
        print(f"  {kind}: {len(read.fields)} fields, {len(read.tensors)} tensors", end="")
        try:
            import llama_cpp
        except ImportError:
            print("; llama.cpp not run")
            continue
        network = llama_cpp.Llama(path, n_ctx=64, n_threads=1, n_threads_batch=1, logits_all=True, verbose=False)
        bpe = model.type == "bpe"
        some = [text for text in lines if text and "\u2581" not in text and (bpe or text.isascii())][:2000]
        (work / "some").write_text("\n".join(some) + "\n")
        ours = model.tokens(work / "some")
        theirs = [network.tokenize(text.encode(), add_bos=False, special=False) for text in some]
        differ = sum(a != b for a, b in zip(ours, theirs))
        nats, expected, count = 0.0, 0.0, 0
        for one in json_lines(run(model.heed, "score", model.run, "--json", "--file", work / f"{model.name}.lines")):
            if len(one["ids"]) <= 64:
                network.reset()
                network.eval([one["bos_id"], *one["ids"][:-1]])
                logits = numpy.array(network.scores[:len(one["ids"])], dtype=float)
                logits -= logits.max(1, keepdims=True)
                logits -= numpy.log(numpy.exp(logits).sum(1, keepdims=True))
                nats -= logits[range(len(one["ids"])), one["ids"]].sum()
                expected -= sum(one["token_logprobs"])
                count += len(one["ids"])
        off = abs(numpy.exp((nats - expected) / count) - 1)
        print(f"; tokens: {differ} of {len(some)} lines differ; perplexity {off:.3%} off on {count} tokens", end="")
        told = run(model.heed, "sample", model.run, "The fox", "--temperature", 0, "--max-tokens", 40, "--json")
        told = json.loads(told.rstrip("\n").split("\n")[-1])
        ids, same = network.tokenize(b"The fox", special=False), 0
        for id, best in zip(told["ids"], told["alternatives"]):
            network.reset()
            network.eval(ids)
            row = numpy.array(network.scores[len(ids) - 1], dtype=float)
            row[:3] = -numpy.inf
            if int(row.argmax()) != id:
                near = best[0]["logprob"] - best[1]["logprob"]
                good &= near < 1e-3 or kind == "q8_0"
                print(f"; greedy text: equal for {same} tokens, then {near:.4f} between the best two")
                break
            ids, same = [*ids, id], same + 1
        else:
            print(f"; greedy text: {same} tokens equal")
        good &= off <= most and (differ == 0 or not bpe)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heed", default=str(HERE / "build" / "heed"))
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--only", default=",".join(MODELS))
    parser.add_argument("--work", type=pathlib.Path)
    options = parser.parse_args()
    import torch
    import transformers
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    for package in "torch", "transformers", "tokenizers", "gguf", "llama_cpp_python", "transformer_lens":
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            print(package, importlib.metadata.version(package))
    work = options.work or pathlib.Path(tempfile.mkdtemp(prefix="check_export."))
    work.mkdir(exist_ok=True)
    write_data(work)
    rng = random.Random(2)
    lines = [line(rng) for _ in range(options.lines)]
    path = work / "lines"
    path.write_text("\n".join(lines) + "\n")
    good = True
    for name in options.only.split(","):
        print(name, flush=True)
        model = Model(options.heed, work, name, options.steps)
        sides = [{"subfolder": side} if model.two else {} for side in ("source", "target")]
        reader, tokenizer = (transformers.AutoTokenizer.from_pretrained(model.folder, **side) for side in sides)
        kind = transformers.AutoModelForSeq2SeqLM if model.pairs and not model.joined else transformers.AutoModelForCausalLM
        network = kind.from_pretrained(model.folder, attn_implementation="eager").eval()
        print(f"  {type(network).__name__}, {type(tokenizer).__name__}")
        good &= check_tokenizer(model, tokenizer, lines, path)
        good &= check_numbers(model, tokenizer, network, torch, work)
        good &= check_texts(model, reader, tokenizer, network, work)
        if name in ("qwen3", "gpt2"):
            good &= check_attention(model, torch)
        if name.startswith(("qwen3", "llama")):
            good &= check_gguf(model, lines, work)
    print("all well" if good else "something differs")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
