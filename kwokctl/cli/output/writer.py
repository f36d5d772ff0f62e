"""Writes lines for people: without control characters, indented, in colour if wanted."""

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

from kwokctl.cli.output import streams
from kwokctl.cli.output.progress_rows import safe

BEGUN, GOING, DONE, FAILED = "·", "…", "✓", "✗"

_FRAMES = dict(zip("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\|/-\\|/", strict=True))
_PLAIN: Mapping[str, str] = {
    BEGUN: "..",
    GOING: "...",
    DONE: "ok",
    FAILED: "FAILED",
    "━": "=",
    "─": "-",
    "\N{EN DASH}": "-",
    "µ": "u",
    **_FRAMES,
}
"""ASCII for every character beyond it that kwokctl itself writes."""
_OF_DISK_OR_TERMINAL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EIO))
_DEPTH: ContextVar[int] = ContextVar("depth", default=0)
_COLOURS = {
    DONE: "32",
    FAILED: "31",
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

    def line(self, text: str = "", *, label: str = "") -> None:
        """Write `label`, in its colour, and `text` without control characters.

        A log on a full disk, or a terminal that is gone, does not end the command.
        """
        colour = _COLOURS.get(label.strip()) if self.is_coloured else None
        painted = f"\x1b[{colour}m{label}\x1b[0m" if colour else label
        words = f"{painted} {safe(text)}".rstrip() if label else safe(text)
        try:
            self.stream.write(encodable(words, self.stream.encoding) + "\n")
            self.stream.flush()
        except OSError as e:
            if e.errno not in _OF_DISK_OR_TERMINAL:
                raise
            streams.drop(self.stream.fileno())


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


def encodable(text: str, encoding: str | None) -> str:
    """Return a text in characters that an encoding has; what is unknown becomes a question mark."""
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = "".join(_PLAIN.get(character, character) for character in text)
        return text.encode(encoding, "replace").decode(encoding)
    return text
