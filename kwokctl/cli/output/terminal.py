"""Steps on a terminal: a spinner with the time while they last, a tick or a cross afterwards.

Rich paints; it is imported only once a step lasts long enough to be looked at.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kwokctl.cli.output import marks
from kwokctl.cli.output.layout import laid_out
from kwokctl.cli.output.rows import Row
from kwokctl.cli.output.writer import Writer, nested
from kwokctl.progress import Step

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, OverflowMethod, RenderableType
    from rich.live import Live
    from rich.text import Text

_PAINT_AFTER = 0.15
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAMES_PER_SECOND = 10
_SHOW_CURSOR = "\x1b[?25h"


class Terminal:
    """Steps that come alive."""

    is_alive = True

    def __init__(
        self,
        writer: Writer,
        *,
        clock: Callable[[], float] = time.monotonic,
        paint_after: float = _PAINT_AFTER,
    ) -> None:
        """Write lines with `writer`; paint steps that last longer than `paint_after` seconds."""
        self._writer = writer
        self._clock = clock
        self._paint_after = paint_after
        self._lock = threading.RLock()
        self._rows: list[Row] = []
        self._timer: threading.Timer | None = None
        self._live: Live | None = None

    def line(self, text: str = "", *, label: str = "") -> None:
        """Write a line above the steps under way."""
        with self._lock, self._cleared():
            self._writer.line(text, label=label)

    @contextmanager
    def step(self, title: str, *, total: int | None = None, unit: str = "") -> Iterator[Step]:
        """Show a step while it lasts, and how it ended."""
        with nested() as depth:
            row = Row(title=title, total=total, unit=unit, started=self._clock(), depth=depth)
            self._begin(row)
            mark = "✗"
            try:
                yield row
                mark = "✓"
            finally:
                self._end(row, mark)

    def note(self, text: str) -> None:
        """Write a line that the user should read."""
        self.line(f"  {text}")

    def warn(self, text: str) -> None:
        """Write a line that the user must not miss."""
        self.line(text, label="warning:")

    def abandon(self) -> None:
        """Show the cursor again; takes no lock, since the process may be stuck in one."""
        self._writer.stream.write(f"\r{_SHOW_CURSOR}")
        self._writer.stream.flush()

    def _begin(self, row: Row) -> None:
        with self._lock:
            self._rows.append(row)
            if self._live is None and self._timer is None:
                self._timer = threading.Timer(self._paint_after, self._paint)
                self._timer.daemon = True
                self._timer.start()

    def _end(self, row: Row, mark: str) -> None:
        with self._lock:
            self._rows.remove(row)
            if not self._rows:
                self._stop_painting()
            self.line(f"{row.title} ({row.in_all(self._clock())})", label="  " * row.depth + mark)

    def _paint(self) -> None:
        """Begin to paint; called by the timer."""
        with self._lock:
            self._timer = None
            if self._rows and self._live is None:
                self._live = self._opened()

    def _opened(self) -> "Live":
        from rich.console import Console
        from rich.live import Live

        writer = self._writer
        live = Live(
            get_renderable=self._picture,
            console=Console(file=writer.stream, no_color=not writer.is_coloured, highlight=False),
            refresh_per_second=_FRAMES_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        live.start()
        return live

    def _stop_painting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._live is not None:
            self._live.stop()
            self._live = None

    @contextmanager
    def _cleared(self) -> Iterator[None]:
        """Take the painted steps away while a line is written, and paint them again below it."""
        if self._live is None:
            yield
            return
        self._live.stop()
        yield
        # A new one: the old one would clear the lines where it thinks it stands.
        self._live = self._opened()

    def _picture(self) -> "_Picture":
        return _Picture(tuple(self._rows), self._clock())


@dataclass(frozen=True, slots=True)
class _Picture:
    """Every step under way, drawn by Rich's thread: it takes no lock of kwokctl's."""

    rows: tuple[Row, ...]
    now: float

    def __rich_console__(
        self, _console: "Console", options: "ConsoleOptions"
    ) -> "Iterator[RenderableType]":
        for row in self.rows:
            yield from _drawn(row, self.now, options)


def _drawn(row: Row, now: float, options: "ConsoleOptions") -> "Iterator[Text]":
    """Draw the lines of a step, in characters that the terminal has."""
    from rich.text import Text

    overflow: OverflowMethod = "crop" if options.ascii_only else "ellipsis"
    frame = _FRAMES[int(now * _FRAMES_PER_SECOND) % len(_FRAMES)]
    indent = "  " * row.depth
    layout = laid_out(row, now, options.max_width - len(indent) - 2)
    full = round((row.share or 0.0) * layout.bar)
    rest = marks.shown("━" * (layout.bar - full), options.encoding) + " " * bool(layout.bar)
    yield Text.assemble(
        indent,
        (marks.shown(frame, options.encoding), "cyan"),
        marks.shown(f" {layout.title} ", options.encoding),
        (marks.shown("━" * full, options.encoding), "cyan"),
        (rest, "bright_black"),
        (layout.numbers, "dim"),
        no_wrap=True,
        overflow=overflow,
    )
    for line in layout.more:
        shown = marks.shown(f"{indent}  {line}", options.encoding)
        yield Text(shown, "dim", no_wrap=True, overflow=overflow)
