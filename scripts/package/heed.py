"""heed in Python: trains small transformers with the program heed and looks into them.

    import heed
    run = heed.train("mine.txt", minutes=2)        # or text="...", pairs=[("3 17", "17 3"), ...], config={...}
    run.sample("The fox", max_tokens=60, seed=2)

The program (HEED_BINARY, else the one of this package, else the one on the PATH) does it all. Keywords are its options, which
`heed COMMAND --help` lists: run.sample("The", top_k=5) is `heed sample RUN --top-k 5 The`. A list repeats an option, and where
Python has a keyword there is an underscore: for_="huggingface". Arrays are numpy's and tables DataFrames where numpy and pandas
are installed, else lists.
"""
from __future__ import annotations

import ctypes
import html
import importlib.util
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Union

PathLike = Union[str, "os.PathLike[str]"]
Config = Union[Mapping[str, Any], PathLike]


class Error(RuntimeError):
    """What heed said on standard error. exit_code: 2 usage or config, 3 data, 4 files of a run, 5 diverged, 7 memory, ...
    results: what it printed all the same, such as the answers to the other lines."""

    def __init__(self, message: str, exit_code: int, results: list[dict]):
        super().__init__(message.rstrip("\n") or f"heed ended with exit code {exit_code}")
        self.exit_code, self.results = exit_code, results


def train(data: PathLike | list[PathLike] | None = None, *, text: str | None = None, pairs: Iterable[tuple[str, str]] | None = None,
          config: Config | None = None, run: PathLike | None = None, force: bool = True, **options: Any) -> Run:
    """Trains a model and returns its run. An interrupt (Ctrl-C) saves, stops and returns it, too.

    data: the path of a text, a table of pairs or a config, a list of texts, or the name of a config that comes with heed.
    Or one of text, pairs (source, target) and config: a dict like {"model": {"d_model": 64}, ...}; its paths begin here.
    run: the folder to write (default: runs/ and the name of the data). If it is there it is renamed to NAME.old-K, never
    removed; with force=False that is an error.
    options: minutes=2 (a config says train.max_steps or train.max_minutes), set={"model.d_model": 64}, threads=1, ...
    """
    if sum(given is not None for given in (data, text, pairs, config)) != 1:
        raise TypeError("heed.train takes one of: a path, text=, pairs=, config=")
    name = "text" if text is not None else "pairs" if pairs is not None else "config" if isinstance(config, Mapping) else None
    options = {"run": run or name and f"runs/{name}", "force": force, **options}
    if pairs is not None:
        text, options["like"] = "".join(map(_table_line, pairs)), "pairs"
    with _config_file(config) as file:
        given = "-" if text is not None else file or data
        return _train("train", given if isinstance(given, list) else [given], options, text or "")


