"""Writes progress and errors as JSON lines, as the original logs where no terminal shows its log."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TextIO

from kwokctl.cli.output.line_writer import Writer
from kwokctl.cli.output.plain import BEAT, ticking
from kwokctl.cli.output.progress_rows import Row
from kwokctl.json_value import Json
from kwokctl.progress import Step

_LEVELS = {"error:": "ERROR", "warning:": "WARN"}
_SOURCE = "kwokctl"


def json_line(level: str, message: str, source: str, at: datetime, **attributes: Json) -> str:
    """Return a line of a log with the keys of the original."""
    head = {"time": at.isoformat(), "level": level, "msg": message, "source": source}
    return json.dumps({**head, **attributes})


class JsonLines:
    """Writes one object a line."""

    is_alive = False

    def __init__(
        self,
        stream: TextIO,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
        beat: float = BEAT,
    ) -> None:
        """Write to `stream`, and every `beat` seconds what each step under way is doing."""
        self._writer = Writer(stream)
        self._now = now
        self._clock = clock
        self._beat = beat

    def line(self, text: str = "", *, label: str = "", whole: bool = False) -> None:
        """Write a line, of the level that its label says; a label that says none stays before it."""
        level = _LEVELS.get(label)
        message = text if level or not label else f"{label} {text}"
        if message:
            self._log(level or "INFO", message.strip())

    @contextmanager
    def step(self, title: str, *, total: int | None = None, unit: str = "") -> Iterator[Step]:
        """Report that a step begins, how it progresses, and how it ended."""
        row = Row(title=title, total=total, unit=unit, started=self._clock(), depth=0)
        self._log("INFO", title, status="begun")
        status = "failed"
        try:
            with ticking(self._beat, lambda: self._report(row, "running")):
                yield row
            status = "done"
        finally:
            self._report(row, status)

    def note(self, text: str) -> None:
        """Write a line that the user should read."""
        self.line(text)

    def warn(self, text: str) -> None:
        """Write a line that the user must not miss."""
        self.line(text, label="warning:")

    @contextmanager
    def set_aside(self) -> Iterator[None]:
        """Go on: whole lines do not get in the way."""
        yield

    def abandon(self) -> None:
        """Do nothing: whole lines leave nothing behind."""

    def _report(self, row: Row, status: str) -> None:
        elapsed = self._clock() - row.started
        span = {"nanosecond": round(elapsed * 1e9), "human": f"{elapsed:.3g}s"}
        done = {"done": row.done} if row.done else {}
        self._log("INFO", row.title, status=status, elapsed=span, **done)

    def _log(self, level: str, message: str, **attributes: Json) -> None:
        self._writer.line(json_line(level, message, _SOURCE, self._now(), **attributes))
