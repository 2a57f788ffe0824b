"""A terminal for tests: runs heed on a pseudo-terminal, types keys, and reads the screen as text."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from runs import HEED

UP, BACKSPACE, CTRL_A, CTRL_C, CTRL_D = "\x1b[A", "\x7f", "\x01", "\x03", "\x04"
CONTROL = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]|\x07")


class Terminal:
    def __init__(self, *args, cwd, columns=60, env=None):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvpe(HEED, [HEED, *map(str, args)], {**os.environ, "TERM": "xterm", **(env or {})})
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.bytes = b""  # shown and not yet returned
        self.status = None

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def _more(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            read = os.read(self.fd, 1 << 16)
        except OSError:  # the other end is closed
            read = b""
        self.bytes += read
        return bool(read)

    @staticmethod
    def text(shown):
        return CONTROL.sub(b"", shown).decode(errors="replace").replace("\r\n", "\n")

    def until(self, words, seconds=60):
        """Waits until `words` are shown; returns what came before them."""
        end = time.monotonic() + seconds
        while words not in self.text(self.bytes):
            if not self._more(max(0, end - time.monotonic())):
                raise AssertionError(f"no {words!r} in {self.text(self.bytes)!r}")
        before, _, after = self.text(self.bytes).partition(words)
        self.bytes = after.encode()
        return before

    def answer(self, line, prompt):
        """Types a line; returns what is shown between it and the next prompt."""
        self.type(line + "\r")
        return self.until(prompt).partition("\n")[2]

    def end(self, seconds=60):
        """The exit code and the last words."""
        end = time.monotonic() + seconds
        while self.status is None and time.monotonic() < end:
            self._more(0.1)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        while self._more(0):
            pass
        return self.status, self.text(self.bytes)

    def close(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)
