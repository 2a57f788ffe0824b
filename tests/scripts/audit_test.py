"""scripts/audit.py: what it draws, the odds that it prints, an honest run, and forgeries of some kinds."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEED = os.path.abspath(os.environ.get("HEED_BINARY", ROOT / "build" / "heed"))
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "scripts" / "dev")]
sys.dont_write_bytecode = True
import audit  # noqa: E402
import forge  # noqa: E402


class Draw(unittest.TestCase):
    def test_the_odds_are_those_of_a_thousand_draws(self):
        for total, forged, drawn in ((20, 1, 5), (40, 4, 5), (12, 6, 2)):
            bad = set(range(0, forged * 2, 2))
            missed = sum(not bad & set(audit.draw(total, drawn, str(seed), "chain")) for seed in range(1000)) / 1000
            said = audit.odds_missed(total, forged, drawn)
            self.assertLess(abs(missed - said), 4 * (said * (1 - said) / 1000) ** 0.5, (total, forged, drawn))

    def test_a_draw_has_no_interval_twice_and_depends_on_seed_and_chain(self):
        self.assertEqual(audit.draw(9, 9, "a", "b"), list(range(9)))
        self.assertEqual(audit.draw(99, 5, "a", "b"), audit.draw(99, 5, "a", "b"))
        self.assertEqual(len({tuple(audit.draw(99, 5, seed, salt)) for seed in "abc" for salt in "xyz"}), 9)


class Audit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="heed_audit_test_"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.forger = forge.Forger(HEED, folder)

    def test_an_honest_run_is_true_and_one_without_a_chain_too(self):
        honest = self.forger.folder / "honest"
        result = self.forger.certificate(honest)
        self.assertTrue(result["true"], result)
        self.assertEqual((result["intervals"], result["share"], result["other_programs"]), (4, 1, []))
        self.assertEqual(result["odds_missed"]["1"], 0)
        broken = self.forger.folder / "broken"
        shutil.copytree(honest, broken, symlinks=True)
        lines = (honest / "chain.jsonl").read_text().splitlines(keepends=True)
        for changed in (lines[:1] + lines[2:], lines[:-1] + [lines[-1].replace('"state.json":"', '"state.json":"0')]):
            (broken / "chain.jsonl").write_text("".join(changed))
            self.assertEqual(len(audit.Run(broken, HEED).damaged), 1)
        old = self.forger.folder / "old"
        shutil.copytree(honest, old, symlinks=True)
        (old / "chain.jsonl").unlink()
        (old / "RESULTS.md").touch()
        for name in "tensorboard", "step-00000004", "checkpoints/kept":
            (old / name).mkdir()
        done = subprocess.run([sys.executable, ROOT / "scripts" / "audit.py", old, "--heed", HEED, "--intervals", "0", "--seed", "1"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("no chain.jsonl", done.stdout)
        self.assertIn('not checked, in the run: "RESULTS.md", "step-00000004", "tensorboard", "checkpoints/kept"\n', done.stdout)

    def test_what_cannot_be_repeated_is_neither_true_nor_called_false(self):
        data = self.forger.folder / "a.txt"
        data.rename(data.with_suffix(".away"))
        try:
            result = self.forger.certificate(self.forger.folder / "honest")
        finally:
            data.with_suffix(".away").rename(data)
        self.assertEqual((result["true"], result["share"]), (False, 0))
        self.assertIn("NOT PROVED", audit.verdict(result))
        for program in "/no/such/heed", "/bin/true":
            done = subprocess.run([sys.executable, ROOT / "scripts" / "audit.py", self.forger.folder / "honest", "--heed", program],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(program, done.stderr)

    def test_a_branch_of_a_branch_is_true_from_its_first_step_on(self):
        f = self.forger
        branch = f.branch(f.branch("honest", "one", end=18), "two", at=16, end=20)
        result = f.certificate(branch)
        self.assertEqual((result["true"], result["intervals"], [b["step"] for b in result["begins"]["branches"]]), (True, 5, [16, 8]))
        for stem, moved in ("one", ["moved"]), ("honest", ["one", "moved"]):
            (f.folder / stem).rename(f.folder / "moved")
            said, given = (audit.audit(branch, HEED, 0, "1", stems) for stems in ([], [f.folder / name for name in moved]))
            (f.folder / "moved").rename(f.folder / stem)
            self.assertEqual((audit.verdict(said), given["true"]), ("NOT PROVED", True), said)

    def test_an_average_is_averaged_anew(self):
        run = self.forger.folder / "averaged"
        shutil.copytree(self.forger.folder / "honest", run, symlinks=True)
        for n in 2, 3:
            self.forger.average(run, "--last", n)
        self.assertTrue(audit.audit(run, HEED, 0, "1")["true"])

    def test_names_are_escaped_as_heed_does(self):
        self.assertEqual(audit.printable("a\n\x1b[2J\x7f\x85\u202e\u200dé\udcff\ud800"), "a\\n<0x1B>[2J<0x7F><U+0085><U+202E>\u200dé<0xFF><U+D800>")
        self.assertEqual(audit.printable("x" * 9, 5), "xxxxx...")

    def test_other_parts_than_intervals_are_found(self):
        for kind in ("elsewhere", "average", "config", "took_best", "took_config", "took_config_alone", "hides_weights", "screen", "pipe", "endless", "deep"):
            with self.subTest(kind):
                self.assertEqual(forge.look(self.forger, kind, 0), "")

    def test_forgeries_are_found_where_they_are(self):
        for kind, place in (("seed", 0), ("order", 2), ("invented", 1), ("twice", 1), ("saved", 1)):
            with self.subTest(kind):
                self.assertEqual(forge.find(self.forger, kind, place), "")


if __name__ == "__main__":
    unittest.main()
