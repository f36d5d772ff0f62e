"""Times and rates as documents write them: `20s`, `3/min`."""

import re

from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_duration

_RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*/\s*(s|sec|second|m|min|minute|h|hour)")
_LEAST, _MOST = 1e-9, 1e9
"""The rates a second with which times can be computed."""
_SHOWN = 40
"""The most characters of a text in a message."""
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(text: str, field: str) -> float:
    """Return the seconds of a duration such as `1m30s`; ValueError for none, or a negative one."""
    try:
        found = parse_duration(text)
    except ExpressionError as e:
        example = f", {e.hint}" if e.hint else ""
        raise ValueError(f"'{field}': {e}{example}") from e
    if found < 0:
        raise ValueError(f"'{field}' is {text}, which is negative")
    return found


def period(text: str, field: str) -> float:
    """Return the seconds of a duration that is more than 0; ValueError for another."""
    found = seconds(text, field)
    if not found:
        raise ValueError(f"'{field}' must be more than 0")
    return found


def per_second(text: str, field: str) -> float:
    """Return how often a second `3/min` or `300/s` is; ValueError for what is no rate, is 0, or without end."""
    found = _RATE.fullmatch(text.strip())
    rate = float(found[1]) / _SECONDS[found[2][0]] if found else 0.0
    if not _LEAST <= rate <= _MOST:
        raise ValueError(
            f"'{field}' is '{_shortened(text)}', not a rate above 0, for example: 300/s, 3/min or 10/h"
        )
    return rate


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
