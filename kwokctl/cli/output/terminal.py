"""Shows steps on a terminal: a spinner and the time while they run, a tick or a cross at the end.

Rich paints; it is imported only once a step lasts long enough to be looked at.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from kwokctl.cli.output.characters import encodable
from kwokctl.cli.output.line_writer import Writer, nested, parted
from kwokctl.cli.output.progress_rows import Row, safe
from kwokctl.progress import Step

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, OverflowMethod, RenderableType
    from rich.live import Live
    from rich.text import Text


_PAINT_AFTER = 0.15
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAMES_PER_SECOND = 10
_SHOW_CURSOR = "\x1b[?25h"
_BARS = (24, 16, 8)
"""Cells of a bar, where there is room; in few sizes, so that it does not jump about."""


class Terminal:
    """Shows steps, animated while they run."""

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
        self._asides = 0
        """The programs of the user that have the screen now."""

    def line(self, text: str = "", *, label: str = "", whole: bool = False) -> None:
        """Write a line above the steps under way."""
        with self._lock, self._cleared():
            self._writer.line(text, label=label, whole=whole)

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

    @contextmanager
    def set_aside(self) -> Iterator[None]:
        """Paint nothing meanwhile: a spinner would paint over what the program writes."""
        with self._lock:
            self._asides += 1
            self._stop_painting()
            for row in self._rows:
                self._writer.line(row.title, label="  " * row.depth + "·")
        try:
            yield
        finally:
            with self._lock:
                self._asides -= 1
                self._paint_soon()

    def abandon(self) -> None:
        """Show the cursor again; takes no lock, since the process may be waiting for one."""
        self._writer.stream.write(f"\r{_SHOW_CURSOR}")
        self._writer.stream.flush()

    def _begin(self, row: Row) -> None:
        with self._lock:
            self._rows.append(row)
            self._paint_soon()

    def _end(self, row: Row, mark: str) -> None:
        with self._lock:
            self._rows.remove(row)
            if not self._rows:
                self._stop_painting()
            self.line(f"{row.title} ({row.in_all(self._clock())})", label="  " * row.depth + mark)

    def _paint_soon(self) -> None:
        if self._rows and not self._asides and self._live is None and self._timer is None:
            self._timer = threading.Timer(self._paint_after, self._paint)
            self._timer.daemon = True
            self._timer.start()

    def _paint(self) -> None:
        """Begin to paint; called by the timer."""
        with self._lock:
            self._timer = None
            if self._rows and not self._asides and self._live is None:
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
        # A new one: the old one would clear the lines where it expects itself.
        self._live = self._opened()

    def _picture(self) -> "_Picture":
        return _Picture(tuple(self._rows), self._clock())


class _Picture(msgspec.Struct, frozen=True):
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

    overflow: OverflowMethod = "crop" if options.ascii_only else "ellipsis"  # of a word
    frame = _FRAMES[int(now * _FRAMES_PER_SECOND) % len(_FRAMES)]
    indent = "  " * row.depth
    layout = laid_out(row, now, options.max_width - len(indent) - 2)
    full = round((row.share or 0.0) * layout.bar)
    rest = encodable("━" * (layout.bar - full), options.encoding) + " " * bool(layout.bar)
    yield Text.assemble(
        indent,
        (encodable(frame, options.encoding), "cyan"),
        encodable(f" {layout.title} ", options.encoding),
        (encodable("━" * full, options.encoding), "cyan"),
        (rest, "bright_black"),
        (layout.numbers, "dim"),
        no_wrap=True,
        overflow=overflow,
    )
    for line in layout.more:
        shown = encodable(f"{indent}  {line}", options.encoding)
        yield Text(shown, "dim", no_wrap=True, overflow=overflow)


class Layout(msgspec.Struct, frozen=True):
    """The lines of a step, without the mark and the blanks in front of each."""

    title: str
    bar: int
    """Cells of the bar behind the title, 0 for none."""
    numbers: str
    """The text after the bar."""
    more: tuple[str, ...] = ()
    """Further lines."""


def laid_out(row: Row, now: float, width: int) -> Layout:
    """Lay a step out in lines of at most `width` characters; words that are longer stay so."""
    title, parts, what = safe(row.title), row.numbers(now), row.what
    if row.total is not None and f" {row.unit}" in title:
        parts[0] = parts[0].rpartition(" ")[0]  # the title says of what
    room = width - len(title) - 1
    whole = ", ".join([*parts, what] if what else parts)
    bar = _bar(row, room - len(whole) - 1)
    if bar or (row.share is None and len(whole) <= room):
        return Layout(title, bar, whole)
    numbers = ", ".join(parts)
    more = parted(what, width) if what else ()
    if len(numbers) <= room:
        return Layout(title, _bar(row, room - len(numbers) - 1), numbers, tuple(more))
    first, *rest = parted(title, width)
    return Layout(first, 0, "", (*rest, _as_many_as_fit(parts, width), *more))


def _bar(row: Row, room: int) -> int:
    if row.share is None:
        return 0
    return next((cells for cells in _BARS if cells <= room), 0)


def _as_many_as_fit(parts: list[str], width: int) -> str:
    while len(parts) > 1 and len(", ".join(parts)) > width:
        parts = parts[:-1]
    return ", ".join(parts)
