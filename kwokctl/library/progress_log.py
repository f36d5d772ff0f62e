"""Hands what commands would print to the log of the program that uses the library."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from kwokctl.progress import Silent, Step

log = logging.getLogger("kwokctl")
log.addHandler(logging.NullHandler())  # without one, warnings would be printed


class LoggedProgress(Silent):
    """Writes notes and warnings to the logger `kwokctl`, and the beginning of steps for who debugs."""

    @contextmanager
    def step(self, title: str, *, total: int | None = None, unit: str = "") -> Iterator[Step]:
        """Log that a step begins."""
        log.debug("%s", title)
        yield self

    def note(self, text: str) -> None:
        """Log what is good to know."""
        log.info("%s", text)

    def warn(self, text: str) -> None:
        """Log what must not be missed."""
        log.warning("%s", text)
