"""Holds a component shortly before it acts: the last file that it reads is a pipe without content.

The program starts, connects, and waits in the kernel; it goes on when the pipe has its content and is closed. The kernel
closes it with the process that holds it, too. Then the file is empty, and the program ends with an error: nothing waits for ever.
"""

import os
from contextlib import suppress
from pathlib import Path

DESCRIPTOR = 3
"""The descriptor at which a held program finds the pipe."""
_PIPE = f"/proc/self/fd/{DESCRIPTOR}"
_writable: set[int] = set()
"""The ends of pipes that this process writes to."""


def _close_all() -> None:
    for descriptor in _writable:
        os.close(descriptor)
    _writable.clear()


# A fork without exec, as of multiprocessing, would keep the pipe open when this process has closed it.
os.register_at_fork(after_in_child=_close_all)


def held_words(argv: list[str], flag: str) -> list[str]:
    """Return a command with the pipe as the file that a flag names; the same one if it does not have the flag."""
    start = f"--{flag}="
    return [start + _PIPE if flag and word.startswith(start) else word for word in argv]


def held_file(argv: list[str], flag: str) -> Path | None:
    """Return the file that a flag of a command names, if it has it."""
    start = f"--{flag}="
    found = (word.removeprefix(start) for word in argv if flag and word.startswith(start))
    return next(map(Path, found), None)


class HeldFile:
    """A pipe from which one program reads a file."""

    def __init__(self, file: Path) -> None:
        """Give the content of this file, when the program is let go."""
        self._content = file.read_bytes()
        self.reads, self._writes = os.pipe()
        _writable.add(self._writes)

    def launched(self) -> None:
        """Leave the end that reads to the program alone."""
        os.close(self.reads)

    def let_go(self) -> None:
        """Continue the program, unless it has ended."""
        os.set_blocking(self._writes, False)  # a key is smaller than the smallest pipe
        with suppress(BrokenPipeError):
            os.write(self._writes, self._content)
        _writable.discard(self._writes)
        os.close(self._writes)
