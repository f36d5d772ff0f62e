"""Resolves plain YAML scalars like the Kubernetes tools.

Those tools read YAML 1.1 as go-yaml v2 does and convert it to JSON: `yes` is true, `010` is eight,
`1e3` is a number, while `2026-01-01` and `12:30` stay texts.
"""

import re
from math import isfinite

Scalar = str | int | float | bool | None

WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"), False),
}  # fmt: skip
"""The scalars that are words."""

NUMBER = re.compile(
    r"""(?x)
    (?P<sign>[-+]?)
    (?: 0[bB](?P<binary>[01]+)
      | 0[xX](?P<hexadecimal>[0-9a-fA-F]+)
      | 0[oO]?(?P<octal>[0-7]+)
      | (?P<decimal>0|[1-9][0-9]*)
      | (?P<float>(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)
    )\Z"""
)
NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
_BASES = {"binary": 2, "hexadecimal": 16, "octal": 8, "decimal": 10}
_NUMBER_STARTS = frozenset("+-.0123456789")
_LARGEST = 2**64
_MOST_DIGITS = 1000  # more than any float has
_PLAIN_BELOW = 1e21  # Go writes a float below this without an exponent, so JSON has an integer


def resolve(text: str) -> Scalar:
    """Return the value of the plain scalar `text`.

    Raises ValueError for infinities and NaN, which JSON cannot hold.
    """
    if text in WORDS:
        return WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    # A float that starts with a point keeps its underscores, so with any it is a text.
    match = NUMBER.match(text if text[0] == "." else text.replace("_", ""))
    if match is None:
        if NOT_FINITE.match(text):
            raise ValueError(f"'{text}' is not a number that JSON can hold")
        return text
    kind = match.lastgroup
    if kind is None or kind == "float":
        value = float(match[0])
        return number(value) if isfinite(value) else text
    return text if len(text) > _MOST_DIGITS else _whole(text, match, kind)


def _whole(text: str, match: re.Match[str], kind: str) -> Scalar:
    """Return an integer, as a float beyond 64 bits; what is too large for that is a text."""
    whole = int(match[kind], _BASES[kind])
    whole = -whole if match["sign"] == "-" else whole
    if -_LARGEST // 2 <= whole < _LARGEST:
        return whole
    try:
        return number(float(whole))
    except OverflowError:
        return text


def number(value: float) -> int | float:
    """Return a finite float as JSON gives it back: without a fraction it is an integer."""
    if value == int(value) and abs(value) < _PLAIN_BELOW:
        return int(value)
    return value


def key(value: object) -> str:
    """Return the JSON key for a mapping key; raise ValueError if it cannot be one."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    raise ValueError(f"a mapping key must be a string, not '{value}'")
