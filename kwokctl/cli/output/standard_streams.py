"""Handles standard streams that are closed: by the caller, as with `kwokctl … >&-`, or later.

The descriptors 0 to 2 would go to whatever is opened first: a socket, or the event loop's own. So
they are taken before that, each in the direction in which it cannot be used: what reads or writes
gets an error, as with the tools of coreutils. Messages alone are dropped without one.
"""

import os
import sys
from collections.abc import Mapping
from typing import Literal, TextIO

_MODES = (os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)


def take_closed() -> None:
    """Open the null device in place of each standard stream that is closed."""
    for number, mode in enumerate(_MODES):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free is the one that is missing.
            os.set_inheritable(os.open(os.devnull, mode), True)
    # They stay open until the process ends.
    sys.stdin = sys.stdin or _opened(0, "r")
    sys.stdout = sys.stdout or _opened(1, "w")
    sys.stderr = sys.stderr or _opened(2, "w")


def is_screen(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Return whether a stream is a terminal that obeys control sequences, as one with `TERM=dumb` does not."""
    return stream.isatty() and environ.get("TERM") != "dumb"


def _opened(descriptor: int, mode: Literal["r", "w"]) -> TextIO:
    return open(descriptor, mode, encoding="utf-8")


def drop(descriptor: int) -> None:
    """Discard what is written to a descriptor from now on, and what is buffered for it."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)
