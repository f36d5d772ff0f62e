"""Go's numbers, characters and quoted texts, as templates write them."""

import re
from math import isfinite

_NUMBER = re.compile(
    r"""(?x)
    (?P<sign>[-+]?)
    (?: (?P<base>0[xXoObB])_?(?P<digits>[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*)
      | (?P<octal>0[0-7]+(?:_[0-7]+)*)
      | (?P<decimal>0|[1-9][0-9]*(?:_[0-9]+)*)
      | (?P<float>(?:[0-9]+(?:_[0-9]+)*\.?(?:[0-9]+(?:_[0-9]+)*)?|\.[0-9]+(?:_[0-9]+)*)
          (?:[eE][-+]?[0-9]+)?)
    )"""
)
_BASES = {"x": 16, "o": 8, "b": 2}
_ESCAPE = re.compile(
    r"""(?x)\\(?:
      (?P<simple>[abfnrtv\\'"])
    | x(?P<byte>[0-9a-fA-F]{2})
    | (?P<octal>[0-7]{3})
    | u(?P<short>[0-9a-fA-F]{4})
    | U(?P<long>[0-9a-fA-F]{8})
    | (?P<wrong>.)
    )"""
)
_SIMPLE = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
}


def number(text: str) -> int | float:
    """Return the value of a number; raise ValueError if it is invalid."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is not a number")
    if match["float"]:
        value = float(text.replace("_", ""))
        if not isfinite(value):
            raise ValueError(f"'{text}' is too large a number")
        return value
    sign = -1 if match["sign"] == "-" else 1
    if match["base"]:
        return sign * int(match["digits"].replace("_", ""), _BASES[match["base"][1].lower()])
    if match["octal"]:
        return sign * int(match["octal"].replace("_", ""), 8)
    return sign * int(match["decimal"].replace("_", ""))


def unquote(text: str) -> str:
    """Return the text in double or back quotes; raise ValueError for a wrong escape."""
    inner = text[1:-1]
    if text[0] == "`":
        return inner.replace("\r", "")
    if "\\" not in inner:
        return inner
    # Bytes written one by one must add up to UTF-8; `surrogateescape` holds them until then.
    raw = _ESCAPE.sub(_unescaped, inner)
    return raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def character(text: str) -> int:
    """Return the code point in single quotes; raise ValueError if there is not exactly one."""
    inner = unquote(text)
    if len(inner) != 1 or text == "'\\\"'":
        raise ValueError(f"{text} is not one character")
    return ord(inner)


def _unescaped(match: re.Match[str]) -> str:
    if match["simple"]:
        return _SIMPLE[match["simple"]]
    if match["byte"] or match["octal"]:
        value = int(match["byte"], 16) if match["byte"] else int(match["octal"], 8)
        if value > 0xFF:
            raise ValueError(f"'{match[0]}' is not a byte")
        return chr(value) if value < 0x80 else chr(0xDC00 + value)
    if match["wrong"]:
        raise ValueError(f"'{match[0]}' is not an escape")
    point = int(match["short"] or match["long"], 16)
    if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
        raise ValueError(f"'{match[0]}' is not a character")
    return chr(point)
