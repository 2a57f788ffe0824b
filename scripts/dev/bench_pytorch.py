#!/usr/bin/python3
"""Measures how fast PyTorch trains a workload from make_workloads.py; compare_pytorch.py runs it.

    scripts/dev/bench_pytorch.py B [--threads N] [--procs N] [--foreach|--newer] [--bfloat16] [--seconds S]
    scripts/dev/bench_pytorch.py M --data DIR --order random|bucketed

Prints one JSON object: tokens_per_second (source and target tokens with </s>, without padding), steps, peak_rss_mib (sum
over processes). The model is written for speed: one product for q, k and v; batched products over heads, with the mask
added in the same call, or with --newer PyTorch's own attention; tied embeddings. --bfloat16 trains under autocast. Fixed
shapes train on random ids. M uses the line lengths of DIR/M.src and DIR/M.tgt, and pads every batch to its longest line.
Runs with the Python that starts it, which needs PyTorch.
"""
import argparse
import json
import math
import os
import pathlib
import random
import resource
import socket
import statistics
import subprocess
import sys
import time

from make_workloads import WORKLOADS

DROPOUT = 0.1
WARM_UP = 3


def model_class(torch, w, newer):
    nn, F = torch.nn, torch.nn.functional
    d, pre = w.d_model, not w.translates

    def drop(x):
        return F.dropout(x, DROPOUT)

    class Attention(nn.Module):
        def __init__(self, cross):
            super().__init__()
            self.cross = cross
            self.query = nn.Linear(d, d if cross else 3 * d)
            self.memory = nn.Linear(d, 2 * d) if cross else None
            self.out = nn.Linear(d, d)

        def split(self, x, parts):
            """[b, t, parts * d] -> parts of [b * heads, t, d / heads]"""
            b, t, _ = x.shape
            x = x.view(b, t, parts, w.n_heads, d // w.n_heads).permute(2, 0, 3, 1, 4)
            return x.reshape(parts, b * w.n_heads, t, d // w.n_heads).unbind(0)

        def forward(self, x, memory, mask):
            if self.cross:
                (q,), (k, v) = self.split(self.query(x), 1), self.split(self.memory(memory), 2)
            else:
                q, k, v = self.split(self.query(x), 3)
            scale = (d // w.n_heads) ** -0.5
            if newer:
                mask = mask if mask is None else mask.to(q.dtype)
                y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=DROPOUT)
            else:
                if mask is None:
                    scores = torch.bmm(q * scale, k.transpose(1, 2))
                else:
                    scores = torch.baddbmm(mask.to(q.dtype), q, k.transpose(1, 2), alpha=scale)
                y = torch.bmm(drop(F.softmax(scores, -1)), v)
            b, t, _ = x.shape
            return self.out(y.view(b, w.n_heads, t, -1).transpose(1, 2).reshape(b, t, d))

    class Block(nn.Module):
        def __init__(self, cross):
            super().__init__()
            self.self_attention = Attention(False)
            self.cross_attention = Attention(True) if cross else None
            self.up, self.down = nn.Linear(d, w.d_ff), nn.Linear(w.d_ff, d)
            self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(3 if cross else 2))

        def feed_forward(self, x):
            return self.down(drop((F.gelu if pre else F.relu)(self.up(x))))

        def forward(self, x, mask, memory=None, memory_mask=None):
            parts = [lambda y: self.self_attention(y, None, mask)]
            if memory is not None:
                parts.append(lambda y: self.cross_attention(y, memory, memory_mask))
            for norm, part in zip(self.norms, parts + [self.feed_forward]):
                x = x + drop(part(norm(x))) if pre else norm(x + drop(part(x)))
            return x

    class Transformer(nn.Module):
        def __init__(self, longest):
            super().__init__()
            self.table = nn.Embedding(w.vocab, d)
            self.encoder = nn.ModuleList(Block(False) for _ in range(w.encoder_layers))
            self.decoder = nn.ModuleList(Block(w.translates) for _ in range(w.decoder_layers))
            self.final = nn.LayerNorm(d) if pre else nn.Identity()
            for p in self.parameters():
                if p.dim() == 2:
                    nn.init.normal_(p, std=0.02) if pre else nn.init.xavier_uniform_(p)
            if pre:
                self.positions = nn.Parameter(torch.zeros(longest, d))
            else:
                angle = torch.arange(longest)[:, None] * 10000.0 ** (-torch.arange(0, d, 2) / d)
                self.register_buffer("positions", torch.stack([angle.sin(), angle.cos()], -1).view(longest, d))
            self.register_buffer("causal", torch.full((longest, longest), -math.inf).triu(1))

        def embed(self, ids):
            x = self.table(ids)
            return drop((x if pre else x * math.sqrt(d)) + self.positions[:ids.shape[1]])

        def forward(self, source, target, padding):
            """padding: [b * heads, 1, source length], minus infinity at padded keys, or None."""
            memory = None
            if source is not None:
                memory = self.embed(source)
                for block in self.encoder:
                    memory = block(memory, padding)
            n = target.shape[1]
            x = self.embed(target)
            for block in self.decoder:
                x = block(x, self.causal[:n, :n], memory, padding)
            return F.linear(self.final(x), self.table.weight)

    return Transformer


def fixed_batches(torch, w, batch):
    for _ in range(8):
        source = torch.randint(w.vocab, (batch, w.source)) if w.source else None
        ids = torch.randint(w.vocab, (batch, w.target + 1))
        yield source, ids[:, :-1].contiguous(), ids[:, 1:].contiguous(), None, batch * (w.source + w.target)


def spread_batches(torch, w, batch, folder, order):
    """Batches of `batch` pairs, padded to the longest, in random order or, if bucketed, grouped by length."""
    sides = [[len(line.split()) + 1 for line in open(folder / f"M.{s}")] for s in ("src", "tgt")]
    pairs = list(zip(*sides))
    rng = random.Random(1)
    rng.shuffle(pairs)
    if order == "bucketed":
        pairs.sort(key=lambda p: (max(p), sum(p)))
    groups = [pairs[i:i + batch] for i in range(0, len(pairs) - batch + 1, batch)]
    rng.shuffle(groups)
    for group in groups:
        n, m = (torch.tensor(lengths)[:, None] for lengths in zip(*group))
        source = torch.randint(w.vocab, (batch, int(n.max())))
        target = torch.randint(w.vocab, (batch, int(m.max())))
        labels = torch.randint(w.vocab, target.shape).masked_fill(torch.arange(target.shape[1]) >= m, -1)
        padding = torch.zeros(source.shape).masked_fill(torch.arange(source.shape[1]) >= n, -math.inf)
        padding = padding.repeat_interleave(w.n_heads, 0)[:, None]
        yield source, target, labels, padding, int(n.sum() + m.sum())


def measure(args, rank):
    if args.procs > 1:
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[rank % len(os.sched_getaffinity(0))]})
    import torch
    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(1 + rank)
    w = WORKLOADS[args.workload]
    batch = w.batch // args.procs
    if w.spread:
        batches = list(spread_batches(torch, w, batch, args.data, args.order))
    else:
        batches = list(fixed_batches(torch, w, batch))
    model = model_class(torch, w, args.newer)(64 if w.spread else max(w.source, w.target))
    if args.procs > 1:
        torch.distributed.init_process_group("gloo", rank=rank, world_size=args.procs)
        model = torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
    parameters = list(model.parameters())
    optimizer = torch.optim.Adam(parameters, lr=3e-4, betas=(0.9, 0.98), eps=1e-9, foreach=args.foreach,
                                 **({"fused": True} if args.newer else {}))

    def step(source, target, labels, padding, _):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=args.bfloat16):
            logits = model(source, target, padding)
            loss = torch.nn.functional.cross_entropy(logits.view(-1, w.vocab), labels.view(-1), ignore_index=-1,
                                                     label_smoothing=0.1 if w.translates else 0.0)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()

    def timed(i):
        start = time.perf_counter()
        step(*batches[i % len(batches)])
        return time.perf_counter() - start

    warm = [timed(i) for i in range(WARM_UP)][-1]
    steps = torch.tensor([max(5, round(args.seconds / warm))])
    if args.procs > 1:  # every process must train the same number of steps
        torch.distributed.broadcast(steps, 0)
    times = [timed(WARM_UP + i) for i in range(int(steps))]
    tokens = [batches[(WARM_UP + i) % len(batches)][-1] for i in range(len(times))]
    # Equal steps: the median, which favours PyTorch. Steps of different sizes: all tokens over all the time.
    speed = sum(tokens) / sum(times) if w.spread else tokens[0] / statistics.median(times)
    totals = torch.tensor([speed, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024])
    if args.procs > 1:
        torch.distributed.reduce(totals, 0)
        torch.distributed.barrier()
    if rank == 0:
        print(json.dumps({"tokens_per_second": round(float(totals[0]), 1), "steps": len(times),
                          "peak_rss_mib": round(float(totals[1]), 1), "torch": torch.__version__}))


def spawn(args):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    env = os.environ | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    children = [subprocess.Popen([sys.executable] + sys.argv + ["--rank", str(r)], env=env)
                for r in range(args.procs)]
    return max(child.wait() for child in children)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("--threads", type=int, help="for torch.set_num_threads (default: PyTorch's own)")
    parser.add_argument("--procs", type=int, default=1, help="processes that share a batch through gloo (default: 1)")
    parser.add_argument("--foreach", action="store_true", help="use the multi-tensor form of Adam")
    parser.add_argument("--newer", action="store_true", help="PyTorch's own attention and fused Adam: from 2.4 on")
    parser.add_argument("--bfloat16", action="store_true", help="under autocast")
    parser.add_argument("--seconds", type=float, default=12.0, help="how long to measure (default: 12)")
    parser.add_argument("--data", type=pathlib.Path, help="the folder with M.src and M.tgt")
    parser.add_argument("--order", choices=["random", "bucketed"], default="random", help="of the pairs of M")
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if WORKLOADS[args.workload].spread and not args.data:
        parser.error("M needs --data")
    if args.procs > 1 and args.rank is None:
        return spawn(args)
    measure(args, args.rank or 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
