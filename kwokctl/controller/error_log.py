"""Tells of errors once: with ten thousand objects the same one may come ten thousand times."""

import logging

from kwokctl.errors import KwokctlError

log = logging.getLogger(__name__)


class Complaints:
    """What has been told about the objects of one kind."""

    def __init__(self, kind: str) -> None:
        """Begin with nothing told."""
        self._kind = kind
        self._told: set[tuple[str, str, str]] = set()

    def tell(self, stage: str, key: str, error: Exception) -> None:
        """Log what a stage has met, the first time it meets that kind of error."""
        mark = (stage, type(error).__name__, str(getattr(error, "reason", "")))
        if mark in self._told:
            return
        self._told.add(mark)
        log.error(
            "stage %r on %s %r: %s (logged once; retried with increasing delays)",
            stage,
            self._kind,
            key,
            error,
            exc_info=None if isinstance(error, KwokctlError) else error,
        )
