"""A terminal of a given size, on which a program runs to its end."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_CODES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended, and all that it wrote to its terminal, with the codes in it."""

    code: int
    shown: str

    @property
    def text(self) -> str:
        """What it wrote, without codes."""
        return _CODES.sub("", self.shown).replace("\r\n", "\n")


def ran(words: Sequence[str], environ: Mapping[str, str], *, rows: int, columns: int) -> Ran:
    """Run a program on a terminal to its end, whatever that is."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    running = subprocess.Popen(words, env=environ, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    parts: list[bytes] = []
    while part := _part(ours):
        parts.append(part)
    os.close(ours)
    return Ran(running.wait(), b"".join(parts).decode())


def shown(words: Sequence[str], environ: Mapping[str, str], *, rows: int, columns: int) -> str:
    """Return all that a program that must succeed writes to its terminal, with the codes in it."""
    done = ran(words, environ, rows=rows, columns=columns)
    assert done.code == 0, done.shown
    return done.shown


def _part(terminal: int) -> bytes:
    """Read some; nothing when the program has ended, which Linux reports as an error."""
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""
