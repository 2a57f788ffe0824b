"""Runs of the real program on tiny models, shared by the command-line tests.

HEED_BINARY names the program. Every test has a folder of its own, which is removed afterwards.
"""
import array
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

HEED = os.environ.get("HEED_BINARY", "heed")
NOBODY = 65534
USAGE, DATA, STORE, DIVERGED, MEMORY = 2, 3, 4, 5, 7  # exit codes
MPIRUN = shutil.which("mpirun")
RANKS_ENV = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "ASAN_OPTIONS": "detect_leaks=0",
             "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # of Open MPI 4, 5
             "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none", "PRTE_MCA_hwloc_default_binding_policy": "none"}
# Changes to config(): a run that trains fast, with checkpoints at steps 4, 8 and 12.
SMALL = {"model__d_model": 16, "train__max_steps": 12, "train__eval_every": 0,
         "train__save_every": 4, "train__keep_last": 0}
# The objectives for which these keys have meaning.
LENGTHS = {"source_length": ("prefix_lm", "masked_lm", "span_corruption"), "target_length": ("prefix_lm", "causal_lm")}
# The sentences of a log that scripts and users may rely on; all other wording is free, and tests assert facts.
SAID = {"already": "already at step {}", "branched": "branched from {} at step {}", "changed": "{} from {} to {}",
        "diverged": "diverged at step {}", "early": "stopped early at step {}", "finished": "finished at step {}",
        "resuming": "resuming at step {}", "saved": "stopped and saved at step {}", "skipped": "warning: skipped a checkpoint:",
        "starting": "starting at step {}", "time": "time is up at step {}"}
WORDS = "the old miller walked to a river and saw that high water was near his mill".split()


def said(which, *values):
    """A sentence of SAID, up to the first value that is not given."""
    first, *parts = SAID[which].split("{}")
    return (first + "".join(f"{value}{part}" for value, part in zip(values, parts))).strip()


def goes_on(text, at):
    """Whether a word or a number (1,500 or 0.1 or 1e-4 or -1) goes on across this place of a text."""
    before, after = text[max(0, at - 3):at], text[at:at + 2]
    return (re.search(r"\w\Z", before) and re.match(r"\w", after) or
            re.search(r"(\d[.,]|\de-|(^|\W)-)\Z", before) and re.match(r"\d", after) or
            re.search(r"\d\Z", before) and re.match(r"[.,]\d", after))


def stands_in(text, fact):
    """Whether a fact stands in a text, and not as a part of a longer word or number."""
    assert fact, "an empty fact stands in every text"
    places = [found.start() for found in re.finditer(f"(?={re.escape(fact)})", text)]
    return any(not goes_on(text, at) and not goes_on(text, at + len(fact)) for at in places)


def text(n, seed=1):
    """n words of English-like text, the same for the same seed."""
    out, x = [], seed
    for i in range(n):
        x = (x * 1103515245 + 12345) % 2**31
        out.append(WORDS[(x >> 16) % len(WORDS)])
        out.append(".\n" if x % 11 == 0 else " ")
    return "".join(out)


class Result:
    def __init__(self, done):
        self.status = done.returncode if done.returncode >= 0 else 128 - done.returncode
        self.out, self.err = done.stdout, done.stderr


