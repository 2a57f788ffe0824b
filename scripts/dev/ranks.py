#!/usr/bin/env python3
"""Experiments with several ranks (docs/past-one-machine.md has what they gave). Needs heed with MPI, and mpirun.

    scripts/dev/ranks.py kills [HEED] [--n 30]     a random rank is killed at a random moment, and other ranks resume
    scripts/dev/ranks.py speed [HEED] CONFIG...    two ranks of one thread against one process of two threads, in pairs
    scripts/dev/ranks.py predict [HEED] CONFIG...  tokens/s of N machines like this one at 1, 10 and 100 Gbit/s
    scripts/dev/ranks.py wire  [HEED] [CONFIG]     two to four network namespaces, 1 Gbit/s, and two with 1 ms (as root): the same
                                               bytes? the time predicted? and if the link is lost in the middle of a training?
"""
import argparse
import collections
import contextlib
import fcntl
import json
import os
import pathlib
import random
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENV = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
       "OMPI_MCA_mpi_yield_when_idle": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none"}


def command(heed, ranks, *args):
    return (["mpirun", "-np", str(ranks)] if ranks > 1 else []) + [heed, *map(str, args), "--quiet"]


def run(heed, ranks, *args, cwd, status=0):
    done = subprocess.run(command(heed, ranks, *args), cwd=cwd, env=ENV, capture_output=True, text=True, timeout=300)
    if done.returncode != status:
        sys.exit(f"{ranks} ranks, {args}: exit code {done.returncode}, expected {status}\n{done.stderr}")
    return done.stdout


def write_config(folder, ema=0, steps=12, **train):
    words = "the old miller walked to a river and saw that high water was near his mill".split()
    pick = random.Random(1)
    lines = [" ".join(pick.choice(words) for _ in range(2 + i % 7)) for i in range(300)]
    (folder / "a.txt").write_text("\n".join(lines) + "\n")
    (folder / "c.json").write_text(json.dumps({
        "data": {"train": "a.txt", "valid_fraction": 0.1},
        "model": {"d_model": 16, "n_heads": 2, "d_ff": 32, "encoder_layers": 0, "decoder_layers": 2, "dropout": 0.1},
        "objective": {"type": "causal_lm", "target_length": 16}, "optimizer": {"type": "muon", "learning_rate": 0.01},
        "train": {"batch_tokens": 300, "shards": 8, "ema_decay": ema, "max_steps": steps, "eval_every": 5, "save_every": 4,
                  "keep_last": 0, **train}}))


def last_checkpoint(run_folder):
    return {p.name: p.read_bytes() for p in (run_folder / "checkpoints" / "last").iterdir()}


