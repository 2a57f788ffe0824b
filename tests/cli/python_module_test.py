"""The module heed for Python: it gives what the commands print, trains, stops, resumes and sweeps; and its wheel."""
import base64
import hashlib
import importlib
import os
import shutil
import subprocess
import sys
import threading
import types
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from runs import HEED, SMALL, RunsTest, text, weights

PACKAGE = Path(__file__).resolve().parents[2] / "scripts" / "package"


class Module(RunsTest):
    RUNS = {"pairs": {"family": "seq2seq", **SMALL}, "more": {"family": "seq2seq", **SMALL, "seed": 2},
            "text": {"family": "causal_lm", **SMALL}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sys.path.insert(0, str(PACKAGE))
        with mock.patch.dict(os.environ, HEED_BINARY=HEED):
            cls.module = importlib.import_module("heed")
        sys.path.remove(str(PACKAGE))

    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        self.use({"numpy": None, "pandas": None, "IPython": None})
        self.trained = {"text": self.module.Run("text"), "pairs": self.module.Run("pairs")}

    def use(self, modules):
        """Python finds these modules, and None not at all."""
        patch = mock.patch.dict(sys.modules, {name: module for name, module in modules.items() if module})
        patch.start()
        self.addCleanup(patch.stop)
        optional = mock.patch.object(self.module, "_optional", modules.get)
        optional.start()
        self.addCleanup(optional.stop)

    def quietly(self, function, *args, **options):
        return function(*args, quiet=True, **options)

    def test_it_gives_what_the_commands_print(self):
        pairs, lines, answers = self.trained["pairs"], ["the old miller", "walked to a river"], ["miller old the", "river a to walked"]
        self.write("s", *lines)
        self.write("t", *answers)
        self.assertEqual(pairs.evaluate(), self.json("evaluate", "pairs")[0])
        self.assertEqual(pairs.evaluate(checkpoint="step-4"), self.json("evaluate", "pairs", "--checkpoint", "step-4")[0])
        self.assertEqual(pairs.metrics, self.metrics("pairs"))
        self.assertEqual(pairs.config, self.run_config("pairs"))
        self.assertEqual(pairs.translate(lines, beam_size=2), self.out("translate", "pairs", "--file", "s", "--beam-size", 2).splitlines())
        self.assertEqual(pairs.translate(lines[1]), self.out("translate", "pairs", lines[1]).rstrip("\n"))
        scored = [line["logprob"] for line in self.json("score", "pairs", "--file", "s", "--target-file", "t")]
        self.assertEqual(pairs.score(list(zip(lines, answers))), scored)
        self.assertEqual(pairs.score(f"{lines[0]} ||| {answers[0]}"), scored[0])
        seen, told = pairs.attend(lines[0], target=answers[0]), self.json("attend", "pairs", lines[0], "--target", answers[0])[0]
        self.assertEqual(vars(seen), told)
        self.assertEqual([len(seen.cross[0][1]), len(seen.cross[0][1][0])], [len(seen.target_tokens), len(seen.source_tokens)])
        self.assertEqual(pairs.report(), self.out("report", "pairs"))
        self.assertEqual(pairs.live(lines[0]), self.out("attend", "pairs", lines[0], "--html", "-"))
        self.assertEqual(pairs.live(), self.out("report", "pairs", "--live"))
        self.assertIn(" srcdoc=\"&lt;!doctype html&gt;", pairs.live()._repr_html_())
        self.assertEqual(self.module.compare("pairs", "more"), self.json("compare", "pairs", "more")[0])
        self.assertEqual(self.module.compare(["pairs"], ["more"]), self.json("compare", "pairs", "--to", "more")[0])
        row = self.json("runs", "pairs", "text")[0]
        self.assertEqual(self.module.runs("pairs", "text")[0], {**{k: row[k] for k in row if k not in ("keys", "own_keys")}, **row["keys"]})
        self.assertEqual(self.module.call("tokenize", pairs, lines[0]), self.json("tokenize", "pairs", lines[0]))
        with self.assertRaises(ValueError):
            pairs.translate(["the\nold"])

    def test_a_sample_begins_with_the_prompt(self):
        run = self.trained["text"]
        self.assertEqual(run.sample("the old", max_tokens=9, seed=3) + "\n", self.out("sample", "text", "the old", "--max-tokens", 9, "--seed", 3))
        drawn = [one["text"] for one in self.json("sample", "text", "--max-tokens", 5, "-n", 2)]
        self.assertEqual(run.sample(max_tokens=5, num_samples=2), drawn)

    def test_weights_are_read_by_hand(self):
        run, file = self.trained["text"], self.step(12, "text") / "model.safetensors"
        found, flat = run.weights("last"), weights(file)
        self.assertEqual([name for name in found], [name for name in flat])
        name = "decoder.layers.0.self_attn.q_proj.weight"
        self.assertEqual([len(found[name]), len(found[name][0])], [16, 16])
        self.assertEqual(sum(found[name], []), flat[name])
        self.assertNotEqual(run.weights("step-4")[name], found[name])

    def test_it_trains_from_all_that_one_has(self):
        self.write("mine.txt", text(400))
        config, before = self.module.Run("text").config, set(os.listdir())
        config["data"]["train"], config["train"]["max_steps"] = "a.txt", 3
        for given, run in (({"data": "mine.txt"}, "runs/mine"), ({"text": text(400)}, "runs/text"), ({"config": config}, "runs/config"),
                           ({"pairs": [(f"a {i}", f"{i} a") for i in range(60)]}, "runs/pairs")):
            with self.subTest(run):
                options = {} if "config" in given else {"minutes": 0.02}
                trained = self.quietly(self.module.train, **given, **options)
                self.assertEqual((str(trained), trained.result["reason"]), (run, "finished"))
                self.assertEqual(trained.result["step"], trained.metrics[-1]["step"])
        self.assertEqual(set(os.listdir()) - before, {"runs"})
        longer = self.quietly(trained.resume, more=2)
        self.assertEqual(longer.result["step"], longer.config["train"]["max_steps"])
        self.quietly(self.module.train, config=config, set={"train.max_steps": 2, "data.train": "mine.txt"})
        self.assertTrue(Path("runs/config.old-1").is_dir())
        self.assertEqual(self.module.Run("config").config["train"]["max_steps"], 2)

    def test_a_run_stays_the_one_that_it_was(self):
        config = self.config(family="causal_lm", **SMALL)
        first = self.quietly(self.module.train, config, run="run")
        loss = first.evaluate()["loss"]
        second = self.quietly(self.module.train, config, run="run", set={"seed": 7})
        self.assertEqual((str(first), str(second)), ("run.old-1", "run"))
        self.assertEqual(first.evaluate()["loss"], loss)
        self.assertNotEqual(second.evaluate()["loss"], loss)
        shutil.rmtree("run.old-1")
        with self.assertRaisesRegex(self.module.Error, "not there any more"):
            first.evaluate()

    def test_what_is_no_text_is_refused(self):
        run = self.trained["text"]
        for act in (lambda: run.sample(["the old"]), lambda: run.score(["the old", ("the", "old")]),
                    lambda: self.module.train(pairs=[("the", None)])):
            with self.assertRaises(TypeError):
                act()

    def test_pairs_may_be_a_dict(self):
        run = self.quietly(self.module.train, pairs={f"a {i}": f"{i} a" for i in range(60)}, minutes=0.02, run="run")
        self.assertIn("a 1\t1 a\n", (run.path / "text.txt").read_text())

    def test_an_error_is_what_heed_said(self):
        self.config("text")
        for act, typed in ((lambda: self.module.train("text.json", force=False, run="text"), ("train", "text.json", "--run", "text")),
                           (lambda: self.module.Run("none").evaluate(), ("evaluate", "none"))):
            with self.assertRaises(self.module.Error) as caught, mock.patch("sys.stderr"):
                act()
            wanted = self.heed(*typed)
            self.assertEqual((caught.exception.exit_code, str(caught.exception) + "\n"), (wanted.status, wanted.err))
        with self.assertRaises(self.module.Error) as caught:
            self.trained["pairs"].translate(["the old", "nobody has said this"])
        self.assertEqual([one["translation"] is None for one in caught.exception.results], [False, True])
        with self.assertRaises(TypeError):
            self.module.train("a.txt", text="a")

    def test_an_interrupt_saves_and_returns_the_run(self):
        config = self.config("long", **{**SMALL, "train__max_steps": 1000000, "train__save_every": 1000000})
        threading.Thread(target=lambda: (self.wait_for_steps("run"), os.kill(os.getpid(), 2)), daemon=True).start()
        run = self.quietly(self.module.train, config, run="run")
        self.assertEqual(run.result["reason"], "signal")
        self.assertEqual(self.link("last"), run.result["step"])

    def wait_for_steps(self, run):
        class Alive:
            def poll(self):
                return None
        self.wait_for(lambda: (self.folder / run / "metrics.jsonl").exists() and self.metrics(run, "train"), Alive())

    def test_a_sweep_goes_on_where_it_stopped(self):
        self.config("text", family="causal_lm", **SMALL)
        grid = {"optimizer.learning_rate": [0.01, 0.02], "seed": [1, 2]}
        stopped = self.quietly(self.module.sweep, "text.json", grid, stop_at=4)
        self.assertEqual([(row["state"], row["step"]) for row in stopped], [("stopped", 4)] * 4)
        table = self.quietly(self.module.sweep, "text.json", grid, set={"train.log_every": 5})  # as it is
        self.assertEqual([[row[key] for key in grid] for row in table], [[rate, seed] for rate in (0.01, 0.02) for seed in (1, 2)])
        for row in table:
            e, = self.json("evaluate", row["run"])
            self.assertEqual((row["state"], row["best_step"], row["loss"]), ("finished", e["step"], e["loss"]))
        self.same_checkpoint("text", table[0]["run"], 12)
        self.assertEqual(self.quietly(self.module.sweep, "text.json", grid), table)
        self.assertEqual(len(os.listdir("runs/text-sweep")), 4)
        self.config("text", family="causal_lm", **{**SMALL, "train__max_steps": 8})  # what was another config is trained anew
        one = {"optimizer.learning_rate": 0.01, "seed": [1]}
        self.assertEqual([row["step"] for row in self.quietly(self.module.sweep, "text.json", one)], [8])
        self.assertEqual(len(os.listdir("runs/text-sweep")), 5)

    def test_a_cell_shows_the_newest_lines(self):
        shown = []
        handle = types.SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))
        cell = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(kernel=True))
        self.use({"IPython": cell, "IPython.display": types.SimpleNamespace(display=lambda data, raw, display_id: handle)})
        run = self.module.train(self.config(family="causal_lm", **SMALL), run="run", set={"train.log_every": 2})
        lines = shown[-1].splitlines()
        self.assertEqual([line[:13] for line in lines if line.startswith("step ")], ["step     12/1"])
        log = (run.path / "train.log").read_text()
        self.assertIn(next(line for line in lines if line.startswith("sample ")), log)

    def test_numpy_and_pandas_are_used_where_they_are(self):
        pandas = types.SimpleNamespace(DataFrame=lambda rows: ("table", rows))
        self.use({"numpy": types.SimpleNamespace(array=lambda values: ("array", values)), "pandas": pandas})
        run = self.trained["text"]
        self.assertEqual(run.metrics[0], "table")
        self.assertEqual(run.attend("the old").decoder[0], "array")
        self.assertEqual(run.weights()["decoder.norm.weight"][0], "array")


