#!/usr/bin/env python3
"""Plants faults in the formulas, one at a time, and reports which tests catch each of them.

    scripts/dev/mutate.py                  plants all of them; this takes minutes, so run it by hand
    scripts/dev/mutate.py --only norm      plants those whose description contains the word
    scripts/dev/mutate.py --check          only checks that every fault applies: its text occurs exactly once in its file

The faults are in scripts/dev/mutations.py. They are planted in build-mutate/, in a copy of the files that the tests below
need. The copy is kept, so the next run builds only what has changed. Exits with 1 if a fault survives, does not apply, or
does not compile.
"""
import argparse
import concurrent.futures
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys

from mutations import MUTATIONS

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build-mutate"
TESTS = """math/* nn/* golden/* base/*.h base/input_file_test.cpp text/*.h text/utf8_test.cpp
    text/vocabulary_file_test.cpp data/*.h data/objective_test.cpp data/corpus_test.cpp data/span_corruption_test.cpp
    evaluate/bleu_test.cpp evaluate/kneser_ney_test.cpp evaluate/yardsticks_test.cpp show/advice_test.cpp
    show/film_test.cpp step/* train/*.h train/speed_test.cpp train/suggested_config_test.cpp train/whence_test.cpp"""
FOLDERS = "base math config text nn step data decode store evaluate show train"
NEEDED = ["CMakeLists.txt", "tests/CMakeLists.txt", "examples/*", *(f"src/{f}/*" for f in FOLDERS.split()),
          "src/show/web/*",  # CMakeLists.txt reads them
          *(f"tests/{t}" for t in TESTS.split())]
SECONDS = 300  # tests that run longer have caught the fault


def problems():
    """A line for each fault that does not apply."""
    found = []
    for what, file, text, _ in MUTATIONS:
        path = ROOT / file
        count = path.read_text().count(text) if path.exists() else 0
        if count != 1:
            found.append(f"{what}: found {count} times in {file}: {text}")
    return found


def write(path, data):
    """Writes a file unless it already has these bytes, to avoid needless rebuilds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)


class Tree:
    def __init__(self, number):
        self.root, self.build = WORK / str(number) / "tree", WORK / str(number) / "build"  # ccache knows one by the other
        wanted = {p.relative_to(ROOT): p for pattern in NEEDED for p in ROOT.glob(pattern) if p.is_file()}
        for path in list(self.root.rglob("*")):
            if path.is_file() and path.relative_to(self.root) not in wanted:
                path.unlink()
        for relative, path in wanted.items():
            data = path.read_bytes()
            if path.name == "CMakeLists.txt":  # a fault may leave a variable unused
                data = data.replace(b" -Werror", b"")
            write(self.root / relative, data)
        write(self.root / "src/main.cpp", b"int main() { return 0; }\n")

    def prepare(self):
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        result = self.run(["cmake", "-S", self.root, "-B", self.build, "-G", "Ninja",
                           "-DCMAKE_UNITY_BUILD=OFF", "-DCMAKE_BUILD_TYPE=Release",
                           "-DCMAKE_CXX_FLAGS_RELEASE=-O1", *launcher])
        if result.returncode:
            sys.exit(result.stdout)
        if not self.make():
            sys.exit(f"{self.root} does not compile (ninja -C {self.build})")
        if self.failing():
            sys.exit("tests fail without a fault: " + ", ".join(sorted(self.failing())))

    def run(self, command, **more):
        environment = os.environ | {"CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=environment, **more)

    def make(self):
        return self.run(["ninja", "-C", self.build, "-j2", "tests/heed_tests"]).returncode == 0

    def failing(self):
        """The failing tests; a crash or a hang counts as one."""
        try:
            result = self.run([self.build / "tests/heed_tests", "--gtest_brief=1"], timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return {"(hangs)"}
        failed = set(re.findall(r"^\[  FAILED  \] (\S+?),? ", result.stdout, re.M))
        return failed or ({f"(exit {result.returncode})"} if result.returncode else set())

    def plant(self, mutation):
        """The tests that fail with the fault, or None if it does not compile."""
        _, file, text, instead = mutation
        path = self.root / file
        original = path.read_text()
        path.write_text(original.replace(text, instead))
        try:
            return self.failing() if self.make() else None
        finally:
            path.write_text(original)


def suites(tests):
    """Every/Layer.X/norm -> Layer.X; Softmax/0.X -> Softmax.X"""
    names = sorted({re.sub(r"/[^.]*$", "", re.sub(r"/\d+\.", ".", re.sub(r"^\w+/(?=[A-Z])", "", t))) for t in tests})
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only check that every fault applies")
    parser.add_argument("--only", default="", metavar="WORD", help="only faults whose description contains WORD")
    parser.add_argument("--jobs", type=int, default=1, help="how many faults at a time, each in its own copy")
    args = parser.parse_args()
    bad = problems()
    for line in bad:
        print(line)
    if args.check:
        print(f"{len(MUTATIONS) - len(bad)} of {len(MUTATIONS)} faults apply")
        return 1 if bad else 0

    broken = {line.split(": found")[0] for line in bad}
    chosen = [m for m in MUTATIONS if args.only in m[0] and m[0] not in broken]
    trees = queue.Queue()
    for number in range(args.jobs):
        tree = Tree(number)
        tree.prepare()
        trees.put(tree)

    def one(mutation):
        tree = trees.get()
        try:
            return mutation, tree.plant(mutation)
        finally:
            trees.put(tree)

    survivors = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for mutation, failed in pool.map(one, chosen):
            if failed is None:
                verdict = "DOES NOT COMPILE"
            else:
                verdict = f"{len(failed):3d} tests: {suites(failed)}" if failed else "SURVIVES"
            survivors += not failed
            print(f"{mutation[0]:50} {verdict}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} faults caught")
    return 1 if survivors or bad else 0


if __name__ == "__main__":
    sys.exit(main())
