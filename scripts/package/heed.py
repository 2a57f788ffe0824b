"""heed in Python: trains small transformers with the program heed and looks into them.

    run = heed.train("mine.txt", minutes=2)        # or text="...", pairs=[("3 17", "17 3"), ...], config={...}
    run.sample("The fox", max_tokens=60, seed=2)

The program (HEED_BINARY, else this package's, else the one on the PATH) does it all. Keywords are its options (`heed COMMAND
--help`): run.sample("The", top_k=5) is `heed sample RUN --top-k 5 The`; a list repeats an option; for_ stands for `for`. Arrays
are numpy's and tables DataFrames where numpy and pandas are installed, else lists.
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
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Union

PathLike = Union[str, "os.PathLike[str]"]
Config = Union[Mapping[str, Any], PathLike]


class Error(RuntimeError):
    """What heed said. exit_code: 2 usage or config, 3 data, 4 files of a run, 5 diverged, 7 memory; results: what it printed."""
    def __init__(self, message: str, exit_code: int, results: list[dict]):
        super().__init__(message.rstrip("\n") or f"heed ended with exit code {exit_code}")
        self.exit_code, self.results = exit_code, results


def train(data: PathLike | list[PathLike] | None = None, *, text: str | None = None,
          pairs: Iterable[tuple[str, str]] | Mapping[str, str] | None = None, config: Config | None = None,
          run: PathLike | None = None, force: bool = True, **options: Any) -> Run:
    """Trains a model and returns its run. An interrupt (Ctrl-C) saves, stops and returns it, too.
    data: the path of a text, a table of pairs or a config, a list of texts, or the name of a config that comes with heed.
    Or one of text, pairs (source, target) and config: a dict like {"model": {"d_model": 64}, ...}; its paths begin here.
    run: the folder to write (default: runs/ and the name of the data). One that is there becomes NAME.old-K (force=False: an error).
    options: minutes=2 (a config says train.max_steps or train.max_minutes), set={"model.d_model": 64}, threads=1, ..."""
    if sum(given is not None for given in (data, text, pairs, config)) != 1:
        raise TypeError("heed.train takes one of: a path, text=, pairs=, config=")
    name = "text" if text is not None else "pairs" if pairs is not None else "config" if isinstance(config, Mapping) else None
    options = {"run": run or name and f"runs/{name}", "force": force, "like": None if pairs is None else "pairs", **options}
    if pairs is not None:
        text = "".join(source + "\t" + target + "\n" for source, target in (pairs.items() if isinstance(pairs, Mapping) else pairs))
    with _config_file(config) as file:
        given = "-" if text is not None else file or data
        return _train("train", given if isinstance(given, list) else [given], options, text or "")


class Run:
    """A run: heed.Run("runs/mine"), or what training returns. Methods ask its best checkpoint, or checkpoint="last", "step-100".
    result: of training, its `reason` (finished, early_stopping, signal, time, ...), `step`, `best_loss`, ..."""
    def __init__(self, path: PathLike, result: Mapping[str, Any] | None = None):
        named = Path("runs", path)  # a name alone, as heed takes it
        self._path, self.result = named if named.exists() and not Path(path).exists() else Path(path), dict(result or {})
        self._identity = [(self._path.stat().st_ino, origin.read_bytes()) for origin in self._path.glob("origin.json")]

    @property
    def path(self) -> Path:
        """Its folder, also where a later training has renamed it: NAME.old-K."""
        for folder in (self._path, *self._path.parent.glob("*.old-*")):
            if self._identity in ([], Run(folder)._identity):
                return folder
        raise Error(f"the run that was in {self._path} is not there any more; heed.Run(PATH) is the one in PATH", 4, [])

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
        """metrics.jsonl as a DataFrame: a row of kind "train" has step, loss, learning_rate, ...; "valid" step, loss, accuracy, ..."""
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
        """The log-probability (nats) of each text, or of each target given its source: [("3 17", "17 3"), ...]; of one, a number."""
        return _each("score", self, texts, "logprob", options)

    def evaluate(self, **options: Any) -> dict:
        """Loss (nats per token), perplexity, accuracy, bits_per_byte, ... on the held-out data, or file=PATH; bleu=True."""
        return call("evaluate", self, **options)[0]

    def attend(self, text: str, target: str | None = None, **options: Any) -> Attention:
        """Where every head looks while the model reads a text and a target (default: what it writes)."""
        told, numpy = call("attend", self, text, target=target, **options)[0], _optional("numpy")
        maps = {kind: numpy.array(told[kind]) for kind in ("encoder", "decoder", "cross") if numpy and kind in told}
        return Attention({**told, **maps})

    def weights(self, checkpoint: str = "best") -> dict[str, Any]:
        """Every tensor by name, float32: a matrix is [out, in], a vector [n]. checkpoint: best, last or step-N."""
        folder = f"step-{checkpoint[5:]:0>8}" if checkpoint.startswith("step-") else checkpoint
        data, numpy, found = (self.path / "checkpoints" / folder / "model.safetensors").read_bytes(), _optional("numpy"), {}
        start = 8 + int.from_bytes(data[:8], "little")  # safetensors: the length of a header, the header, the numbers
        for name, tensor in json.loads(data[8:start]).items():
            if name != "__metadata__":
                numbers = memoryview(data)[start:][slice(*tensor["data_offsets"])].cast("f", tensor["shape"])
                found[name] = numpy.array(numbers) if numpy else numbers.tolist()
        return found

    def report(self) -> Page:
        """The page of how it learnt."""
        return Page(_ask("report", [self], {"html": "-"}))

    def live(self, text: str | None = None, **options: Any) -> Page:
        """The page of the model itself, to type to, opened at a text (and target=...)."""
        command, arguments = ("report", [self]) if text is None else ("attend", [self, text])
        return Page(_ask(command, arguments, {"live": text is None, "html": "-", **options}))

    def resume(self, **options: Any) -> Run:
        """Goes on: minutes=2, more=500, max_steps=2000. Returns the run that was written: this one, or the branch NAME-2."""
        return _train("resume", [self], options)


class Attention:
    """What `heed attend --json` prints. encoder, decoder, cross (those that the model has): [layer][head] is an array [query, key],
    rows sum to 1. Tokens: encoder [source_tokens, same], decoder [target_tokens, same], cross [target_tokens, source_tokens]."""
    def __init__(self, told: Mapping[str, Any]):
        vars(self).update(told)

    def __repr__(self) -> str:
        return f"heed.Attention with {', '.join(vars(self))}"


class Page(str):
    """A page of heed as HTML, which needs no server: a cell shows it, and pathlib.Path("page.html").write_text(page) keeps it."""
    def __repr__(self) -> str:
        return f"heed.Page of {len(self):,} characters"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self)}" style="width: 100%; height: 800px; border: 0"></iframe>'


def compare(first: Any, second: Any, **options: Any) -> dict:
    """Is the second run better, or was it luck? Or two lists of runs: seeds of one setting and of another. `sentence` says it."""
    these, others = (first, second) if isinstance(first, (list, tuple)) else ([first, second], None)
    return call("compare", *these, to=others, **options)[0]


def runs(*folders: PathLike, **options: Any) -> Any:
    """A table of runs (default: those in runs/), the newest first, with a column for each key in which they differ."""
    rows = call("runs", *folders, **options)
    return _table([{**{key: row[key] for key in row if key not in ("keys", "own_keys")}, **row["keys"]} for row in rows])


def sweep(config: Config, grid: Mapping[str, Iterable[Any]], *, run: PathLike | None = None, **options: Any) -> Any:
    """Trains a config with every combination of values, {"optimizer.learning_rate": [3e-3, 6e-3], "seed": [1, 2, 3]}, one after the
    other, each in its folder in `run` (default: runs/NAME-sweep). Those that are there are not trained again, and one that was
    stopped goes on: after an interrupt, call it again. A table: the values, run, state, step, best_step, loss (held out), ..."""
    name, always = "config" if isinstance(config, Mapping) else Path(config).stem, options.pop("set", {})
    folder, rows, reason = Path(run or f"runs/{name}-sweep"), [], ""
    lists = [[values] if isinstance(values, str) or not hasattr(values, "__iter__") else values for values in grid.values()]
    with _config_file(config) as file:
        for changes in (dict(zip(grid, values)) for values in itertools.product(*lists)):
            path = folder / ",".join(f"{key}={value}" for key, value in changes.items()).replace("/", "_")
            keys, there = {**always, **changes}, path / "config.json"
            try:
                same = there.exists() and _ask("config", [there], {}) == _ask("config", [file], {"set": keys})
                reason = (Run(path).resume(**options) if same else train(file, run=path, set=keys, **options)).result["reason"]
            except Error as error:
                if error.exit_code != 5:  # what diverges is a result, too
                    raise
            told = call("runs", path)[0]
            shown = {key: told[key] for key in ("state", "step", "best_step", "loss", "bits_per_byte")}
            rows.append({**changes, "run": str(path), **shown, **told["metric"]})
            if reason == "signal":
                break
    return _table(rows)


def call(command: str, *arguments: Any, stdin: str = "", **options: Any) -> list[dict]:
    """The objects that any command of heed prints with --json: heed.call("score", run, "The fox")[0]["token_logprobs"]."""
    return _objects(_ask(command, arguments, {**options, "json": True}, stdin))


def _program() -> str:
    """Its path, once it has run: on a CPU that it is not for, such as one without AVX2, it says so."""
    beside = Path(__file__).parent / "bin" / "heed"
    named = os.environ.get("HEED_BINARY") or (str(beside) if beside.exists() else "heed")
    program = os.path.abspath(shutil.which(named) or named)
    asked = subprocess.run([program, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if asked.returncode != 0:
        raise ImportError(asked.stderr or f"{program} ended with exit code {asked.returncode}")
    return program


_heed, _libc = _program(), ctypes.CDLL(None)


def _line(command: str, arguments: Iterable[Any], options: Mapping[str, Any]) -> list[str]:
    line = [_heed, command]
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if isinstance(value, Mapping):  # set={"model.d_model": 64}; numbers of numpy have item()
            value = [f"{key}={v if isinstance(v, str) else json.dumps(v, default=lambda n: n.item())}" for key, v in value.items()]
        for one in value if isinstance(value, (list, tuple)) else [value]:
            line += [] if one is None or one is False else [flag] if one is True else [f"{flag}={one}"]
    return [*line, "--", *map(os.fspath, arguments)]


def _ask(command: str, arguments: Iterable[Any], options: Mapping[str, Any], stdin: str = "") -> str:
    """Its standard output. What it says besides, such as a warning, goes to standard error."""
    done = subprocess.run(_line(command, arguments, options), input=stdin, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode != 0:
        raise Error(done.stderr, done.returncode, _objects(done.stdout) if "json" in options else [])
    sys.stderr.write(done.stderr)
    return done.stdout


def _objects(lines: str) -> list[dict]:
    return [json.loads(line) for line in lines.split("\n")[:-1]]  # a last line without its end is still being written


def _each(command: str, run: Run, texts: Any, key: str, options: dict[str, Any]) -> Any:
    """A value for each text, or for each (source, target)."""
    lines: Any = [texts] if isinstance(texts, str) else list(texts)
    with tempfile.TemporaryDirectory() as folder:
        if lines and not isinstance(lines[0], str):
            lines, targets = zip(*lines)
            options["target_file"] = Path(folder, "targets")
            options["target_file"].write_text("".join(target + "\n" for target in targets), encoding="utf-8")
        found = call(command, run, stdin="".join(line + "\n" for line in lines), file="-", **options)
    if len(found) != len(lines):
        raise ValueError("a text has more than one line")
    return found[0][key] if isinstance(texts, str) else [one[key] for one in found]


def _optional(module: str) -> Any:
    return importlib.import_module(module) if importlib.util.find_spec(module) else None


def _table(rows: list[dict]) -> Any:
    return _optional("pandas").DataFrame(rows) if _optional("pandas") else rows


@contextmanager
def _config_file(config: Config | None) -> Iterator[Any]:
    if isinstance(config, Mapping):
        with tempfile.NamedTemporaryFile("w", dir=os.getcwd(), prefix="config-", suffix=".json", encoding="utf-8") as file:
            print(json.dumps(config), file=file, flush=True)
            yield file.name
    else:
        yield config


def _train(command: str, arguments: list[Any], options: Mapping[str, Any], text: str = "") -> Run:
    """heed has a session of its own, so that an interrupt reaches it once, from here; if Python ends, heed saves and ends, too."""
    with tempfile.TemporaryFile() as given:
        given.write(text.encode())
        given.seek(0)
        process = subprocess.Popen(
            _line(command, arguments, {**options, "json": True}), stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            encoding="utf-8", errors="replace", start_new_session=True, preexec_fn=lambda: _libc.prctl(1, signal.SIGTERM))
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    cell = importlib.import_module("IPython.display").display({}, raw=True, display_id=True) if hasattr(shell, "kernel") else None
    said, newest, ended = [], {}, threading.Event()  # of the lines on steps, validations and samples a cell shows the newest
    def listen() -> None:
        for line in process.stderr or []:
            said.append(line)
            newest[next((word for word in ("step ", "valid ", "sample ") if line.startswith(word)), line)] = line
            if not cell:
                sys.stderr.write(line)
        ended.set()
    threading.Thread(target=listen, daemon=True).start()
    while not ended.is_set():
        try:
            ended.wait(0.5)
            if cell:
                cell.update({"text/plain": "".join(list(newest.values()))}, raw=True)
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
    results, code = _objects(process.communicate()[0]), process.returncode
    if not results or code not in (0, 130, 143):
        raise KeyboardInterrupt if code == 130 else Error("".join(said), code, results)
    return Run(results[0]["run"], results[0])
