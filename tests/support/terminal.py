"""A terminal of a given size, on which a program runs to its end, or a function writes."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

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
    ours, theirs = _opened(rows, columns)
    running = subprocess.Popen(words, env=environ, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = _all_of(ours)
    return Ran(running.wait(), said.decode())


def shown(words: Sequence[str], environ: Mapping[str, str], *, rows: int, columns: int) -> str:
    """Return all that a program that must succeed writes to its terminal, with the codes in it."""
    done = ran(words, environ, rows=rows, columns=columns)
    assert done.code == 0, done.shown
    return done.shown


def written(write: Callable[[TextIO], object], *, columns: int, encoding: str = "utf-8") -> str:
    """Return what a function writes to a terminal: no more than the terminal's buffer holds."""
    ours, theirs = _opened(24, columns)
    with os.fdopen(theirs, "w", encoding=encoding) as stream:
        write(stream)
    return _all_of(ours).decode(encoding).replace("\r\n", "\n")


def _opened(rows: int, columns: int) -> tuple[int, int]:
    """Return both ends of a terminal: that of the person, and that of the program."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return ours, theirs


def _all_of(terminal: int) -> bytes:
    """Read a terminal until the last program has closed its side, then close ours."""
    parts: list[bytes] = []
    while part := _part(terminal):
        parts.append(part)
    os.close(terminal)
    return b"".join(parts)


def _part(terminal: int) -> bytes:
    """Read some; nothing when the program has ended, which Linux reports as an error."""
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""
