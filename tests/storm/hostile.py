"""Runs whose files were edited: one to three changes, usually with updated checksums, and then commands.

Whatever the files hold, a command must end by itself within seconds and reasonable memory, with a documented exit code,
a sentence if it failed, no escape sequences in that sentence, JSON without NaN, and without having changed the run.
"""
import collections
import hashlib
import json
import math
import os
import random
import shutil
import signal
import struct
import subprocess
import tempfile

import runs

SECONDS, MEMORY = 30, 1500 << 20
CODES = {0, 2, 3, 4, 5, 6, 7}
FAMILIES = {"prefix_lm": {"tokenizer__type": "char"},
            "causal_lm": {"tokenizer__type": "bpe", "tokenizer__vocab_size": 300, "train__ema_decay": 0.9},
            "masked_lm": {"tokenizer__type": "word"},
            "seq2seq": {},
            "unigram": {"family": "prefix_lm", "tokenizer__type": "unigram", "tokenizer__vocab_size": 300,
                        "model__positions": "learned"}}
READS = ["evaluate {run} --json", "evaluate {run} --checkpoint last", "sample {run} river --max-tokens 9",
         "sample {run} -n 3 --json --temperature 0 the", "translate {run} --file a.source --json",
         "translate {run} --beam-size 1 < a.source", "score {run} --target-file a.target --file a.source --json",
         "score {run} --file a.txt --tokens", "fill {run} mill[MASK] --json", "attend {run} mill --json", "explain {run} mill --json",
         "attend {run} mill --target old --html p.html", "neighbors {run} the a --json", "inspect {run} --json",
         "inspect {run}", "report {run} --html p.html", "report {run} --live --html p.html", "tokenize {run} --ids < a.txt", "config {run}/config.json",
         "evaluate {run} --file a.txt --checkpoint step-4", "gradcheck {run}/config.json"]
WRITES = ["resume {run} --max-steps 14", "resume {run} --more 1 --threads 2", "average {run} --last 2",
          "resume {run} --set train.keep_last=1 --max-steps 13"]
UNREADABLE = (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError)
STRANGE = [None, True, False, -1, 0, 1, 3, 7.5, 1e308, -1e-320, 2**31, 2**53, 2**63, 2**64 - 1, "", "\x1b[31mred", "a\0b",
           "../../etc/passwd", "/dev/zero", "\ud800", "\u202e", "x" * 100_000, [], {}, [[[[]]]] * 50, ["</s>", "<s>"],
           {"a": {"a": {"a": 1}}}, list(range(3000)), "sinusoidal", "rotary", "word", "1 epoch", [0.9, 2], "NaN"]


def places(value, path=()):
    """Every place in a JSON value."""
    found = [path]
    for key, child in value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else []):
        found += places(child, path + (key,))
    return found


def edit(value, draw):
    """The value with one place changed, removed or doubled."""
    path = draw.choice(places(value))
    if not path:
        return draw.choice(STRANGE)
    parent = value
    for key in path[:-1]:
        parent = parent[key]
    key, kind = path[-1], draw.randrange(5)
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent[draw.choice(["\x1b]0;x\a", "constructor", "", str(key) + "_", "z" * 3000])] = parent[key]
    elif kind == 2 and isinstance(parent[key], (int, float)):
        parent[key] = draw.choice([parent[key] + 1, parent[key] * 2, -parent[key], parent[key] * 1000, parent[key] + 0.5])
    else:
        parent[key] = draw.choice(STRANGE)
    return value


def edit_json(path, draw):
    text = path.read_text(errors="replace")
    lines = text.splitlines() if path.suffix == ".jsonl" else [text]
    if not lines:
        return
    i = draw.randrange(len(lines))
    try:
        value = json.loads(lines[i])
    except (ValueError, RecursionError):
        return
    lines[i] = json.dumps(edit(value, draw), indent=None if path.suffix == ".jsonl" else 2)
    if draw.random() < 0.1:
        lines[i] = lines[i].replace(":", ":" + draw.choice(["NaN", "1e999", "[" * 2000, "\x1b"]), 1)
    path.write_text("\n".join(lines) + "\n", errors="surrogatepass")