class Run:
    """A run: heed.Run("runs/mine"), or what training returns. Methods ask its best checkpoint, or checkpoint="last", "step-100".
    path: its folder. result: of training, its `reason` (finished, early_stopping, signal, time, ...), `step`, `best_loss`, ..."""

    def __init__(self, path: PathLike, result: Mapping[str, Any] | None = None):
        named = Path("runs", path)  # a name alone, as heed takes it
        self.path, self.result = named if named.exists() and not Path(path).exists() else Path(path), dict(result or {})

    def __fspath__(self) -> str:
        return str(self.path)

    __str__ = __fspath__  # as an argument of a command

    def __repr__(self) -> str:
        return f'heed.Run("{self}")'

    @property
    def config(self) -> dict:
        """The config with every default."""
        return json.loads((self.path / "config.json").read_text(encoding="utf-8"))

    @property
    def metrics(self) -> Any:
        """metrics.jsonl as a DataFrame: a row of `kind` train has step, loss, learning_rate, ...; of valid step, loss, accuracy, ..."""
        return _table(_objects((self.path / "metrics.jsonl").read_text(encoding="utf-8")))

    def sample(self, prompt: str = "", **options: Any) -> str | list[str]:
        """The prompt and its continuation, or the answer of a model of pairs; with num_samples=N a list of N."""
        told = [one for one in call("sample", self, *([prompt] if prompt else []), **options) if "prompt" in one]
        begin = prompt if self.config["objective"]["type"] in ("causal_lm", "prefix_lm") else ""
        return [begin + one["text"] for one in told] if "num_samples" in options else begin + told[0]["text"]

    def translate(self, texts: str | Iterable[str], **options: Any) -> str | list[str]:
        """The answer to each text by beam search (beam_size=1: greedy); of one text, one answer."""
        return _each("translate", self, texts, "translation", options)

    def score(self, texts: str | Iterable[str | tuple[str, str]], **options: Any) -> float | list[float]:
        """The log-probability (nats) of each text, or of each target given its source, [("3 17", "17 3"), ...]; of one text a
        number. What the model expected at each token: heed.call("score", run, text)."""
        return _each("score", self, texts, "logprob", options)

    def evaluate(self, **options: Any) -> dict:
        """Loss (nats per token), perplexity, accuracy, bits_per_byte, ... on the held-out data, or file=PATH; bleu=True."""
        return call("evaluate", self, **options)[0]

    def attend(self, text: str, target: str | None = None, **options: Any) -> Attention:
        """Where every head looks while the model reads a text and a target (default: what it writes)."""
        return Attention(call("attend", self, text, target=target, **options)[0])

    def weights(self, checkpoint: str = "best") -> dict[str, Any]:
        """Every tensor by name, float32: a matrix is [out, in], a vector [n]. checkpoint: best, last or step-N."""
        name = f"step-{int(checkpoint[5:]):08}" if checkpoint.startswith("step-") else checkpoint
        return _tensors((self.path / "checkpoints" / name / "model.safetensors").read_bytes())

    def report(self) -> Page:
        """The page of how it learnt."""
        return Page(_ask("report", [self], {"html": "-"}))

    def live(self, text: str | None = None, **options: Any) -> Page:
        """The page of the model itself, to type to, opened at a text (and target=...)."""
        if text is None:
            return Page(_ask("report", [self], {"live": True, "html": "-", **options}))
        return Page(_ask("attend", [self, text], {"html": "-", **options}))

    def resume(self, **options: Any) -> Run:
        """Goes on: minutes=2, more=500, max_steps=2000. Returns the run that was written: this one, or the branch NAME-2."""
        return _train("resume", [self], options)


class Attention:
    """What `heed attend --json` prints, as attributes. encoder, decoder, cross (those that the model has): [layer][head] is an array
    [query, key] whose rows sum to 1. The encoder's queries and keys are source_tokens, the decoder's target_tokens; cross has
    queries of these and keys of those."""

    def __init__(self, told: dict):
        numpy = _optional("numpy")
        for name, value in told.items():
            setattr(self, name, numpy.array(value) if numpy and name in ("encoder", "decoder", "cross") else value)

    def plot(self, kind: str, layer: int = 0, head: int = 0) -> Any:
        """Draws the map of a head with matplotlib, and returns its axes."""
        queries = self.source_tokens if kind == "encoder" else self.target_tokens
        keys = self.target_tokens if kind == "decoder" else self.source_tokens
        axes = importlib.import_module("matplotlib.pyplot").subplots()[1]
        axes.imshow(getattr(self, kind)[layer][head], cmap="Blues", vmin=0, vmax=1)
        axes.set(title=f"{kind}, layer {layer}, head {head}", xticks=range(len(keys)), yticks=range(len(queries)))
        axes.set(xlabel="key", xticklabels=keys, ylabel="query", yticklabels=queries)
        return axes


class Page(str):
    """A page of heed as HTML, which needs no server: a cell shows it, and pathlib.Path("page.html").write_text(page) keeps it."""

    def __repr__(self) -> str:
        return f"heed.Page of {len(self):,} characters"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self)}" style="width: 100%; height: 800px; border: 0"></iframe>'


def compare(first: Any, second: Any, **options: Any) -> dict:
    """Is the second better, or was it luck? Two runs, or two lists of runs: seeds of one setting and of another. The answer is in
    `sentence`; docs/formats.md has the rest."""
    groups = isinstance(first, (list, tuple))
    return (call("compare", *first, to=second, **options) if groups else call("compare", first, second, **options))[0]


def runs(*folders: PathLike, **options: Any) -> Any:
    """A table of runs (default: those in runs/), the newest first, with a column for each key in which they differ."""
    rows = call("runs", *folders, **options)
    return _table([{**{key: row[key] for key in row if key not in ("keys", "own_keys")}, **row["keys"]} for row in rows])


