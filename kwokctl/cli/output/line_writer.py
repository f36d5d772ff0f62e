"""Writes lines for people: without control characters, indented, in colour if wanted."""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

from kwokctl.cli.output import standard_streams
from kwokctl.cli.output.characters import encodable
from kwokctl.cli.output.progress_rows import safe

_UNREADABLE = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EPIPE))
"""Errors of a disk that is full, a terminal that is gone, and a pipe whose reader has ended: after Ctrl-C `tee` ends first."""
_QUOTED = re.compile(r"(?<!\w)'[^']*'(?!\w)")
"""A name or a command in a message."""
_HELD = "\x1f"
"""Stands for a blank at which no line ends; `safe` leaves none in a text."""
_DEPTH: ContextVar[int] = ContextVar("depth", default=0)
_COLOURS = {
    "✓": "32",
    "✗": "31",
    "warning:": "33",
    "error:": "1;31",
    "hint:": "36",
}


class Writer:
    """Writes whole lines to a stream, in colour or not, in characters that it has."""

    def __init__(self, stream: TextIO, *, is_coloured: bool = False) -> None:
        """Write to `stream`."""
        self.stream = stream
        self.is_coloured = is_coloured

    def line(self, text: str = "", *, label: str = "", whole: bool = False) -> None:
        """Write `label`, in its colour, and `text` without control characters.

        On a terminal lines end between words, unless the text is one to copy: then it is kept `whole`. A log on a full disk, a
        terminal or a reader that is gone, do not end the command: it must be able to put back what it has changed.
        """
        colour = _COLOURS.get(label.strip()) if self.is_coloured else None
        label = encodable(label, self.stream.encoding)
        words = encodable(safe(text), self.stream.encoding)
        words = f"{label} {words}".rstrip() if label else words
        width = 0 if whole else _columns(self.stream)
        if width:
            words = "\n".join(part for line in words.split("\n") for part in parted(line, width))
        if colour:
            words = f"\x1b[{colour}m{label}\x1b[0m{words.removeprefix(label)}"
        try:
            self.stream.write(f"{words}\n")
            self.stream.flush()
        except OSError as e:
            if e.errno not in _UNREADABLE:
                raise
            standard_streams.drop(self.stream.fileno())


def parted(line: str, width: int, *, hanging: int | None = None) -> list[str]:
    """Part a line at a width; words stay whole, and so does what is in quotes if it fits.

    Further lines are indented by `hanging` blanks, else by two more than the first.
    """
    if len(line) <= width:
        return [line]
    from textwrap import wrap

    further = " " * (len(line) - len(line.lstrip()) + 2 if hanging is None else hanging)
    room = width - len(further)

    def held(found: re.Match[str]) -> str:
        return found[0].replace(" ", _HELD) if len(found[0]) <= room else found[0]

    parts = wrap(
        _QUOTED.sub(held, line), width, subsequent_indent=further,
        break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip
    return [part.replace(_HELD, " ") for part in parts] or [line]


def _columns(stream: TextIO) -> int:
    """Return the width of a stream that is a terminal; 0 if it is not one, or the width is unknown."""
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    except OSError:
        return 0


def indent() -> str:
    """Return the indentation of a line that belongs to the innermost open step."""
    return "  " * _DEPTH.get()


@contextmanager
def nested() -> Iterator[int]:
    """Yield how many steps of this task are open; inside, there is one more.

    A step that another task closes is indented wrongly, but does not end the command: no token is kept, which only
    the task that took it could give back.
    """
    depth = _DEPTH.get()
    _DEPTH.set(depth + 1)
    try:
        yield depth
    finally:
        _DEPTH.set(depth)
