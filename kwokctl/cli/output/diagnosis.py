"""Configures kwokctl's own log: text on a terminal, JSON lines elsewhere."""

import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

from kwokctl.cli.output.progress_rows import safe
from kwokctl.config import flag_words
from kwokctl.errors import UsageError

_LOGGERS = ("kwokctl", "runtimes")


def level(text: str) -> int:
    """Read a level as the original has it, `DEBUG`, `-4`, `INFO+2`; return Python's number."""
    try:
        steps = flag_words.read_level(text)
    except ValueError as e:
        raise UsageError(
            f"'--v' is '{text}', not a level",
            hint="for example: DEBUG, INFO, WARN, ERROR, -4 or INFO+2",
        ) from e
    return max(logging.INFO + round(steps * 2.5), 1)


def set_level(text: str, stream: TextIO | None = None) -> None:
    """Write the log lines of this program, from a level on, to `stream` or standard error."""
    stream = stream or sys.stderr
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_Line(for_person=stream.isatty()))
    number = level(text)
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(number)
        logger.propagate = False


def begin(stream: TextIO | None = None) -> None:
    """Write kwokctl's log lines from INFO on unless a level was set, and never those of libraries."""
    if not logging.getLogger(_LOGGERS[0]).handlers:
        set_level("INFO", stream)
    logging.getLogger().addHandler(logging.NullHandler())


class _Line(logging.Formatter):
    def __init__(self, *, for_person: bool) -> None:
        super().__init__()
        self._for_person = for_person

    def format(self, record: logging.LogRecord) -> str:
        """Write one line for a person, or for a program."""
        trace = "\n" + self.formatException(record.exc_info) if record.exc_info else ""
        message = record.getMessage() + trace
        if self._for_person:
            return safe(f"{record.levelname} {record.name}: {message}")
        return _as_json(record, message)


def _as_json(record: logging.LogRecord, message: str) -> str:
    from kwokctl.cli.output.json_lines import json_line

    level = "WARN" if record.levelno == logging.WARNING else record.levelname
    at = datetime.fromtimestamp(record.created, UTC)
    return json_line(level, message, f"{record.name}:{record.lineno}", at)
