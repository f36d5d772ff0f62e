"""A terminal of a given size, on which a program runs to its end."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence


def shown(words: Sequence[str], environ: Mapping[str, str], *, rows: int, columns: int) -> str:
    """Return all that a program writes to its terminal, with the codes in it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    running = subprocess.Popen(words, env=environ, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    parts: list[bytes] = []
    while part := _part(ours):
        parts.append(part)
    os.close(ours)
    assert running.wait() == 0, b"".join(parts)
    return b"".join(parts).decode()


def _part(terminal: int) -> bytes:
    """Read some; nothing when the program has ended, which Linux reports as an error."""
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""
