"""Reads the fields of structs that JSON has as texts. What is absent has Go's zero, or is null."""

from base64 import b64decode

from kwokctl.expr.cel.values.quantities import CelQuantity
from kwokctl.expr.cel.values.scalars import CelDuration, CelTime
from kwokctl.expr.cel.values.structs import quantity
from kwokctl.expr.cel.values.times import ZERO, parse_instant, parse_span

_NO_TIME = CelDuration(0)


def time_of(text: str | None) -> CelTime:
    """Return a time."""
    return ZERO if text is None else parse_instant(text)


def duration_of(text: str | None) -> CelDuration:
    """Return a duration."""
    return _NO_TIME if text is None else parse_span(text)


def quantity_if_any(text: str | None) -> CelQuantity | None:
    """Return a quantity, or null."""
    return None if text is None else quantity(text)


def bytes_of(text: str | None) -> bytes:
    """Return bytes."""
    return b64decode(text or "")
