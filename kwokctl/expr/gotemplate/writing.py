"""How Go writes values: `%v`, `%q` and JSON."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from math import isfinite, isnan
from typing import Any

from kwokctl.expr.gotemplate.values import is_list

NO_VALUE = "<no value>"
_WORDS = {True: "true", False: "false", None: "<nil>"}

_SPECIAL = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
# What JSON may hold as it stands, but HTML, JavaScript or a YAML reader would trip over.
_ESCAPED = re.compile("[<>&\u2028\u2029\ufeff\ufffe\uffff\x7f-\x9f]")


def text(value: Any) -> str:
    """Return what an action writes for a value."""
    if type(value) is str:
        return value
    return NO_VALUE if value is None else plain(value)


def plain(value: Any) -> str:
    """Return a value as `%v` writes it: `map[a:1 b:[x y]]`, `<nil>`."""
    if isinstance(value, bool) or value is None:
        return _WORDS[value]
    if isinstance(value, float):
        return shortest(value)
    if isinstance(value, Mapping):
        parts = (f"{key}:{plain(value[key])}" for key in sorted(value))
        return f"map[{' '.join(parts)}]"
    if is_list(value):
        return f"[{' '.join(map(plain, value))}]"
    return str(value)


def shortest(value: float) -> str:
    """Return a float as `%v` writes it: the fewest digits, with an exponent from 1e+06 on."""
    if not isfinite(value):
        return "NaN" if isnan(value) else f"{value:+f}".replace("inf", "Inf")
    number = Decimal(repr(value)).normalize()
    exponent = number.adjusted()
    if not number or -5 < exponent < 6:
        return f"{number:f}"
    return f"{number.scaleb(-exponent):f}e{exponent:+03d}"


def quoted(value: str, *, ascii_only: bool = False) -> str:
    """Return a text as `%q` writes it."""
    return f'"{"".join(escaped(character, ascii_only=ascii_only) for character in value)}"'


def escaped(character: str, *, ascii_only: bool = False) -> str:
    """Return a character as it stands between double quotes in Go."""
    if character in _SPECIAL:
        return _SPECIAL[character]
    point = ord(character)
    if character.isprintable() and (point < 0x80 or not ascii_only):
        return character
    if point < 0x80:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def to_json(value: Any, *, indent: int | None = None, html: bool = True) -> str:
    """Return a value as Go writes JSON: sorted keys, `<`, `>` and `&` escaped for HTML."""
    written = json.dumps(
        _jsonable(value),
        ensure_ascii=False,
        sort_keys=True,
        separators=(",", ":" if indent is None else ": "),
        indent=indent,
    )
    return _ESCAPED.sub(_unicode, written) if html else written


def _unicode(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _jsonable(value: Any) -> Any:
    if isinstance(value, float) and value == value // 1 and abs(value) < 1e21:
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if is_list(value):
        return [_jsonable(item) for item in value]
    return value


def quote(value: Any) -> str:
    """Return kwok's `Quote`: a JSON text, whatever the value is; a text that is none is its JSON."""
    return to_json(quotable(value))


def quotable(value: Any) -> str:
    """Return the text that `Quote` puts in quotes."""
    return value if isinstance(value, str) else to_json(value)
