"""Called by package.sh: writes the Python wheel of a static heed, its module, the configs with their data, and the licences.

    wheel.py FOLDER SOURCE HEED LICENCES

SOURCE_DATE_EPOCH is the time of all files in it.
"""
import base64
import hashlib
import os
import pathlib
import platform
import subprocess
import sys
import time
import zipfile

# heed on the PATH, and python -m heed. (pip puts the interpreter into the first line of the former.)
START = """#!python
import importlib.util
import os
import sys

program = os.path.join(os.path.dirname(importlib.util.find_spec("heed").origin), "bin", "heed")
os.execv(program, [program, *sys.argv[1:]])
"""
METADATA = """Metadata-Version: 2.1
Name: heed
Version: {version}
Summary: Trains small transformers on your own text, on a CPU, and shows what they learn
License: MIT
Requires-Python: >=3.9
Description-Content-Type: text/markdown

```python
import heed
run = heed.train("mine.txt", minutes=2)
run.sample("The fox", max_tokens=60)
run.live("The fox")
```

One program with all libraries inside, for processors with AVX2, and one module of Python. `help(heed)` and `heed --help` say
more. heed is under the MIT licence; those of the libraries inside the program are in `licenses/`.
"""


def contents(source, heed, licences, version):
    """{path in the wheel: bytes}, without the record."""
    info = f"heed-{version}.dist-info"
    files = {
        "heed/__init__.py": (source / "scripts/package/heed.py").read_bytes(),
        "heed/__main__.py": START.encode(),
        "heed/py.typed": b"",
        "heed/bin/heed": heed.read_bytes(),
        f"heed-{version}.data/scripts/heed": START.encode(),
        f"{info}/METADATA": METADATA.format(version=version).encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: heed\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode(),
        f"{info}/licenses/LICENSE": (source / "LICENSE").read_bytes(),
        f"{info}/licenses/libraries": licences.read_bytes(),
    }
    # heed looks for configs in ../configs from where it lies, and these for data in ../data.
    for folder in "configs", "data":
        files.update({f"heed/{folder}/{path.name}": path.read_bytes() for path in (source / folder).iterdir()})
    return files


def tag():
    return f"py3-none-manylinux_2_17_{platform.machine()}"


def main():
    folder, source, heed, licences = map(pathlib.Path, sys.argv[1:])
    version = subprocess.run([heed, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[1]
    files = contents(source, heed, licences, version)
    record = f"heed-{version}.dist-info/RECORD"
    digest = {path: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=") for path, data in files.items()}
    files[record] = "".join(f"{path},sha256={digest[path]},{len(files[path])}\n" for path in sorted(files)).encode() + f"{record},,\n".encode()
    wheel = folder / f"heed-{version}-{tag()}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6])
            entry.create_system = 3  # Unix: it has modes
            entry.external_attr = (0o100755 if path.endswith("/heed") else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, files[path])
    print(wheel)


if __name__ == "__main__":
    main()