class Wheel(unittest.TestCase):
    setUp = RunsTest.setUp
    RUNS, texts = {}, lambda self: None

    def make(self, program):
        (self.folder / "heed").write_text(f"#!/bin/sh\n{program}\n")
        (self.folder / "heed").chmod(0o755)
        (self.folder / "licences").write_text("as is")
        done = subprocess.run([sys.executable, PACKAGE / "wheel.py", self.folder, PACKAGE.parents[1], self.folder / "heed", self.folder / "licences"],
                              env={**os.environ, "SOURCE_DATE_EPOCH": "1000000000"}, check=True, stdout=subprocess.PIPE, text=True)
        return Path(done.stdout.strip())

    def python(self, *args, **env):
        return subprocess.run([sys.executable, *args], cwd=self.folder, capture_output=True, text=True, env={
            **{key: value for key, value in os.environ.items() if key != "HEED_BINARY"}, "PYTHONPATH": str(self.folder / "site"), **env})

    def test_it_is_whole_and_the_same_each_time(self):
        wheel = self.make(f"exec {HEED} \"$@\"")
        first = wheel.read_bytes()
        self.assertEqual(self.make(f"exec {HEED} \"$@\"").read_bytes(), first)
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            info = f"{wheel.name.split('-py3')[0]}.dist-info"
            record = dict(line.split(",")[:2] for line in archive.read(f"{info}/RECORD").decode().splitlines())
            self.assertEqual(sorted(record), sorted(names))
            for name in names:
                digest = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).decode().rstrip("=")
                self.assertIn(record[name], (f"sha256={digest}", "" if name.endswith("/RECORD") else None))
            self.assertLess({"heed/configs/reverse.json", "heed/data/reverse.train.source", f"{info}/licenses/libraries"}, set(names))
            self.assertTrue(all(entry.external_attr >> 16 == (0o100755 if entry.filename.endswith("/heed") else 0o100644)
                                for entry in archive.infolist()))
            archive.extractall(self.folder / "site")
        (self.folder / "site/heed/bin/heed").chmod(0o755)  # as pip does
        self.assertEqual(self.python("-m", "heed", "config", "--schema").stdout,
                         subprocess.run([HEED, "config", "--schema"], capture_output=True, text=True).stdout)

    def test_the_import_says_what_the_program_says_of_the_processor(self):
        self.make("echo heed 0.1.0; test -z \"$OLD\" && exit; echo 'this build is for processors with AVX2' >&2; exit 2")
        site = {"PYTHONPATH": str(PACKAGE), "HEED_BINARY": str(self.folder / "heed")}
        self.assertEqual(self.python("-c", "import heed", **site).returncode, 0)
        self.assertIn("ImportError: this build is for processors with AVX2", self.python("-c", "import heed", OLD="1", **site).stderr)


if __name__ == "__main__":
    unittest.main()
