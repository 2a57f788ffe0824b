"""Builds of the kernels for several CPUs (kernel_bits.cpp; tests/CMakeLists.txt says which) compute the same bits as heed's: what a
compiler thinks is fast for a CPU does not decide, nor the width of vectors (scripts/dev/arm64.sh compares arm64's)."""
import os
import re
import subprocess
import unittest
from pathlib import Path

HEED = Path(os.environ.get("HEED_BINARY", "build/heed")).resolve()
CPU = Path("/proc/cpuinfo").read_text()


class KernelBits(unittest.TestCase):
    def test_every_kernel(self):
        programs = sorted(path for path in HEED.parent.glob("tests/kernel_bits*") if os.access(path, os.X_OK) and path.is_file())
        if not programs or not re.search(r"\bavx2\b", CPU):
            self.skipTest("no kernels for this CPU were built")
        runs = [path for path in programs if not path.name.endswith("v4") or re.search(r"\bavx512vl\b", CPU)]
        of_heed, *others = [subprocess.run([path], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines() for path in runs]
        self.assertGreater(len(of_heed), 3000)
        self.assertTrue(others)
        for path, lines in zip(runs[1:], others):
            different = [b for a, b in zip(of_heed, lines) if a != b]
            self.assertEqual((different[:10], len(lines)), ([], len(of_heed)), path.name)


if __name__ == "__main__":
    unittest.main()
