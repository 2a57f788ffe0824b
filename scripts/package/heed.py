"""heed in Python: trains small transformers with the program heed and looks into them.

    import heed
    run = heed.train("mine.txt", minutes=2)        # or text="...", pairs=[("3 17", "17 3"), ...], config={...}
    run.sample("The fox", max_tokens=60, seed=2)

All is done by the program: HEED_BINARY, else the one of this package, else the one on the PATH. It answers with JSON, and a run
is a folder of files (docs/formats.md). Keywords are its options: run.sample("The", top_k=5) is `heed sample RUN --top-k 5 The`;
a list repeats an option; where Python has a keyword there is an underscore: with_=[other], for_="huggingface". `heed COMMAND
--help` lists them. Arrays are numpy's and tables are DataFrames where numpy and pandas are installed, else lists.
"""
from __future__ import annotations

import ctypes
import html
import importlib
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
import types
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Union

PathLike = Union[str, "os.PathLike[str]"]


class Error(RuntimeError):
    """What heed said on standard error. exit_code: 2 usage or config, 3 data, 4 files of a run, 5 diverged, 7 memory, ...
    results: what it printed all the same, such as the answers to the other lines."""

    def __init__(self, message: str, exit_code: int, results: list[dict]):
        super().__init__(message.rstrip("\n") or f"heed ended with exit code {exit_code}")
        self.exit_code, self.results = exit_code, results


def train(data: PathLike | list[PathLike] | None = None, *, text: str | None = None, pairs: Iterable[tuple[str, str]] | None = None,
          config: Mapping[str, Any] | PathLike | None = None, run: PathLike | None = None, force: bool = True, **options: Any) -> Run:
    """Trains a model and returns its run. An interrupt (Ctrl-C) saves, stops and returns it, too.

    data: the path of a text, a table of pairs or a config, a list of texts, or the name of a config that comes with heed.
    Or one of text, pairs (source, target) and config: a dict like {"model": {"d_model": 64}, ...}; its paths begin here.
    run: the folder to write (default: runs/ and the name of the data). If it is there it is renamed to NAME.old-K, never
    removed; with force=False that is an error.
    options: minutes=2 (a config says train.max_steps or train.max_minutes), set={"model.d_model": 64}, threads=1, ...
    """
    if sum(given is not None for given in (data, text, pairs, config)) != 1:
        raise TypeError("heed.train takes one of: a path, text=, pairs=, config=")
    options["force"], name = force, "text"
    if pairs is not None:
        pairs, name, options["like"] = list(pairs), "pairs", "pairs"
        if any(mark in side for pair in pairs for side in pair for mark in "\t\n"):
            raise ValueError("pairs: a source or a target has a tab or a new line")
        text = "".join(f"{source}\t{target}\n" for source, target in pairs)
    if text is not None:
        return _train("train", ["-"], {"run": run or f"runs/{name}", **options}, text)
    if config is None:
        return _train("train", data if isinstance(data, list) else [data], {"run": run, **options})
    with _config_file(config) as file:
        return _train("train", [file], {"run": run or ("runs/config" if isinstance(config, Mapping) else None), **options})


class Run:
    """A run: heed.Run("runs/mine"), or what training returns. Methods ask its best checkpoint, or checkpoint="last", "step-100".
    path: its folder. result: of training, its `reason` (finished, early_stopping, signal, time, ...), `step`, `best_loss`, ..."""

    def __init__(self, path: PathLike, result: Mapping[str, Any] | None = None):
        named = Path("runs", path)  # a name alone, as heed takes it
        self.path, self.result = named if named.exists() and not Path(path).exists() else Path(path), dict(result or {})

    def __fspath__(self) -> str:
        return str(self.path)

    __str__ = __fspath__

    def __repr__(self) -> str:
        return f'heed.Run("{self.path}")'

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


class Attention(types.SimpleNamespace):
    """What `heed attend --json` prints. encoder, decoder, cross (those that the model has): [layer][head] is an array [query, key]
    whose rows sum to 1. Queries and keys are source_tokens in the encoder, target_tokens in the decoder; cross looks from
    target_tokens to source_tokens."""

    def __init__(self, told: dict):
        numpy = _optional("numpy")
        maps = {kind: numpy.array(told[kind]) for kind in ("encoder", "decoder", "cross") if numpy and kind in told}
        super().__init__(**{**told, **maps})

    def __repr__(self) -> str:
        return f"heed.Attention: {', '.join(vars(self))}"

    def plot(self, kind: str, layer: int = 0, head: int = 0) -> Any:
        """Draws the map of a head with matplotlib, and returns its axes."""
        queries = self.source_tokens if kind == "encoder" else self.target_tokens
        keys = self.target_tokens if kind == "decoder" else self.source_tokens
        axes = importlib.import_module("matplotlib.pyplot").subplots()[1]
        axes.imshow(getattr(self, kind)[layer][head], cmap="Blues", vmin=0, vmax=1)
        axes.set(title=f"{kind}, layer {layer}, head {head}", xlabel="key", ylabel="query", xticks=range(len(keys)), xticklabels=keys,
                 yticks=range(len(queries)), yticklabels=queries)
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
    if isinstance(first, (str, os.PathLike)):
        return call("compare", first, second, **options)[0]
    return call("compare", *first, to=list(second), **options)[0]