class RunsTest(unittest.TestCase):
    longMessage = True
    maxDiff = 2000
    # Runs that each test of a class starts with, {name: changes to config()}. Each is trained once; every test gets copies.
    RUNS = {}

    @classmethod
    def setUpClass(cls):
        if cls.RUNS:
            trainer = cls("texts")  # any method: none is run as a test
            trainer.folder = cls.trained = Path(tempfile.mkdtemp(prefix="heed_test_"))
            cls.addClassCleanup(shutil.rmtree, cls.trained, ignore_errors=True)
            trainer.texts()
            for name, changes in cls.RUNS.items():
                trainer.train(trainer.config(name, **changes), name)

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="heed_test_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.texts()
        for name in self.RUNS:
            shutil.copytree(self.trained / name, self.folder / name, symlinks=True)

    def texts(self):
        (self.folder / "a.txt").write_text(text(300))
        self.pairs(120)

    def pairs(self, n):
        lines = [" ".join(WORDS[(i * 7 + j * 3) % 9] for j in range(1 + i % 5)) for i in range(n)]
        (self.folder / "a.source").write_text("".join(l + "\n" for l in lines))
        (self.folder / "a.target").write_text(
            "".join(" ".join(reversed(l.split())) + "\n" for l in lines))

    def config(self, name="c", **changes):
        """Writes NAME.json: a tiny model on a.txt, changed by keys like train__max_steps."""
        c = {
            "data": {"train": "a.txt", "valid_fraction": 0.1},
            "model": {"d_model": 8, "n_heads": 2, "d_ff": 16, "encoder_layers": 1,
                      "decoder_layers": 1, "dropout": 0.2},
            "objective": {"source_length": 6, "target_length": 8},
            "optimizer": {"learning_rate": 0.01, "schedule": "constant", "warmup_steps": 4},
            "train": {"batch_tokens": 100, "max_steps": 20, "log_every": 5, "eval_every": 10,
                      "save_every": 10, "shards": 4, "micro_batch_tokens": 30},
        }
        family = changes.pop("family", "prefix_lm")
        c["objective"] = {"type": family, **{key: n for key, n in c["objective"].items() if family in LENGTHS[key]}}
        if family == "causal_lm":
            c["model"]["encoder_layers"] = 0
        if family == "masked_lm":
            c["model"]["decoder_layers"] = 0
        if family == "seq2seq":
            c["data"] = {"source": "a.source", "target": "a.target", "valid_fraction": 0.1}
            c["tokenizer"] = {"type": "word"}
        for key, value in changes.items():
            section, _, leaf = key.partition("__")
            if leaf:
                c.setdefault(section, {})[leaf] = value
            else:
                c[section] = value
        path = self.folder / (name + ".json")
        path.write_text(json.dumps(c))
        return path

    def heed(self, *args, env=None, timeout=600, stdin="", cwd=None):
        return Result(subprocess.run([HEED, *map(str, args)], capture_output=True, text=True,
                                     input=stdin, timeout=timeout, cwd=cwd or self.folder,
                                     env={**os.environ, **(env or {})}, errors="replace"))

    def as_nobody(self, *args, **kw):
        """heed as a user whom permissions bind, if the tests run as root. That user gets all files of the test."""
        heed, user = self.folder / "heed", {}
        if not heed.exists():
            shutil.copy(shutil.which(HEED), heed)
        if os.getuid() == 0:
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
            user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        return Result(subprocess.run([heed, *map(str, args)], capture_output=True, text=True, cwd=self.folder, timeout=60,
                                     **user, **kw))

    def check(self, *args, status=0, facts=(), **kw):
        """Runs heed and expects this exit status and these facts on standard error: a path, a line of a file,
        a key, a number, an option or a command to try, the system's reason; not the words around them."""
        return self.judge(self.heed(*args, **kw), args, status, facts)

    def at_once(self, commands):
        """The results of commands, run by a pool of threads."""
        with concurrent.futures.ThreadPoolExecutor(2 * len(os.sched_getaffinity(0))) as pool:
            return list(pool.map(lambda args: self.heed(*args), commands))

    def judge(self, r, args, status, facts):
        self.assertEqual(r.status, status, f"heed {' '.join(map(str, args))}\n{r.err}")
        self.tells(r.err, facts)
        if status not in (0, 130, 143):
            typed, options = " ".join(map(str, args)), [facts] if isinstance(facts, str) else facts
            self.assertFalse(options and all(f.startswith("-") and stands_in(typed, f) for f in options),
                             f"options that were typed prove nothing: {facts}")
            self.assertIn("heed: error: ", r.err)
            self.assertNotIn("terminate called", r.err)
        return r

    def tells(self, told, facts):
        for fact in [facts] if isinstance(facts, str) else facts:
            self.assertTrue(stands_in(told, fact), f"{fact!r} is not in: {told}")

    def near(self, found, wanted, told=None):
        """The same JSON, but for rounding: some of OpenBLAS's kernels sum a row otherwise by its place."""
        if isinstance(wanted, float) and isinstance(found, float):
            self.assertAlmostEqual(found, wanted, delta=1e-5 * max(1, abs(wanted)), msg=told)
        elif isinstance(wanted, dict) and isinstance(found, dict):
            self.near([*found.items()], [*wanted.items()], told)
        elif isinstance(wanted, (list, tuple)) and isinstance(found, (list, tuple)) and len(found) == len(wanted):
            for one, other in zip(found, wanted):
                self.near(one, other, told)
        else:
            self.assertEqual(found, wanted, told)

    def works(self, told):
        """The first command after `try:` runs and ends well."""
        command = re.search(r"try: (?:.*?)(heed [^;,\n]+)", told)
        self.assertTrue(command, told)
        return self.check(*shlex.split(command[1])[1:])

    def out(self, *args, **kw):
        return self.check(*args, **kw).out

    def json(self, *args, **kw):
        """The objects that a command prints with --json, one per line."""
        return [json.loads(line) for line in self.out(*args, "--json", **kw).splitlines()]

    def train(self, config, run="run", *args, **kw):
        return self.check("train", config, "--run", self.folder / run, *args, **kw)

    def resume(self, run="run", *args, **kw):
        return self.check("resume", self.folder / run, *args, **kw)

    def spawn(self, *args, stdin=None):
        p = subprocess.Popen([HEED, *map(str, args)], stdin=stdin, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, cwd=self.folder)
        self.addCleanup(lambda: (p.kill(), p.communicate()) if p.poll() is None else None)
        return p

    def limited(self, limit, *args):
        """heed under `ulimit LIMIT`."""
        line = " ".join(shlex.quote(str(a)) for a in (HEED, *args))
        done = subprocess.run(["bash", "-c", f"ulimit {limit} && exec {line}"], capture_output=True, text=True,
                              cwd=self.folder, timeout=60)
        return Result(done)

    def faulty(self, faults, *args):
        """heed with system calls that fail."""
        if not shutil.which("strace"):
            self.skipTest("needs strace")
        done = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", *faults, HEED, *map(str, args)], capture_output=True,
                              text=True, cwd=self.folder)
        if "ptrace" in done.stderr:
            self.skipTest("strace may not trace here")
        return Result(done)

    def skip_under_a_sanitizer(self):
        """Skips if heed needs more address space than this just to start."""
        if self.limited("-v 400000", "--version").status != 0:
            self.skipTest("a sanitizer's memory is not the program's")

    def checkpoints(self, run="run"):
        return self.folder / run / "checkpoints"

    def steps(self, run="run"):
        return sorted(int(p.name[5:]) for p in self.checkpoints(run).glob("step-*"))

    def step(self, step, run="run"):
        """The folder of a checkpoint."""
        return self.checkpoints(run) / f"step-{step:08}"

    def lose_checkpoints(self, run="run"):
        """As if the process had been killed before it saved."""
        for path in self.checkpoints(run).iterdir():
            path.unlink() if path.is_symlink() else shutil.rmtree(path)

    def link(self, name, run="run"):
        return int(os.readlink(self.checkpoints(run) / name)[5:])

    def files(self, folder):
        return {p.name: p.read_bytes() for p in sorted(Path(folder).iterdir())}

    def same_checkpoint(self, one, other, step):
        """Every file of a step's checkpoint is the same in two runs."""
        a, b = (self.files(self.step(step, run)) for run in (one, other))
        self.assertEqual(a.keys(), b.keys())
        for name in a:
            if name.endswith(".json"):
                self.assertEqual(a[name].decode(), b[name].decode(), name)
            self.assertTrue(a[name] == b[name], f"{name} of {one} and {other} differ")

    def snapshot(self, run="run"):
        """All bytes of a run except its log and lock, to check that nothing is lost."""
        root = self.folder / run
        return {str(p.relative_to(root)): os.readlink(p) if p.is_symlink() else p.read_bytes()
                for p in sorted(root.rglob("*"))
                if (p.is_symlink() or p.is_file()) and p.name not in ("train.log", ".lock")}

    def metrics(self, run="run", kind=None):
        lines = (self.folder / run / "metrics.jsonl").read_text().splitlines()
        events = [json.loads(line) for line in lines]
        return [e for e in events if kind in (None, e["kind"])]

    def state(self, step, run="run"):
        return json.loads((self.step(step, run) / "state.json").read_text())

    def run_config(self, run="run"):
        return json.loads((self.folder / run / "config.json").read_text())

    def film(self, run="run"):
        """The probe of a film, and its frames."""
        probe, *frames = map(json.loads, (self.folder / run / "film.jsonl").read_text().splitlines())
        return probe, frames

    def write(self, name, *lines):
        (self.folder / name).write_text("".join(f"{line}\n" for line in lines))

    def page(self, text):
        """What a page's script draws: JSON, which has no NaN. tests/pages looks at what is drawn."""
        return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1], parse_constant=self.fail)

    def wait_for(self, condition, process):
        """Waits for something that a process does."""
        for _ in range(12000):
            if condition():
                return
            self.assertIsNone(process.poll(), "it ended by itself")
            time.sleep(0.005)
        self.fail("it has not happened in a minute")


