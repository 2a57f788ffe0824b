"""One call of the system fails, on one file of a run, in a command that writes (strace injects it): the checkpoints stay.

Whatever the error says, nothing is called damaged that is not: heed stops and leaves the run as it is, or does what it was
asked to, in which case only train.keep_last may have removed a checkpoint.
"""
import errno
import shutil
import subprocess

import crashes
import later_end
from crashes import Finding

ERRORS = [name for name in ("EACCES EAGAIN EBADMSG EBUSY EDQUOT EHOSTDOWN EINVAL EIO EISDIR ELOOP EMFILE ENFILE ENODATA ENODEV "
                            "ENOENT ENOMEM ENOTCONN ENOTDIR ENXIO EPERM EREMOTEIO ESTALE ETIMEDOUT EUCLEAN").split()
          if hasattr(errno, name)]
CALLS = ("openat", "openat", "read", "read", "newfstatat", "lseek")
COMMANDS = (["resume", "run", "--more", "4"], ["resume", "stopped"], ["average", "run", "--last", "2"],
            ["train", "c.json", "--run", "run", "--force", "--stop-at", "1"], ["resume", "run"])


def can_trace():
    return shutil.which("strace") and subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode == 0


def checkpoints(root):
    """The bytes of all checkpoints below a folder, and where they are."""
    return {(p.parent.name.removeprefix("damaged-"), p.name, p.read_bytes()): p for p in root.rglob("step-*/*")
            if p.is_file() and ".tmp-" not in str(p)}


class OneFailingCall:
    def __init__(self, heed, folder, draw):
        self.heed, self.draw, self.texts = heed, draw, folder / "texts"
        self.root = folder / "root"
        (self.texts / "c.json").write_text(later_end.CONFIGS["fall"])
        for run, more in (("run", []), ("stopped", ["--stop-at", "9"])):
            done = self.run(self.texts, "train", "c.json", "--run", run, *more)
            if done.returncode != 0:
                raise Finding(f"does not train: {done.stderr}")
        self.before = set(checkpoints(self.texts))

    def run(self, folder, *command, inject=()):
        return subprocess.run([*inject, self.heed, *command, "--quiet"] if inject else [self.heed, *command, "--quiet"],
                              capture_output=True, text=True, errors="replace", cwd=folder, timeout=120,
                              stdin=subprocess.DEVNULL)

    def case(self):
        """Returns how the command ended."""
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.texts, self.root, symlinks=True)
        command = self.draw.choice(COMMANDS)
        run = self.root / ("stopped" if "stopped" in command else "run")
        path = self.draw.choice([run, *run.rglob("*")])
        name, error, when = str(path.relative_to(self.root)), self.draw.choice(ERRORS), self.draw.randint(1, 2)
        call = self.draw.choice(("openat", "getdents64", "newfstatat") if path.is_dir() else CALLS)
        what = f"{' '.join(command)}; {call} of {name} fails the {when}. time: {error}"
        done = self.run(self.root, *command, inject=("strace", "-f", "-o", "/dev/null", "-P", name, "-P", str(self.root / name),
                                                     "-e", f"inject={call}:error={error}:when={when}"))
        if done.returncode not in (0, 2, 4) or (done.returncode and "heed: error: " not in done.stderr):
            raise Finding(f"{what}: exit {done.returncode}: {done.stderr}")
        after = set(checkpoints(self.root))
        gone = {(step, file) for step, file, _ in self.before - after}
        # A resumed run that has saved a later step removes what train.keep_last does not keep.
        saved = command == ["resume", "stopped"] and (self.root / "stopped/checkpoints/step-00000012/state.json").exists()
        if gone and not saved:
            raise Finding(f"{what}: {sorted(gone)} are gone or changed, exit {done.returncode}: {done.stderr}")
        damaged = [str(p) for p in self.root.rglob("damaged-*")]
        if damaged:
            raise Finding(f"{what}: called damaged: {damaged}")
        return done.returncode