def kills(heed, options):
    pick = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_config(folder, ema=0.9, steps=10**6, save_every=10, eval_every=25, keep_last=1)
        done, slowest, ranks = 0, 0.0, 1
        for _ in range(options.n):
            ranks = pick.choice([n for n in (2, 3, 4) if n != ranks])
            log = folder / "run" / "train.log"
            size = log.stat().st_size if log.exists() else 0
            args = ("resume", "run") if (folder / "run" / "config.json").exists() else ("train", "c.json", "--run", "run")
            p = subprocess.Popen(command(heed, ranks, *args), cwd=folder, env=ENV, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
            # From when it trains: mpirun itself (Open MPI 4.1.4) may hang if a rank dies while it starts.
            while p.poll() is None and not (log.exists() and log.stat().st_size > size):
                time.sleep(0.05)
            time.sleep(pick.uniform(0, options.seconds))
            pids = subprocess.run(["ps", "-o", "pid=", "--ppid", str(p.pid)], capture_output=True, text=True).stdout.split()
            if pids:
                os.kill(int(pick.choice(pids)), signal.SIGKILL)
            else:
                p.kill()
            begin = time.time()
            p.wait(timeout=30)
            slowest = max(slowest, time.time() - begin)
            done += 1
        step = int(os.readlink(folder / "run" / "checkpoints" / "last")[5:])
        run(heed, 3, "resume", "run", "--stop-at", step + 5, cwd=folder)
        run(heed, 1, "train", "c.json", "--run", "one", "--stop-at", step + 5, cwd=folder)
        same = last_checkpoint(folder / "one") == last_checkpoint(folder / "run")
        print(f"{done} kills; the slowest end took {slowest:.1f} s; at step {step + 5} the bytes are "
              f"{'the same' if same else 'DIFFERENT'}")
        return not same


def bench(heed, ranks, config, *args):
    out = subprocess.run([*(["mpirun", "-np", str(ranks)] if ranks > 1 else []), heed, "bench", config, "--json", *args],
                         env=ENV, capture_output=True, text=True, check=True).stdout
    return json.loads(out)


def speed(heed, options):
    for config in options.configs:
        ratios = []
        for _ in range(options.n):
            one = bench(heed, 1, config, "--threads", "2", "--steps", "6")
            two = bench(heed, 2, config, "--threads", "1", "--steps", "6")
            ratios.append(two["tokens_per_second"] / one["tokens_per_second"])
            print(f"{config}: {one['tokens_per_second']:.0f} tokens/s on 2 threads, "
                  f"{two['tokens_per_second']:.0f} on 2 ranks ({100 * two['exchange_share']:.1f} % exchange)", flush=True)
        print(f"{config}: ratio {statistics.median(ratios):.3f}, median of {len(ratios)} pairs "
              f"({min(ratios):.3f} to {max(ratios):.3f})")
    return 0


def predicted_speed(measured, shards, machines, gbits):
    """tokens/s of so many machines, from what `heed bench` measured on a number of ranks: what the first rank computes, but
    with the largest share of the shards, one on a thread, in rounds; then (machines - 1) / machines of its gradient and of
    the weights to send and to receive; and 50 us for each of a step's 4 exchanges."""
    ranks, threads, step = measured["ranks"], measured["threads"], 1 / measured["steps_per_second"]
    rounds = lambda share: -(-share // threads)
    compute = step * (1 - measured["exchange_share"]) * rounds(-(-shards // machines)) / rounds(shards // ranks)
    bytes_each = measured["bytes_by_formula"] / (ranks - 1) * (machines - 1) / machines
    return measured["tokens_per_second"] * step / (compute + 4 * 50e-6 + bytes_each * 8 / (gbits * 1e9))


def shards_of(heed, config):
    shown = subprocess.run([heed, "config", config], capture_output=True, text=True, check=True).stdout
    return json.loads(shown)["train"]["shards"]


def predict(heed, options):
    for config in options.configs:
        measured, shards = bench(heed, 2, config, "--threads", "1"), shards_of(heed, config)
        print(f"{config}: {measured['tokens_per_second']:.0f} tokens/s on 2 ranks of 1 thread")
        for machines in (2**i for i in range(1, shards.bit_length())):
            for gbits in (1, 10, 100):
                print(f"  {machines:4} machines at {gbits:3} Gbit/s: about "
                      f"{predicted_speed(measured, shards, machines, gbits):.0f} tokens/s")
    return 0


def relay(ends, seconds):
    """Carries packets between two tun devices, each as long after it came, until one of them is gone."""
    waiting = collections.deque()  # when, to which, the packet
    with contextlib.suppress(OSError):
        while True:
            pause = max(0, waiting[0][0] - time.monotonic()) if waiting else None
            for end in select.select(ends, [], [], pause)[0]:
                waiting.append((time.monotonic() + seconds, ends[1 - ends.index(end)], os.read(end, 1 << 16)))
            while waiting and waiting[0][0] <= time.monotonic():
                _, end, packet = waiting.popleft()
                os.write(end, packet)


@contextlib.contextmanager
def network(machines, latency=0):
    """Namespaces with a network of 1 Gbit/s; yields the command that starts a rank in each, or None if not allowed.
    With a latency (two machines), packets go through relay()."""
    names = [f"heedrank{i}" for i in range(machines)]

    def ip(*args):
        done = subprocess.run(["ip", *args], capture_output=True, text=True)
        if done.returncode:
            raise OSError(f"ip {' '.join(args)}: {done.stderr.strip()}")

    def tun(device):
        fd = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(fd, 0x400454ca, struct.pack("16sH", device.encode(), 0x1001))  # TUNSETIFF: IFF_TUN, IFF_NO_PI
        return fd

    try:
        ends = []
        if not latency:
            ip("link", "add", "heedbridge", "type", "bridge")
            ip("link", "set", "heedbridge", "up")
        for i, name in enumerate(names):
            ip("netns", "add", name)
            if latency:
                ends.append(tun(f"heedv{i}"))
            else:
                ip("link", "add", f"heedv{i}", "type", "veth", "peer", "name", f"heedb{i}")
                ip("link", "set", f"heedb{i}", "master", "heedbridge", "up")
            ip("link", "set", f"heedv{i}", "netns", name)
            inside = ["netns", "exec", name]
            ip(*inside, "ip", "addr", "add", f"10.35.0.{i + 1}/24", "dev", f"heedv{i}")
            ip(*inside, "ip", "link", "set", "lo", "up")
            # Large packets, since relay() is no router.
            ip(*inside, "ip", "link", "set", f"heedv{i}", *(["mtu", "60000"] if latency else []), "up")
            ip(*inside, "tc", "qdisc", "add", "dev", f"heedv{i}", "root", "tbf", "rate", "1gbit", "burst", "256kb", "latency",
               "50ms")
        if latency:
            threading.Thread(target=relay, args=(ends, latency), daemon=True).start()
        with tempfile.TemporaryDirectory() as folder:
            agent = pathlib.Path(folder) / "agent"
            agent.write_text("#!/bin/sh\nname=heedrank$((${1##*.} - 1))  # $1: the address\nshift\n"
                             "exec ip netns exec $name unshare --uts sh -c \"hostname $name; $*\"\n")
            agent.chmod(0o755)
            hosts = ",".join(f"10.35.0.{i + 1}:1" for i in range(machines))
            yield ["ip", "netns", "exec", names[0], "mpirun", "-np", str(machines), "--host", hosts, "--mca", "plm_rsh_agent",
                   str(agent), "--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "btl", "self,tcp", "--mca",
                   "btl_tcp_if_include", "10.35.0.0/24", "--mca", "oob_tcp_if_include", "10.35.0.0/24", "--mca", "pml", "ob1"]
    except OSError as error:
        print(f"not run: {error}")
        yield None
    finally:
        for i, name in enumerate(names):
            pids = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout.split()
            subprocess.run(["kill", "-9", *pids], capture_output=True)
            subprocess.run(["ip", "link", "del", f"heedb{i}"], capture_output=True)  # else it outlives its namespace
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        subprocess.run(["ip", "link", "del", "heedbridge"], capture_output=True)


def lost_link(heed, launch, folder):
    """Takes the link between the two ranks down while they train; says how the job ends."""
    write_config(folder, steps=10**6, rank_timeout=5, save_every=50, keep_last=1)
    said = folder / "said.txt"  # no pipe: mpirun's helpers would hold it open
    with said.open("w") as out:
        job = subprocess.Popen([*launch, heed, "train", str(folder / "c.json"), "--run", str(folder / "lost"), "--quiet"],
                               cwd=folder, env=ENV, stdout=out, stderr=out)
    while job.poll() is None and not (folder / "lost" / "checkpoints" / "last").exists():
        time.sleep(0.1)
    subprocess.run(["ip", "netns", "exec", "heedrank1", "ip", "link", "set", "heedv1", "down"], check=True)
    begin = time.monotonic()
    alive = lambda: subprocess.run(["pgrep", "-f", f"train {folder}/c.json --run {folder}/lost"], capture_output=True).stdout.split()
    while len(alive()) > 1 and time.monotonic() - begin < 60:  # mpirun is one of them
        time.sleep(0.1)
    print(f"link lost: no process of heed is left after {time.monotonic() - begin:.1f} s (train.rank_timeout 5)"
          if len(alive()) <= 1 else "link lost: heed still runs after 60 s")
    try:
        print(f"mpirun: exit code {job.wait(timeout=30)} after {time.monotonic() - begin:.1f} s")
    except subprocess.TimeoutExpired:
        print("mpirun itself still waits after 30 s more")
        job.kill()
    print(said.read_text().strip())
    whole = subprocess.run([heed, "verify", folder / "lost"], capture_output=True, text=True)
    print("the run:", whole.stdout.strip().splitlines()[-1])
    return whole.returncode == 0


def time_against_prediction(heed, launch, config, times):
    ratios, shards = [], shards_of(heed, config)
    for _ in range(times):
        out = json.loads(subprocess.run(
            [*launch, heed, "bench", os.path.abspath(config), "--threads", "1", "--json", "--steps", "5"],
            env=ENV, capture_output=True, text=True, check=True).stdout)
        measured = out["tokens_per_second"]
        predicted = predicted_speed(out, shards, 2, 1)
        ratios.append(predicted / measured)
        print(f"{config}: {measured:.0f} tokens/s, predicted {predicted:.0f}", flush=True)
    print(f"{config}: time per step {statistics.median(ratios):.3f} of the predicted one, median of {times} "
          f"({min(ratios):.3f} to {max(ratios):.3f})", flush=True)


def wire(heed, options):
    bad = 0
    for machines, latency in ((2, 0), (3, 0), (4, 0), (2, 1e-3)):
        with network(machines, latency) as launch, tempfile.TemporaryDirectory() as name:
            if not launch:
                continue
            folder = pathlib.Path(name)
            write_config(folder)
            run(heed, 1, "train", "c.json", "--run", "one", cwd=folder)
            done = subprocess.run([*launch, heed, "train", str(folder / "c.json"), "--run", str(folder / "many"), "--quiet"],
                                  cwd=folder, env=ENV, capture_output=True, text=True, timeout=120)
            if done.returncode:
                sys.exit(done.stderr)
            same = last_checkpoint(folder / "one") == last_checkpoint(folder / "many")
            print(f"{machines} namespaces, latency {1e3 * latency:g} ms:", "the same bytes" if same else "DIFFERENT bytes",
                  flush=True)
            bad += not same
            for config in options.configs if machines == 2 else ():
                time_against_prediction(heed, launch, config, options.n)
            if machines == 2 and not latency:
                bad += not lost_link(heed, launch, folder)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kills", "speed", "predict", "wire"])
    parser.add_argument("heed", nargs="?", default=str(ROOT / "build" / "heed"))
    parser.add_argument("configs", nargs="*")
    parser.add_argument("--n", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3, help="the latest kill")
    options = parser.parse_args()
    options.n = options.n or (30 if options.what == "kills" else 10)
    work = {"kills": kills, "speed": speed, "predict": predict, "wire": wire}[options.what]
    return 1 if work(str(pathlib.Path(options.heed).resolve()), options) else 0


if __name__ == "__main__":
    sys.exit(main())