def seal(folder):
    """Makes the checksums of a checkpoint match its changed files; the run's chain, which would contradict it, goes."""
    folder = Path(folder)
    (folder.parent.parent / "chain.jsonl").unlink(missing_ok=True)
    state = json.loads((folder / "state.json").read_text())
    for name in list(state["files"]):
        if (folder / name).exists():
            state["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    del state["checksum"]
    body = json.dumps(state, indent=2)[:-2] + ',\n  "checksum": "'
    digest = hashlib.sha256((body + '"\n}\n').encode()).hexdigest()
    (folder / "state.json").write_text(body + digest + '"\n}\n')


def read_tensors(path):
    data = Path(path).read_bytes()
    n = int.from_bytes(data[:8], "little")
    return json.loads(data[8:8 + n]), data[8 + n:]


def edit_tensor(path, name, *numbers):
    """Writes other numbers at the beginning of a tensor, and checksums that match."""
    header, body = read_tensors(path)
    values = array.array("f", body)
    at = header[name]["data_offsets"][0] // 4
    values[at:at + len(numbers)] = array.array("f", numbers)
    write_tensors(path, header, values.tobytes())
    seal(Path(path).parent)


def weights(path):
    """The tensors of a file by name, as lists of numbers."""
    header, body = read_tensors(path)
    return {name: array.array("f", body[slice(*entry["data_offsets"])]).tolist()
            for name, entry in header.items() if name != "__metadata__"}


def write_tensors(path, header, body):
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(len(text).to_bytes(8, "little") + text + body)