def edit_tensors(path, draw):
    header, body = runs.read_tensors(path)
    names = [n for n in header if n != "__metadata__"]
    entry = header[draw.choice(names)]
    kind = draw.randrange(7)
    if kind == 0:
        header = edit(header, draw)
    elif kind == 1:  # every number of some tensors
        strange = struct.pack("<f", draw.choice([math.nan, math.inf, 1e30, -3e38, 1e10, 1e-42, 0.0]))
        body = bytearray(body)
        for name in draw.sample(names, draw.randint(1, len(names))):
            begin, end = header[name]["data_offsets"]
            body[begin:end] = strange * ((end - begin) // 4)
    elif kind == 2:  # some numbers
        body = bytearray(body)
        for _ in range(draw.randint(1, 30)):
            at = draw.randrange(len(body) // 4) * 4
            body[at:at + 4] = draw.randbytes(4)
    elif kind == 3:
        entry["shape"] = draw.choice([entry["shape"][::-1], entry["shape"] + [1], [], [2**40, 2**40], [-1, -8], [0]])
    elif kind == 4:
        entry["data_offsets"] = draw.choice([[0, 0], entry["data_offsets"][::-1], [0, 2**62], [1, 5]])
    elif kind == 5:
        body = body[:draw.randrange(len(body))] if draw.random() < 0.5 else body + bytes(draw.choice([1, 4, 4096]))
    else:
        entry["dtype"] = draw.choice(["F16", "F64", "I64", "BOOL", "f32", "\x1b[1m"])
    runs.write_tensors(path, header, bytes(body))


def edit_bytes(path, draw):
    data = bytearray(path.read_bytes())
    kind = draw.randrange(4)
    if kind == 0 and data:
        for _ in range(draw.randint(1, 8)):
            data[draw.randrange(len(data))] = draw.randrange(256)
    elif kind == 1:
        del data[draw.randrange(len(data) + 1):]
    elif kind == 2:
        at = draw.randrange(len(data) + 1)
        data[at:at] = draw.choice([b"\0" * 5000, b"\xff\xfe", draw.randbytes(64), b"\x1b[2J", b"\n\n"])
    else:
        data = data[len(data) // 2:] + data[:len(data) // 2]
    path.write_bytes(data)


def replace(path, draw, others):
    """Puts something else in place of a file."""
    kind = draw.randrange(8)
    if kind == 0:
        other = draw.choice(others)
        twins = [p for p in other.rglob(path.name) if p.is_file()]
        if twins:
            shutil.copyfile(draw.choice(twins), path)
        return
    path.unlink()
    if kind == 1:
        path.mkdir()
    elif kind == 2:
        os.mkfifo(path)
    elif kind == 3:
        path.symlink_to(draw.choice(["/dev/zero", "/dev/full", "/proc/self/mem", "/etc/passwd", path.name, "..", "gone"]))
    elif kind == 4:
        path.touch()
    elif kind == 5:
        with open(path, "wb") as file:
            file.truncate(draw.choice([1 << 33, 1 << 40, 200_000_000]))


def edit_names(run, draw):
    """Changes links and folder names."""
    checkpoints = run / "checkpoints"
    kind = draw.randrange(6)
    if kind <= 1:
        link = checkpoints / draw.choice(["best", "last"])
        link.unlink(missing_ok=True)
        if kind == 1:
            link.symlink_to(draw.choice(["step-00000099", "/etc", "../..", "best", "last", ".", "\x1b[5mx", "step-00000004/",
                                         "../checkpoints/step-00000008", "x" * 200]))
        return
    steps = sorted(checkpoints.glob("step-*"))
    if kind == 2 and steps:
        draw.choice(steps).rename(checkpoints / draw.choice(["step-00000077", "step-7", "step-\x1b[31m", ".tmp-step-00000077",
                                                              "average-1-2", "step-99999999999999999999"]))
    elif kind == 3 and steps:
        (draw.choice(steps) / draw.choice(["extra", "\x1b[31mX", "a\nb", ".hidden"])).write_text("?")
    elif kind == 4 and steps:
        shutil.rmtree(draw.choice(steps))
    elif kind == 5:
        (checkpoints / ".tmp-step-00000012").mkdir(exist_ok=True)


def is_small_file(path):
    return path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 24


def spoil(run, draw, others):
    """Makes one change; usually updates the checksums too."""
    files = sorted(p for p in run.rglob("*") if is_small_file(p) and p.name != ".lock")
    if not files:
        return
    path = draw.choice(files)
    kind = draw.random()
    if kind < 0.12:
        edit_names(run, draw)
    elif kind < 0.24:
        replace(path, draw, others)
    elif kind < 0.4:
        edit_bytes(path, draw)
    else:
        edit_inside = {".json": edit_json, ".jsonl": edit_json, ".safetensors": edit_tensors}
        try:
            edit_inside.get(path.suffix, edit_bytes)(path, draw)
        except UNREADABLE:  # damaged before
            edit_bytes(path, draw)
    if draw.random() < 0.75:
        for folder in (run / "checkpoints").glob("step-*"):
            try:
                if all(is_small_file(p) for p in folder.iterdir()):
                    runs.seal(folder)
            except UNREADABLE:
                pass


def fingerprint(run):
    """What a command that only reads must leave unchanged."""
    found = []
    for path in sorted(run.rglob("*")):
        s = path.lstat()
        content = os.readlink(path) if path.is_symlink() else ""
        if is_small_file(path):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        if path.name != ".lock":
            found.append((str(path), s.st_mode, s.st_size, content))
    return found


def execute(heed, line, folder, out, err):
    """Exit code (negative: a signal; None: too long) and peak memory in bytes."""
    line, _, source = line.partition(" < ")
    with open(folder / source if source else os.devnull, "rb") as stdin:
        process = subprocess.Popen([heed, *line.split()], cwd=folder, stdin=stdin, stdout=out, stderr=err)
        previous = signal.signal(signal.SIGALRM, lambda *_: process.kill())
        signal.alarm(SECONDS)
        _, status, usage = os.wait4(process.pid, 0)
        late = signal.alarm(0) == 0
        signal.signal(signal.SIGALRM, previous)
        process.returncode = os.waitstatus_to_exitcode(status)
    return None if late else process.returncode, usage.ru_maxrss * 1024


def complaint(line, code, memory, out, err, changed):
    """What is wrong with how a command ended, if anything."""
    if code is None:
        return f"still running after {SECONDS} s"
    if code < 0 or code not in CODES:
        return f"exit {code}: {err[-400:]!r}"
    if memory > MEMORY:
        return f"{memory >> 20} MiB"
    if code != 0 and b"heed: error: " not in err and code != 6:
        return f"exit {code} without a sentence: {err[-400:]!r}"
    if any(b < 32 and b not in b"\n\t" or b == 127 for b in err):
        return f"control characters in {err!r}"
    try:
        err.decode()
    except (ValueError, RecursionError):
        return f"invalid UTF-8 in {err!r}"
    if "--json" in line and code == 0:
        try:
            for text in out.splitlines():
                json.loads(text, parse_constant=int)  # which NaN is not: ValueError
        except ValueError as error:
            return f"no JSON ({error}): {out[:300]!r}"
    if changed:
        return "it changed the run"
    return None


def job(number, options, work):
    """A share of the commands."""
    draw = random.Random(f"{options.seed} hostile {number}")
    folder = work / f"hostile-{number}"
    folder.mkdir()
    test = runs.RunsTest()
    test.folder = folder
    runs.HEED = options.heed
    test.texts()
    sound = []
    for name, changes in FAMILIES.items():
        changes = {"family": name, **runs.SMALL, **changes}
        test.train(test.config(name, **changes), name)
        sound.append(folder / name)
    ends, findings = collections.Counter(), []
    while sum(ends.values()) * options.jobs < options.hostile and len(findings) < 8:
        run = folder / "run"
        shutil.rmtree(run, ignore_errors=True)
        base = draw.choice(sound)
        shutil.copytree(base, run, symlinks=True)
        for _ in range(draw.randint(1, 3)):
            try:
                spoil(run, draw, sound)
            except UNREADABLE:  # two changes that exclude each other
                pass
        for _ in range(draw.randint(2, 4)):
            writes = draw.random() < 0.2
            line = draw.choice(WRITES if writes else READS).format(run="run")
            before = None if writes else fingerprint(run)
            with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
                code, memory = execute(options.heed, line, folder, out, err)
                out.seek(0)
                err.seek(0)
                changed = before is not None and before != fingerprint(run)
                wrong = complaint(line, code, memory, out.read(1 << 24), err.read(1 << 20), changed)
            ends[code if code is not None else "late"] += 1
            if wrong:
                kept = work / f"hostile-finding-{number}-{len(findings)}"
                subprocess.run(["cp", "-a", "--sparse=always", str(run), str(kept)])
                findings.append(f"heed {line} of a {base.name} run ({kept}): {wrong}")
            if writes:
                break
    return ends, findings
