"""Every command that README.md, the questions of the experiments and docs/lesson.md show in a fenced block
or in a table of commands is run, in order, in a small copy of the repository.

The copy has the same configs with smaller models and a few training steps, the tested program as build/heed, and
stand-ins for data that would be downloaded. So a command runs as it is written. SPECIAL lists the exceptions: commands
that run in another form, and commands that cannot run here, each with the reason. Any other command must succeed.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEED = pathlib.Path(os.environ.get("HEED_BINARY", ROOT / "build" / "heed")).resolve()
STEPS = 20
SECONDS = 120  # for one command

# (the command as a pattern, what runs instead or None, why). The first row that matches counts.
SPECIAL = [
    (r"^(sudo |apt|git clone|cd |curl |wget )", None, "prepares a machine, which is done already"),
    (r"^(cmake|ctest|make|ninja) ", None, "building is what the build does that this test is part of"),
    (r"^scripts/test\.sh", None, "runs the tests, of which this is one"),
    (r"^scripts/get_data\.sh ", None, "downloads; tests/scripts/get_data_test.py tests it, and stand-ins are in place"),
    (r"^(mpirun|mpiexec|srun) ", None, "needs MPI"),
    (r"^(xdg-open|open|firefox|chromium) ", None, "needs a screen"),
    (r"^scripts/experiments/(why_attention_moves|must_attention_learn_context|pronoun_to_noun|"
     r"does_a_head_know_the_noun|induction_heads)\.py", None,
     "takes long even so; it shares common.py with those that run"),
    (r"^(scripts/experiments/\w+\.py).*", r"\1 --seeds 1 --heed build/heed-quick", "takes up to three minutes"),
    (r"^(\S*heed train) \S*\.txt( --minutes \S+)?(.*)$", r"\1 data/fables.txt --run runs/mine --minutes 0.05\3",
     "trains for minutes by design; the text stands for one of the reader's own"),
    (r"(.*)/path/to/\S+\.txt(.*)", r"\1$PWD/data/fables.txt\2", "stands for a text of the reader's own"),
]


BLOCK = r"^```(\w*)\n(.*?)^```$"
TABLE = r"^\|[^\n]*\| command \|\n\|[-|]+\n((?:\|[^\n]*\n)+)"


def shell_commands(text):
    """The commands of a page: in fenced blocks, lines after "$ " or, in shell blocks without a prompt, every line; in
    tables whose last column is "command", the code in that column."""
    commands = []
    for block in re.finditer(f"{BLOCK}|{TABLE}", text, re.M | re.S):
        language, body, rows = block.groups()
        if rows:
            cells = [re.split(r"(?<!\\)\|", row)[-2] for row in rows.splitlines()]
            commands += [code.replace("\\|", "|") for cell in cells for code in re.findall("`([^`]+)`", cell)]
            continue
        lines = re.sub(r"\\\n\s*", "", body).splitlines()
        prompted = [line[2:] for line in lines if line.startswith("$ ")]
        if prompted:
            commands += prompted
        elif language in ("sh", "bash", "shell", "console"):
            commands += [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return [command.strip() for command in commands]


def special(command):
    """(what runs instead, or None; why), or (the command itself, None)."""
    for pattern, instead, why in SPECIAL:
        match = re.search(pattern, command)
        if match:
            return instead and match.expand(instead), why
    return command, None


def small_copy(folder):
    """Copies the repository without its sources, with configs that train a small model for STEPS steps."""
    ignored = shutil.ignore_patterns("__pycache__", "downloads", "reverse-50k.*")
    for name in ("configs", "data", "scripts"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / "README.md", folder)
    for config in (folder / "configs").glob("*.json"):
        text = re.sub(r'("max_steps": )\d+', rf"\g<1>{STEPS}", config.read_text())
        text = re.sub(r'("(?:log|eval|save)_every": )\d+', rf"\g<1>{STEPS // 4}", text)
        text = re.sub(r'("vocab_size": )\d+', r"\g<1>500", text)
        text = re.sub(r'("d_model": )\d+', r"\g<1>48", text)  # has 2, 4 or 6 heads
        text = re.sub(r'("d_ff": )\d+', r"\g<1>64", text)
        config.write_text(text)

    def program(path, text):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    (folder / "build").mkdir()
    (folder / "build" / "heed").symlink_to(HEED)
    program(folder / "build" / "heed-quick", f'#!/bin/sh\n[ "$1" = train ] && set -- "$@" --set train.max_steps={STEPS}\n'
                                             f'exec "{HEED}" "$@"\n')
    program(folder / "scripts" / "install_dependencies.sh", "#!/bin/sh\n")  # everything is installed
    program(folder / "tools" / "cmake", "#!/bin/sh\n")  # and built
    downloads = folder / "data" / "downloads"
    (downloads / "multi30k").mkdir(parents=True)
    shutil.copy(folder / "data" / "fables.txt", downloads / "shakespeare.txt")
    for part in ("train", "val"):
        for side, ending in (("source", "en"), ("target", "de")):
            lines = folder / "data" / f"dates.{part.replace('val', 'valid')}.{side}"
            for name in (f"{part}.{ending}", f"{part}.lc.norm.tok.{ending}"):
                shutil.copy(lines, downloads / "multi30k" / name)


@unittest.skipUnless(HEED.exists(), f"{HEED} is not built")
class Readme(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heed_test_"))
        self.addCleanup(shutil.rmtree, self.folder)
        small_copy(self.folder)
        path = os.pathsep.join([str(self.folder / "tools"), str(self.folder / "build"), os.environ["PATH"]])
        self.env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "scripts/package"), "HEED_BINARY": str(self.folder / "build" / "heed")}

    def run_in_copy(self, command):
        return subprocess.run(command, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, errors="replace")

    def test_every_command_runs(self):
        experiments = (ROOT / "scripts/experiments/README.md").read_text()
        text = "".join([(ROOT / "README.md").read_text(), *re.findall(r"(?ms)^\| question \| command .*?\n\n", experiments),
                        (ROOT / "docs/lesson.md").read_text()])
        commands = shell_commands(text)
        self.assertGreater(len(commands), 60)
        done_before = set()
        for command in commands:
            instead, why = special(command)
            if instead is None:
                print(f"not run: {command} ({why})")
                continue
            if instead in done_before:
                continue
            done_before.add(instead)
            with self.subTest(command):
                done = self.run_in_copy(["bash", "-o", "pipefail", "-c", instead])
                self.assertIn(done.returncode, (0, 141), f"{instead}\n{done.stdout[-3000:]}")  # 141: cut short by head
        for block in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S):
            with self.subTest(block):
                short = block.replace('"mine.txt", minutes=2', '"data/fables.txt", minutes=0.02')
                done = self.run_in_copy([sys.executable, "-c", short])
                self.assertEqual(done.returncode, 0, done.stdout[-3000:])


class Links(unittest.TestCase):
    def test_pictures_are_small(self):
        for picture in (ROOT / "docs" / "pictures").iterdir():
            self.assertLess(picture.stat().st_size, 60_000, picture.name)

    def test_links_and_pictures_of_pages_lead_to_files_and_headings(self):
        pages = [p for p in ROOT.rglob("*.md") if not any(part.startswith((".", "build")) or part == "runs"
                                                          for part in p.relative_to(ROOT).parts)]
        self.assertGreater(len(pages), 4)
        for page in pages:
            for target in re.findall(r"""(?:\]\(|(?:src|srcset)=")([^)"]+)""", page.read_text()):
                if "://" in target:
                    continue
                with self.subTest(f"{page.relative_to(ROOT)}: {target}"):
                    path, _, anchor = target.partition("#")
                    linked = (page.parent / path).resolve() if path else page
                    self.assertTrue(linked.exists())
                    if anchor:
                        headings = re.findall(r"^#+ (.*)$", linked.read_text(), re.M)
                        slugs = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
                        self.assertIn(anchor, slugs)


if __name__ == "__main__":
    unittest.main()