def sweep(config: Config, grid: Mapping[str, Iterable[Any]], *, run: PathLike | None = None, **options: Any) -> Any:
    """Trains a config with every combination of values, {"optimizer.learning_rate": [3e-3, 6e-3], "seed": [1, 2, 3]}, one after the
    other, each in its folder in `run` (default: runs/NAME-sweep). Those that are there are not trained again, and one that was
    stopped goes on: after an interrupt, call it again. A table: the values, run, state, step, best_step, loss (held out), ..."""
    folder, rows, reason = Path(run or f"runs/{'config' if isinstance(config, Mapping) else Path(config).stem}-sweep"), [], ""
    with _config_file(config) as file:
        for changes in (dict(zip(grid, values)) for values in itertools.product(*grid.values())):
            path = folder / ",".join(f"{key}={value}" for key, value in changes.items()).replace("/", "_")
            wanted, there = _ask("config", [file], {"set": changes}), path / "config.json"
            try:
                same = there.exists() and _ask("config", [there], {}) == wanted
                one = Run(path).resume(**options) if same else train(file, run=path, set=changes, **options)
                reason = one.result["reason"]
            except Error as error:
                if error.exit_code != 5:  # what diverges is a result, too
                    raise
            told = call("runs", path)[0]
            shown = {key: told[key] for key in ("state", "step", "best_step", "loss", "bits_per_byte")}
            rows.append({**changes, "run": str(path), **shown, **told["metric"]})
            if reason == "signal":
                break
    return _table(rows)


def call(command: str, *arguments: Any, stdin: str | None = None, **options: Any) -> list[dict]:
    """The objects that any command of heed prints with --json: heed.call("neighbors", run, "fox", top_k=3)."""
    return _objects(_ask(command, arguments, {**options, "json": True}, stdin))


