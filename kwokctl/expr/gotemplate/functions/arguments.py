"""How functions take their arguments."""

import re
from collections.abc import Mapping
from typing import Any

from kwokctl.expr.gotemplate.literals import number as parse_number
from kwokctl.expr.gotemplate.values import Fault, is_list, kind
from kwokctl.expr.gotemplate.writing import plain


class Owned(dict[str, Any]):
    """A map that a template has made, and so may change; the data belong to somebody else."""


def text(value: Any) -> str:
    """Return a text; anything else is an error, as in Go."""
    if isinstance(value, str):
        return value
    raise Fault(f"{kind(value)} is not a text")


def listing(value: Any) -> list[Any]:
    """Return a list; anything else is an error."""
    if is_list(value):
        return list(value)
    raise Fault(f"{kind(value)} is not a list")


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a map, an empty one for nothing; anything else is an error."""
    if isinstance(value, Mapping):
        return value
    if value is None:
        return {}
    raise Fault(f"{kind(value)} is not a map")


def count(value: Any) -> int:
    """Return a whole number; anything else is an error."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise Fault(f"{kind(value)} is not a whole number")


def whole(value: Any) -> int:
    """Return a whole number made from anything, 0 from what has none: Sprig's way."""
    if isinstance(value, str):
        number = _parsed(re.sub(r"\.0+\Z", "", value))
        return number if isinstance(number, int) else 0
    return int(value) if isinstance(value, bool | int | float) else 0


def real(value: Any) -> float:
    """Return a number made from anything, 0 from what has none."""
    if isinstance(value, str):
        return float(_parsed(value))
    return float(value) if isinstance(value, bool | int | float) else 0.0


def _parsed(value: str) -> int | float:
    try:
        return parse_number(value)
    except ValueError:
        return 0


def texts(value: Any) -> list[str]:
    """Return the items of a list as texts, without nulls; what is no list is one item."""
    if value is None:
        return []
    items = value if is_list(value) else [value]
    return [plain(item) for item in items if item is not None]
