"""Counts requests by client, as an API server's audit log has them."""

import os
import re
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from kwokctl.kube.transport.pool import USER_AGENT
from kwokctl.kube.transport.stream import Lines
from kwokctl.load.client.sender import AGENT_OF_LOADS

RECORDER, LOADS = "the recorder", "loads"
"""The names of clients that are kwokctl's own."""
RECORDER_AGENT = f"{USER_AGENT} measure"
"""The user agent of the recorder."""
_PIECE = 1 << 20
_ACCOUNT = re.compile(r"system:serviceaccount:[^:]+:(\S+)")
_OWN = {RECORDER_AGENT: RECORDER, AGENT_OF_LOADS: LOADS}


class _Status(msgspec.Struct, gc=False):
    code: int = 0


class _Event(msgspec.Struct, gc=False, rename="camel"):
    """The fields of an event that are counted (https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/)."""

    stage: str = ""
    verb: str = ""
    user_agent: str = ""
    response_status: _Status | None = None

    @property
    def is_answer(self) -> bool:
        """Whether a request counts with this event: a watch is answered when it begins."""
        if self.verb == "watch" and self.code < 400:
            return self.stage == "ResponseStarted"
        return self.stage in ("ResponseComplete", "Panic")

    @property
    def code(self) -> int:
        """The status of HTTP."""
        return self.response_status.code if self.response_status else 0


_event = msgspec.json.Decoder(_Event).decode


def client_of(user_agent: str) -> str:
    """Return a short name for a client: its program, and the service account that a controller shows there."""
    if user_agent in _OWN:
        return _OWN[user_agent]
    program, _, more = user_agent.partition(" ")
    name = program.partition("/")[0]
    account = _ACCOUNT.search(more)
    return f"{name}/{account[1]}" if account else name or "unnamed"


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

    def new_counts(self) -> Counter[tuple[str, int]]:
        """Return the requests by client and status that were answered since the last time.

        When it is large the API server moves its log to another name, and begins a new one.
        """
        counts: Counter[tuple[str, int]] = Counter()
        if self._file is None:
            return counts
        self._read_on(counts)
        if self._is_replaced():
            self._file.close()
            self._file = self._path.open("rb")
            self._lines = Lines()
            self._read_on(counts)
        return counts

    def _read_on(self, counts: Counter[tuple[str, int]]) -> None:
        assert self._file is not None
        while piece := self._file.read(_PIECE):
            for line in self._lines.feed(piece):
                with suppress(msgspec.DecodeError):  # a line that was cut, as by a full disk
                    event = _event(line)
                    if event.is_answer:
                        counts[client_of(event.user_agent), event.code] += 1

    def _is_replaced(self) -> bool:
        assert self._file is not None
        try:
            return not os.path.samestat(self._path.stat(), os.fstat(self._file.fileno()))
        except FileNotFoundError:
            return False  # the new one is about to come
