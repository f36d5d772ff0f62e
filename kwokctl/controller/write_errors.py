"""Classifies the errors of writes: whether and when to try again, and what to log."""

import logging
from enum import Enum
from random import Random
from typing import Protocol
from weakref import WeakKeyDictionary

from kwokctl.controller.stages.stage_places import FieldEvaluationError, StagePlace
from kwokctl.controller.status_writes import LackingFieldError
from kwokctl.errors import ExpressionError, KwokctlError, RequestError
from kwokctl.kube.transport.refusals import MissingRight, missing_right
from kwokctl.retry import backoff, may_pass

log = logging.getLogger(__name__)

_CONFLICTS_WITHOUT_PAUSE = 3
_MOST = 30.0
_MOST_TEXTS = 5
"""Errors that are logged of a field of a Stage: texts that name the object differ for each."""
_UNREAD = "unread"
"""Remembered in place of the text, if one message for each field is enough."""
_LASTING_FIRST, _LASTING_MOST = 5.0, 600.0
_FORBIDDEN_MOST = 60.0
SOONEST = 1.0
"""The first wait after an error that may pass, in seconds."""


class ErrorKind(Enum):
    """The kind of an error."""

    TRANSIENT = "transient"
    """The same write may succeed later."""
    CONFLICT = "conflict"
    """The object has changed: judge it again."""
    GONE = "gone"
    """There is no such object any more."""
    LASTING = "lasting"
    """The write is wrong, or not allowed, until something else changes."""
    FORBIDDEN = "forbidden"
    """The user of the controller lacks a right, which may be granted at any time, or the definition of a kind a field."""

    @property
    def is_lasting(self) -> bool:
        """Whether a retry at once would fail again."""
        return self in {ErrorKind.LASTING, ErrorKind.FORBIDDEN}


def error_kind(error: RequestError) -> ErrorKind:
    """Classify an error."""
    if may_pass(error):
        return ErrorKind.TRANSIENT
    if error.status == 409 and error.reason != "AlreadyExists":
        return ErrorKind.CONFLICT
    if error.status in {404, 410}:
        return ErrorKind.GONE
    is_missing = isinstance(error, LackingFieldError) or missing_right(error)
    return ErrorKind.FORBIDDEN if is_missing else ErrorKind.LASTING


def wait_after(kind: ErrorKind, tries: int, random: Random) -> float:
    """Return how long an object waits after its last play has failed for the `tries`th time.

    A conflict is tried again at once, unless conflicts repeat. A temporary error is tried at least
    twice a minute, so that a cluster that comes back is not kept waiting; a lasting error, with
    growing delays, which stay below two minutes where a right or a field is missing.
    """
    if kind is ErrorKind.CONFLICT and tries <= _CONFLICTS_WITHOUT_PAUSE:
        return 0.0
    if kind is ErrorKind.LASTING:
        return backoff(tries, random, first=_LASTING_FIRST, most=_LASTING_MOST)
    if kind is ErrorKind.FORBIDDEN:
        return backoff(tries, random, first=_LASTING_FIRST, most=_FORBIDDEN_MOST)
    return backoff(tries, random, first=SOONEST, most=_MOST)


class RightsLog:
    """Remembers which rights were found missing: thousands of nodes need the same."""

    def __init__(self) -> None:
        self._logged: set[MissingRight] = set()

    def is_known(self, error: RequestError) -> bool:
        """Return whether an error is about a right that is known to be missing."""
        right = missing_right(error)
        if right is None or right in self._logged:
            return right is not None
        self._logged.add(right)
        return False


class Played(Protocol):
    """A Stage, or what takes the place of Stages."""

    def place(self, field: str, /) -> StagePlace:
        """Return where one of its fields is."""
        ...

    def field_of(self, step: int, /) -> str:
        """Return where the template of a step is in it; empty for a step without one."""
        ...


class ErrorLog:
    """Logs each kind of error once: with ten thousand objects it may come ten thousand times."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._rights = RightsLog()
        self._logged: WeakKeyDictionary[Played, dict[str, set[str]]] = WeakKeyDictionary()

    def log_once(self, stage: Played, step: int, key: str, error: Exception) -> None:
        """Log an error of the step of a Stage, the first time that there is an error of its kind."""
        field = stage.field_of(step)
        if self._is_known(stage, field, error):
            return
        log.error(
            "%s on %s %r%s: %s%s (logged once; retried with increasing delays)",
            stage.place(field),
            self._kind,
            key,
            f", sent to {error.path}" if isinstance(error, RequestError) else "",
            error,
            f"; {error.hint}" if isinstance(error, KwokctlError) and error.hint else "",
            exc_info=None if isinstance(error, KwokctlError) else error,
        )

    def log_unmatched(self, stage: Played, key: str, error: ExpressionError) -> None:
        """Log why a Stage is not for an object, each text once."""
        field = error.field if isinstance(error, FieldEvaluationError) else ""
        if not self._is_known(stage, field, error):
            log.error(
                "%s is not for %s %r: %s (logged once)",
                stage.place(field),
                self._kind,
                key,
                error,
            )

    def log_unread(self, stage: Played, field: str, key: str, problem: str) -> None:
        """Log once that a field of a Stage finds in an object what it cannot use, whatever that is."""
        texts = self._logged.setdefault(stage, {}).setdefault(field, set())
        if _UNREAD not in texts:
            texts.add(_UNREAD)
            log.warning(
                "%s %s, on %s %r (logged once)", stage.place(field), problem, self._kind, key
            )

    def _is_known(self, stage: Played, field: str, error: Exception) -> bool:
        """Return whether an error is not logged; log that, the first time that the limit is reached."""
        if isinstance(error, RequestError) and missing_right(error):
            return self._rights.is_known(error)
        texts = self._logged.setdefault(stage, {}).setdefault(field, set())
        mark = _mark(error)
        if mark in texts or len(texts) > _MOST_TEXTS:
            return True
        texts.add(mark)
        if len(texts) <= _MOST_TEXTS:
            return False
        log.error("%s: more of its errors are not logged", stage.place(field))
        return True


def _mark(error: Exception) -> str:
    """Return the key of an error: of errors with the same key only one is logged."""
    if isinstance(error, ExpressionError):
        return str(error)
    return f"{type(error).__name__} {getattr(error, 'reason', '')}"
