"""Follows an API server's audit log: requests by client, and what was done to nodes and pods."""

import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from kwokctl.kube.transport.stream import Lines
from kwokctl.measure.sampling.audit_event import AuditedAct, AuditEvent, client_of

_PIECE = 1 << 20

_event = msgspec.json.Decoder(AuditEvent).decode


class AuditNews(msgspec.Struct):
    """All that has come since the last time."""

    counts: Counter[tuple[str, int]] = msgspec.field(default_factory=Counter)
    """The requests that were answered, by client and status."""
    acts: list[AuditedAct] = []


class AuditLog:
    """A log that is read while it grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._lines = Lines()

    def begin(self) -> None:
        """Leave out what is there already; OSError if there is no such log that can be read."""
        self._file = self._path.open("rb")
        self._file.seek(0, os.SEEK_END)

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()
        self._file = None

    def news(self) -> AuditNews:
        """Return what has come since the last time.

        When it is large the API server moves its log to another name, and begins a new one.
        """
        news = AuditNews()
        if self._file is None:
            return news
        self._read_on(news)
        if self._is_replaced():
            self._read_on(news)  # what was written between the end and the move
            self._file.close()
            self._file = self._path.open("rb")
            self._lines = Lines()
            self._read_on(news)
        return news

    def _read_on(self, news: AuditNews) -> None:
        assert self._file is not None
        while piece := self._file.read(_PIECE):
            for line in self._lines.feed(piece):
                with suppress(msgspec.DecodeError):  # a line that was cut, as by a full disk
                    event = _event(line)
                    if not event.is_answer:
                        continue
                    news.counts[client_of(event.user_agent), event.code] += 1
                    if (act := event.act) is not None:
                        news.acts.append(act)

    def _is_replaced(self) -> bool:
        assert self._file is not None
        try:
            return not os.path.samestat(self._path.stat(), os.fstat(self._file.fileno()))
        except FileNotFoundError:
            return False  # the new one is about to come