def _program() -> str:
    """Its path, once it has run: on a CPU that it is not for, such as one without AVX2, it says so."""
    beside = Path(__file__).parent / "bin" / "heed"
    program = os.environ.get("HEED_BINARY") or (beside if beside.exists() else shutil.which("heed") or "heed")
    asked = subprocess.run([program, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if asked.returncode != 0:
        raise ImportError(asked.stderr or f"{program} ended with exit code {asked.returncode}")
    return os.path.abspath(program)


_heed, _libc = _program(), ctypes.CDLL(None)


def _line(command: str, arguments: Iterable[Any], options: Mapping[str, Any]) -> list[str]:
    line = [_heed, command]
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if isinstance(value, Mapping):  # set={"model.d_model": 64}; numbers of numpy have item()
            value = [f"{key}={one if isinstance(one, str) else json.dumps(one, default=lambda n: n.item())}" for key, one in value.items()]
        for one in value if isinstance(value, (list, tuple)) else [value]:
            line += [] if one is None or one is False else [flag] if one is True else [f"{flag}={one}"]
    return [*line, "--", *map(str, arguments)]


def _ask(command: str, arguments: Iterable[Any], options: Mapping[str, Any], stdin: str | None = None) -> str:
    """Its standard output. What it says besides, such as a warning, goes to standard error."""
    given = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
    done = subprocess.run(_line(command, arguments, options), capture_output=True, encoding="utf-8", errors="replace", **given)
    if done.returncode != 0:
        raise Error(done.stderr, done.returncode, _objects(done.stdout) if "json" in options else [])
    sys.stderr.write(done.stderr)
    return done.stdout


def _objects(lines: str) -> list[dict]:
    return [json.loads(line) for line in lines.split("\n")[:-1]]  # a last line without its end is still being written


def _each(command: str, run: Run, texts: Any, key: str, options: dict[str, Any]) -> Any:
    """A value for each text, or for each (source, target)."""
    lines = [texts] if isinstance(texts, str) else list(texts)
    with tempfile.TemporaryDirectory() as folder:
        if lines and not isinstance(lines[0], str):
            lines, targets = zip(*lines)
            options["target_file"] = Path(folder, "targets")
            options["target_file"].write_text("".join(f"{target}\n" for target in targets), encoding="utf-8")
        found = call(command, run, stdin="".join(f"{line}\n" for line in lines), file="-", **options)
    if len(found) != len(lines):
        raise ValueError("a text has more than one line")
    return found[0][key] if isinstance(texts, str) else [one[key] for one in found]


def _table_line(pair: Iterable[str]) -> str:
    source, target = pair
    if any(mark in side for side in (source, target) for mark in "\t\n"):
        raise ValueError(f"a source or a target has a tab or a new line: {source!r}, {target!r}")
    return f"{source}\t{target}\n"


def _optional(module: str) -> Any:
    return importlib.import_module(module) if importlib.util.find_spec(module) else None


def _table(rows: list[dict]) -> Any:
    pandas = _optional("pandas")
    return pandas.DataFrame(rows) if pandas else rows


def _tensors(data: bytes) -> dict[str, Any]:
    """Of a file in the format safetensors: the length of a header, the header, the numbers."""
    start, numpy, found = 8 + int.from_bytes(data[:8], "little"), _optional("numpy"), {}
    for name, tensor in json.loads(data[8:start]).items():
        if name != "__metadata__":
            begin, end = (start + offset for offset in tensor["data_offsets"])
            numbers = memoryview(data[begin:end]).cast("f", tensor["shape"])
            found[name] = numpy.array(numbers) if numpy else numbers.tolist()
    return found


@contextmanager
def _config_file(config: Config | None) -> Iterator[Any]:
    if not isinstance(config, Mapping):
        yield config
        return
    with tempfile.NamedTemporaryFile("w", dir=os.getcwd(), prefix="config-", suffix=".json", encoding="utf-8") as file:
        json.dump(config, file)
        file.flush()
        yield file.name


def _train(command: str, arguments: list[Any], options: Mapping[str, Any], text: str = "") -> Run:
    """heed has a session of its own, so that an interrupt reaches it once, from here; if Python ends, heed saves and ends, too."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    in_cell = hasattr(shell, "kernel") and not options.get("quiet")
    line = _line(command, arguments, {**options, "json": True, "quiet": in_cell or options.get("quiet")})
    with tempfile.TemporaryFile() as given:
        given.write(text.encode())
        given.seek(0)
        process = subprocess.Popen(
            line, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
            start_new_session=True, preexec_fn=lambda: _libc.prctl(1, signal.SIGTERM))  # PR_SET_PDEATHSIG
    cell, said = _Cell(process.pid) if in_cell else None, []

    def listen() -> None:
        for line in process.stderr:
            said.append(line)
            if not cell:
                sys.stderr.write(line)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    while listener.is_alive():
        try:
            listener.join(1)
            if cell:
                cell.show(said)
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
    results, code = _objects(process.stdout.read()), process.wait()
    if not results or code not in (0, 130, 143):
        raise KeyboardInterrupt if code == 130 else Error("".join(said), code, results)
    run = Run(results[0]["run"], results[0])
    if cell:
        cell.show(said, run)
    return run


class _Cell:
    """What a cell shows while heed trains, from the files of the run: the folder in which the process has its log open."""

    def __init__(self, process: int):
        self.files, self.began = Path(f"/proc/{process}/fd"), None
        self.handle = importlib.import_module("IPython.display").display({"text/plain": "heed begins"}, raw=True, display_id=True)

    def show(self, said: list[str], ended: Run | None = None) -> None:
        try:
            run = ended or next(Run(log[:-10]) for log in map(os.readlink, self.files.iterdir()) if log.endswith("/train.log"))
            last = {one["kind"]: one for name in ("metrics.jsonl", "film.jsonl")
                    for one in _objects((run.path / name).read_text(encoding="utf-8"))}
            step, steps = last["train"]["step"], run.config["train"]["max_steps"]
            written = zip(last["probe"]["prompts"], last["frame"]["written"])
        except (OSError, KeyError, StopIteration):  # not yet written
            return
        self.began = self.began or (step, time.monotonic())
        done, seconds = step - self.began[0], time.monotonic() - self.began[1]
        left = ended.result["reason"] if ended else f"{(steps - step) * seconds / done:.0f} s left" if done > 0 else "..."
        losses = [f"{name} {last[kind]['loss']:.4f}" for kind, name in (("train", "loss"), ("valid", "held-out loss"))
                  if last.get(kind, {}).get("loss") is not None]
        texts = [f"{prompt.strip()} → {text.strip()}" for prompt, text in written]
        head = " | ".join([f"{run}: step {step} of {steps}", *losses, left])
        self.handle.update({"text/plain": "\n".join([head, *texts, *said])}, raw=True)
