"""What the errors of writes mean: whether to try again, when, and what to log."""

import logging
from enum import Enum
from random import Random

from kwokctl.errors import ExpressionError, KwokctlError, RequestError
from kwokctl.retry import backoff, may_pass

log = logging.getLogger(__name__)

_CONFLICTS_AT_ONCE = 3
_MOST = 30.0
_MOST_TEXTS = 100
_LASTING_FIRST, _LASTING_MOST = 5.0, 600.0
SOONEST = 1.0
"""The first wait after an error that may pass, in seconds."""


class ErrorKind(Enum):
    """What kind of error it was."""

    TRANSIENT = "transient"
    """The same write may succeed later."""
    CONFLICT = "conflict"
    """The object has changed: judge it again."""
    GONE = "gone"
    """There is no such object any more."""
    LASTING = "lasting"
    """The write is wrong, or not allowed, until something else changes."""


def error_kind(error: RequestError) -> ErrorKind:
    """Classify an error."""
    if may_pass(error):
        return ErrorKind.TRANSIENT
    if error.status == 409 and error.reason != "AlreadyExists":
        return ErrorKind.CONFLICT
    if error.status in {404, 410}:
        return ErrorKind.GONE
    return ErrorKind.LASTING


def wait_after(kind: ErrorKind, tries: int, random: Random) -> float:
    """Return how long an object waits after its last play has failed for the `tries`th time.

    A conflict is tried again at once, unless conflicts repeat. A temporary error is tried at least
    twice a minute, so that a cluster that comes back is not kept waiting; a lasting error, with
    growing delays.
    """
    if kind is ErrorKind.CONFLICT and tries <= _CONFLICTS_AT_ONCE:
        return 0.0
    if kind is ErrorKind.LASTING:
        return backoff(tries, random, first=_LASTING_FIRST, most=_LASTING_MOST)
    return backoff(tries, random, first=SOONEST, most=_MOST)


class ErrorLog:
    """Logs each kind of error once: with ten thousand objects it may come ten thousand times."""

    def __init__(self, kind: str) -> None:
        """Log what goes wrong with the objects of a kind."""
        self._kind = kind
        self._logged: set[tuple[str, str, str]] = set()
        self._unchosen: set[str] = set()

    def log_once(self, stage: str, key: str, error: Exception) -> None:
        """Log an error of a Stage, the first time that the Stage has an error of its kind."""
        mark = (stage, type(error).__name__, str(getattr(error, "reason", "")))
        if mark in self._logged:
            return
        self._logged.add(mark)
        log.error(
            "stage %r on %s %r%s: %s (logged once; retried with increasing delays)",
            stage,
            self._kind,
            key,
            f", sent to {error.path}" if isinstance(error, RequestError) else "",
            error,
            exc_info=None if isinstance(error, KwokctlError) else error,
        )

    def log_unchosen(self, key: str, error: ExpressionError) -> None:
        """Log why no stage can be chosen for an object; each text once, and not too many of them."""
        text = str(error)
        if text not in self._unchosen and len(self._unchosen) < _MOST_TEXTS:
            self._unchosen.add(text)
            log.error("no stage can be chosen for %s %r: %s (logged once)", self._kind, key, text)
