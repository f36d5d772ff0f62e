"""Shows steps as whole lines without control characters, for pipes, files and CI."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from kwokctl.cli.output.line_writer import Writer, indent, nested
from kwokctl.cli.output.progress_rows import Row
from kwokctl.progress import Step

BEAT = 10.0
"""Seconds between two signs of life of a step."""


class Plain:
    """Writes whole lines; long work is reported now and then."""

    is_alive = False

    def __init__(
        self,
        stream: TextIO,
        *,
        clock: Callable[[], float] = time.monotonic,
        beat: float = BEAT,
    ) -> None:
        """Write to `stream`, and every `beat` seconds what each step under way is doing."""
        self._writer = Writer(stream)
        self._clock = clock
        self._beat = beat

    def line(self, text: str = "", *, label: str = "", whole: bool = False) -> None:
        """Write a line."""
        self._writer.line(text, label=label, whole=whole)

    @contextmanager
    def step(self, title: str, *, total: int | None = None, unit: str = "") -> Iterator[Step]:
        """Report that a step begins, how it progresses, and how it ended."""
        with nested() as depth:
            row = Row(title=title, total=total, unit=unit, started=self._clock(), depth=depth)
            self._print(row, "·")
            mark = "✗"
            try:
                with ticking(self._beat, lambda: self._print(row, "…", row.so_far(self._clock()))):
                    yield row
                mark = "✓"
            finally:
                self._print(row, mark, row.in_all(self._clock()))

    def note(self, text: str) -> None:
        """Write a line that the user should read."""
        self.line(indent() + text)

    def warn(self, text: str) -> None:
        """Write a line that the user must not miss."""
        self.line(text, label="warning:")

    @contextmanager
    def set_aside(self) -> Iterator[None]:
        """Go on: whole lines do not get in the way."""
        yield

    def abandon(self) -> None:
        """Do nothing: whole lines leave nothing behind."""

    def _print(self, row: Row, mark: str, known: str = "") -> None:
        self.line(f"{row.title} ({known})" if known else row.title, label="  " * row.depth + mark)


@contextmanager
def ticking(seconds: float, act: Callable[[], None]) -> Iterator[None]:
    """Call `act` at an interval while inside, from a thread of its own."""
    stop = threading.Event()

    def tick() -> None:
        while not stop.wait(seconds):
            act()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