def runs(*folders: PathLike, **options: Any) -> Any:
    """A table of runs (default: those in runs/), the newest first, with a column for each key in which they differ."""
    rows = call("runs", *folders, **options)
    return _table([{**{key: row[key] for key in row if key not in ("keys", "own_keys")}, **row["keys"]} for row in rows])


def sweep(config: Mapping[str, Any] | PathLike, grid: Mapping[str, Iterable[Any]], *, run: PathLike | None = None, **options: Any) -> Any:
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
                one = Run(path).resume(**options) if same else train(config=file, run=path, set=changes, **options)
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
    program = os.environ.get("HEED_BINARY") or (str(beside) if beside.exists() else shutil.which("heed"))
    if not program:
        raise ImportError("no program heed: name it in HEED_BINARY, or put it on the PATH")
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


def _optional(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


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
def _config_file(config: Any) -> Iterator[Any]:
    if not isinstance(config, Mapping):
        yield config
        return
    with tempfile.NamedTemporaryFile("w", dir=os.getcwd(), prefix="config-", suffix=".json", encoding="utf-8") as file:
        json.dump(config, file)
        file.flush()
        yield file.name


def _train(command: str, arguments: Iterable[Any], options: Mapping[str, Any], text: str = "") -> Run:
    """heed has a session of its own, so that an interrupt reaches it once, from here; if Python ends, heed saves and ends, too."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    cell = _Cell() if hasattr(shell, "kernel") and not options.get("quiet") else None
    options = {**options, "json": True, "quiet": options.get("quiet") or bool(cell)}
    with tempfile.TemporaryFile() as given:
        given.write(text.encode())
        given.seek(0)
        process = subprocess.Popen(_line(command, arguments, options), stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   encoding="utf-8", errors="replace", start_new_session=True,
                                   preexec_fn=lambda: _libc.prctl(1, signal.SIGTERM))  # PR_SET_PDEATHSIG
    said: list[str] = []
    listener = threading.Thread(target=_listen, args=(process.stderr, said, None if cell else sys.stderr), daemon=True)
    listener.start()
    while listener.is_alive():
        try:
            listener.join(0.5)
            if cell:
                cell.show(_folder(process.pid), said)
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
    results, code = _objects(process.stdout.read()), process.wait()
    if not results or code not in (0, 130, 143):
        raise KeyboardInterrupt if code == 130 else Error("".join(said), code, results)
    run = Run(results[0]["run"], results[0])
    if cell:
        cell.show(run.path, said, run.result["reason"])
    return run


def _listen(stream: Iterable[str], said: list[str], echo: Any) -> None:
    for line in stream:
        said.append(line)
        if echo:
            echo.write(line)


def _folder(process: int) -> Path | None:
    """That of the run which it writes: where its log is open."""
    try:
        files = [os.readlink(file) for file in Path(f"/proc/{process}/fd").iterdir()]
        return next((Path(file).parent for file in files if file.endswith("/train.log")), None)
    except OSError:  # a file was closed meanwhile
        return None


class _Cell:
    """What a cell shows while heed trains."""

    def __init__(self) -> None:
        self.began = None
        display = importlib.import_module("IPython.display").display
        self.handle = display({"text/plain": "heed begins"}, raw=True, display_id=True)

    def show(self, folder: Path | None, said: list[str], reason: str = "") -> None:
        try:
            last = {one["kind"]: one for one in _objects((folder / "metrics.jsonl").read_text(encoding="utf-8"))}
            film = (folder / "film.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
            steps = Run(folder).config["train"]["max_steps"]
            probe = json.loads(next(line for line in reversed(film) if '"probe"' in line[:30]))
            frame, step = json.loads(film[-1]), last["train"]["step"]
        except (OSError, TypeError, KeyError, StopIteration):  # not yet written
            return
        self.began = self.began or (step, time.monotonic())
        done, left = step - self.began[0], ""
        if done > 0:
            left = f"{(time.monotonic() - self.began[1]) / done * (steps - step):.0f} s left"
        losses = [f"{name} {last[kind]['loss']:.4f}" for kind, name in (("train", "loss"), ("valid", "held-out loss"))
                  if last.get(kind, {}).get("loss") is not None]
        parts = [f"{folder}: step {step} of {steps}", *losses, reason or left]
        texts = [f"{prompt} → {text}" for prompt, text in zip(probe["prompts"], frame.get("written", []))]
        self.handle.update({"text/plain": "\n".join([" | ".join(filter(None, parts)), *texts, *said])}, raw=True)
