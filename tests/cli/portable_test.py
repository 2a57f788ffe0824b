"""train.arithmetic "portable": the same bytes with any kernels, or exit code 2."""
import json
import shutil
import subprocess
import unittest
from pathlib import Path

from runs import HEED, MPIRUN, RANKS_ENV, SMALL, USAGE, Result, RunsTest

ROOT = Path(__file__).resolve().parents[2]
OLD = {"OPENBLAS_CORETYPE": "Nehalem"}  # kernels that every processor runs and that round differently
PORTABLE = {"family": "causal_lm", **SMALL, "train__arithmetic": "portable"}


class Portable(RunsTest):
    RUNS = {"run": PORTABLE, "native": {"family": "causal_lm", **SMALL}}

    def setUp(self):
        super().setUp()
        if "portable arithmetic: available" not in self.out("--version"):
            self.skipTest("portable arithmetic is not available here")

    def test_kernels_that_the_environment_names_change_native_runs_alone(self):
        for run, changes in self.RUNS.items():
            self.assertNotIn("warning", self.train(self.config(run, **changes), run + "2", "--threads", 3, env=OLD).err)
        self.assertNotEqual(*((self.step(12, run) / "model.safetensors").read_bytes() for run in ("native", "native2")))
        origin = json.loads((self.folder / "run2/origin.json").read_text())
        self.assertEqual(origin["core_type"], "Haswell")
        self.tells((self.folder / "run2/train.log").read_text(), ["portable", "utf8proc"])

    def test_the_choice_is_part_of_the_checkpoint_where_it_is_not_the_default(self):
        stored = [json.loads((self.step(12, run) / "config.json").read_text())["train"].get("arithmetic") for run in self.RUNS]
        self.assertEqual(stored, ["portable", None])
        self.assertEqual(json.loads(self.out("config", "native"))["train"]["arithmetic"], "native")
        self.resume("run", "--more", 2, "--set", "train.arithmetic=native", status=USAGE, facts="train.arithmetic")

    def test_commands_print_the_same_digits(self):
        differ = 0
        for args in (["evaluate", "{}", "--json"], ["score", "{}", "the old miller", "--json"],
                     ["explain", "{}", "the old", "--json"], ["attend", "{}", "the old", "--json"]):
            for run in ("run", "native"):
                line = [word.format(run) for word in args]
                one, other = (json.loads(self.out(*line, env=env)) for env in ({}, OLD))
                for result in one, other:
                    [result.pop(key, None) for key in ("seconds", "tokens_per_second")]
                if run == "run":
                    self.assertEqual(one, other, line)
                differ += one != other
        self.assertGreater(differ, 0)
        text = ["the old", "--max-tokens", 40, "--seed", 3]
        self.assertEqual(self.out("sample", "run", *text), self.out("sample", "run", *text, env=OLD))
        self.check("evaluate", "run", "--precision", "float32")
        self.check("evaluate", "run", "--precision", "bfloat16", facts="train.arithmetic")

    def test_what_versions_of_a_library_learn_differently_is_refused(self):
        pieces = {"type": "unigram", "vocab_size": 300}
        self.train(self.config("u", **PORTABLE, tokenizer=pieces), "new", status=USAGE, facts=["train.arithmetic", "tokenizer.file"])
        own = {"type": "char", "shared": False, "target": pieces}
        self.train(self.config("own", **{**PORTABLE, "family": "seq2seq"}, tokenizer=own), "new", status=USAGE, facts="tokenizer.file")
        self.assertFalse((self.folder / "new").exists())
        self.train(self.config("learnt", **{**PORTABLE, "train__arithmetic": "native"}, tokenizer=pieces), "learnt")
        vocabulary = str(self.checkpoints("learnt") / "last/tokenizer.model")
        self.train(self.config("given", **PORTABLE, tokenizer={"type": "unigram", "file": vocabulary}), "new")
        self.train(self.config("u", **PORTABLE, tokenizer=pieces), "from", "--init-from", "learnt")
        self.train(self.config("bpe", **PORTABLE, tokenizer={**pieces, "type": "bpe"}), "bpe", facts="tokenizer.file")

    def test_other_bits_are_refused(self):
        """A library in front of the others stands in for another C library, and for an OpenBLAS with other kernels. A config that
        is found by its name trains there all the same, with the kernels for this processor."""
        self.skip_under_a_sanitizer()
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            self.skipTest("there is no C compiler")
        config = self.config("run", **PORTABLE)
        for name, code in (("log", "double log2(double); double log(double x) { return 0.69314718055994531 * log2(x); }"),
                           ("kernels", "int setenv(const char *n, const char *v, int o) { return 0; }"),
                           ("products", "void cblas_ssyrk(void) {}")):
            with self.subTest(name):
                (self.folder / "front.c").write_text(code)
                library = self.folder / f"{name}.so"
                subprocess.run([compiler, "-shared", "-fPIC", "-w", "-fno-builtin", "-o", library, "front.c", "-lm"],
                               cwd=self.folder, check=True)
                front = {**OLD, "LD_PRELOAD": str(library)}
                self.train(config, "new", env=front, status=USAGE, facts="train.arithmetic")
                self.assertFalse((self.folder / "new").exists())
                self.check("evaluate", "run", env=front, status=USAGE, facts="train.arithmetic")
                self.assertNotIn("available", self.out("--version", env=front))
                self.train(self.config("native", family="causal_lm", **SMALL), name, env=front)
                named = ("reverse", name, "--force", "--stop-at", 1, "--set", "train.eval_every=0")
                self.train(*named, env=front, facts=["warning", "train.arithmetic", "native"])
                self.assertEqual(self.run_config(name)["train"]["arithmetic"], "native")
                self.assertEqual(json.loads((self.folder / name / "origin.json").read_text())["core_type"], "Nehalem")
                self.train(*named, "--set", "train.arithmetic=portable", env=front, status=USAGE, facts="train.arithmetic")
                self.train(ROOT / "configs/reverse.json", *named[1:], env=front, status=USAGE, facts="train.arithmetic")

    @unittest.skipUnless(MPIRUN, "there is no mpirun here")
    def test_ranks_on_processors_of_two_types_train_portable_runs_alone(self):
        if "MPI: none" in self.out("--version"):
            self.skipTest("heed was built without MPI")

        def of_two_types(run, status):
            script = 'test "$OMPI_COMM_WORLD_RANK" = 0 || type=Nehalem; OPENBLAS_CORETYPE=${type:-Haswell} exec "$@"'
            done = subprocess.run([MPIRUN, "-np", "2", "sh", "-c", script, "sh", HEED, "train", f"{run}.json", "--run", "two"],
                                  capture_output=True, text=True, cwd=self.folder, env=RANKS_ENV, timeout=120)
            self.assertEqual(done.returncode, status, done.stderr)
            return Result(done)

        for name, changes in self.RUNS.items():
            self.config(name, **changes)
        r = of_two_types("native", USAGE)
        self.tells(r.err, ["OpenBLAS", "Haswell", "Nehalem"])
        self.assertFalse((self.folder / "two").exists())
        of_two_types("run", 0)
        self.same_checkpoint("run", "two", 12)


if __name__ == "__main__":
    unittest.main()
