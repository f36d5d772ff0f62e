"""A real shell on a terminal of its own, into which a test types as a person does."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

_PATIENCE = 60.0
_CONTROL = re.compile(
    rb"\x1b(\[[0-9;?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][0-9A-B]|[=>78M])|[\r\x07\x0f]"
)
_HOME = "\x01"


class Shell:
    """What is typed goes in, what is shown is kept."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self._shown = b""

    def type(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def until(self, pattern: str) -> re.Match[str]:
        """Wait until something is shown, and forget what was shown so far."""
        deadline = time.monotonic() + _PATIENCE
        while not (found := re.search(pattern, self._text, re.MULTILINE)):
            assert time.monotonic() < deadline, f"no '{pattern}' in:\n{self._text}"
            if select.select([self._terminal], [], [], 1.0)[0]:
                self._shown += os.read(self._terminal, 65536)
                self._answer()
        self._shown = b""
        return found

    def completed(self, line: str) -> str:
        """Type a line and a tab; return the line that the shell makes of it."""
        self.type(f"{line}\t{_HOME}echo @\n")
        return self.until(r"^@(.*?) *$")[1]

    @property
    def _text(self) -> str:
        return _CONTROL.sub(b"", self._shown).decode(errors="replace")

    def _answer(self) -> None:
        """Tell a shell that asks what the terminal is, as fish does, that it is a simple one."""
        if b"\x1b[c" in self._shown:
            self._shown = self._shown.replace(b"\x1b[c", b"")
            self.type("\x1b[?6c")


@contextmanager
def shell(words: Sequence[str], environ: Mapping[str, str]) -> Iterator[Shell]:
    """Run a shell on a terminal that is wide enough for every line."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 250, 0, 0))
    process = subprocess.Popen(
        words,
        env={**environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no threads yet
    )
    os.close(theirs)
    try:
        yield Shell(ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
