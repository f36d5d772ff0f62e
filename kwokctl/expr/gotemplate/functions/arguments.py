"""Checks and converts the arguments of functions."""

import re
from collections.abc import Mapping

from kwokctl.expr.gotemplate.go.formatting import plain
from kwokctl.expr.gotemplate.go.go_times import Span
from kwokctl.expr.gotemplate.go.go_types import Number, StringMap, Strings, UntypedConstant
from kwokctl.expr.gotemplate.go.go_values import is_list, kind
from kwokctl.expr.gotemplate.template_error import TemplateError

_LARGEST = 2**63


def text(value: object) -> str:
    """Return a text; anything else is an error, as in Go."""
    if type(value) is str:
        return value
    if isinstance(value, str) and not isinstance(value, Number):
        return value
    raise TemplateError(f"{kind(value)} is not a string")


def listing(value: object) -> list[object]:
    """Return a list; anything else is an error."""
    if is_list(value):
        return list(value)
    raise TemplateError(f"{kind(value)} is not a list")


def mapping(value: object) -> Mapping[str, object]:
    """Return a map, an empty one for nothing; anything else is an error."""
    if type(value) is dict or (isinstance(value, Mapping) and not isinstance(value, StringMap)):
        return value
    if value is None:
        return {}
    raise TemplateError(f"{kind(value)} is not a map")


def count(value: object) -> int:
    """Return an `int`; anything else is an error."""
    if type(value) is int:
        return value
    if isinstance(value, UntypedConstant) and value.is_integer():
        return int(value)
    raise TemplateError(f"{kind(value)} is not a whole number")


def whole(value: object) -> int:
    """Return a whole number made from any value, 0 if it holds none, as Sprig does.

    https://pkg.go.dev/github.com/spf13/cast#ToInt64
    """
    if isinstance(value, str):
        return _parsed(value)
    if isinstance(value, float):
        return int(value) if -_LARGEST <= value < _LARGEST else -_LARGEST
    return int(value) if isinstance(value, bool | int) and not isinstance(value, Span) else 0


def real(value: object) -> float:
    """Return a number made from any value, 0 if it holds none."""
    if isinstance(value, str):
        return _real(value)
    if isinstance(value, bool | int | float) and not isinstance(value, Span):
        return float(value)
    return 0.0


_NO_FRACTION = re.compile(r"\.0+\Z")
_WHOLE = re.compile(
    r"""(?x)[-+]?(?:
      0[xX](?:_?[0-9a-fA-F])+ | 0[oO](?:_?[0-7])+ | 0[bB](?:_?[01])+ | 0(?:_?[0-7])* | [1-9](?:_?[0-9])*
    )\Z"""
)
_REAL = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z")


def _parsed(value: str) -> int:
    digits = _NO_FRACTION.sub("", value)
    if not _WHOLE.match(digits):
        return 0
    if re.match(r"[-+]?0[_0-7]", digits):  # Go's octal numbers need no letter
        digits = digits.replace("0", "0o", 1) if digits.strip("+-0_") else "0"
    number = int(digits, 0)
    return number if -_LARGEST <= number < _LARGEST else 0


def _real(value: str) -> float:
    if _REAL.match(value):
        return float(value)
    if re.match(r"(?i)[-+]?(?:inf|infinity|nan)\Z", value):
        return float(value)
    try:
        return float.fromhex(value) if re.match(r"[-+]?0[xX].*[pP]", value) else 0.0
    except ValueError:
        return 0.0


def texts(value: object) -> Strings:
    """Return the items of a list as texts, without nulls; any other value is one item."""
    if value is None:
        return Strings()
    items = value if is_list(value) else [value]
    return Strings([plain(item) for item in items if item is not None])
