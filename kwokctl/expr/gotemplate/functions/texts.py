"""Sprig's functions for texts."""

import re
from collections.abc import Callable

from kwokctl.expr.budget import LETTERS, spend
from kwokctl.expr.gotemplate.functions.arguments import count, text, texts
from kwokctl.expr.gotemplate.functions.words import (
    joined_words,
    pascal_case,
    swapped_case,
    upper_case,
)
from kwokctl.expr.gotemplate.go.formatting import plain, quoted
from kwokctl.expr.gotemplate.go.go_types import StringMap, Strings
from kwokctl.expr.gotemplate.template_error import TemplateError

_LONGEST = 1_000_000
_COPIED = 2048
"""Bytes that are looked at or copied in a step."""
_SPACES = frozenset("\t\n\v\f\r \x85\xa0")


def _title(value: object) -> str:
    return re.sub(r"(?<![^\W])[^\W\d_]", lambda match: upper_case(match[0]), text(value))


def _initials(value: object) -> str:
    return "".join(word[0] for word in text(value).encode().decode("latin-1").split())


def _part(start: object, end: object, value: object) -> str:
    data, start, end = text(value).encode(), count(start), count(end)
    if start < 0:
        start, last = 0, end
    else:
        last = end if 0 <= end <= len(data) else len(data)
    if not 0 <= start <= last <= len(data):
        raise TemplateError(f"a text of {len(data)} bytes has no part from {start} to {last}")
    return data[start:last].decode("utf-8", "replace")


def _truncated(length: object, value: object) -> str:
    data, length = text(value).encode(), count(length)
    part = data[:length] if length >= 0 else data[length:]
    return part.decode("utf-8", "replace")


def _abbreviated(width: object, value: object) -> str:
    return _abbreviated_both(0, width, value)


def _abbreviated_both(offset: object, width: object, value: object) -> str:
    """Cut a text at both sides: https://pkg.go.dev/github.com/Masterminds/goutils#AbbreviateFull."""
    data, offset, width = text(value).encode(), count(offset), count(width)
    if width < 4 or (offset > 0 and width < 7) or len(data) <= width:
        return str(value)
    if len(data) - offset < width - 3:
        offset = len(data) - (width - 3)
    if offset <= 4:
        part = data[: width - 3] + b"..."
    elif width < 7:
        part = b""
    elif offset + width - 3 < len(data):
        inner = data[offset:]
        # What is too narrow to be abbreviated again is nothing.
        short = inner[: width - 6] + b"..." if len(inner) > width - 3 else inner
        part = b"..." + short
    else:
        part = b"..." + data[len(data) - (width - 3) :]
    return part.decode("utf-8", "replace")


def _repeated(times: object, value: object) -> str:
    number, part = count(times), text(value)
    if number * len(part) > _LONGEST or number < 0:
        raise TemplateError("'repeat' cannot make a text of that length")
    return part * number


def indent(spaces: object, value: object) -> str:
    """Return a text with every line indented."""
    width = count(spaces)
    if not 0 <= width <= _LONGEST:
        raise TemplateError(f"a text cannot be indented by {spaces}")
    lead, given = " " * width, text(value)
    spend(width * given.count("\n") // LETTERS)
    return lead + given.replace("\n", "\n" + lead)


def _indent_new(spaces: object, value: object) -> str:
    return "\n" + indent(spaces, value)


def _joined(separator: object, value: object) -> str:
    between, parts = text(separator), texts(value)
    spend(len(between) * len(parts) // LETTERS)
    return between.join(parts)


def _replaced(old: object, new: object, value: object) -> str:
    whole, before, after = text(value), text(old), text(new)
    spend(len(after) * whole.count(before) // LETTERS)
    return whole.replace(before, after)


def _cat(*parts: object) -> str:
    return " ".join(plain(part) for part in parts if part is not None)


def quote(*parts: object) -> str:
    """Return the values as texts in double quotes, without nulls."""
    return " ".join(quoted(plain(part)) for part in parts if part is not None)


def _single_quote(*parts: object) -> str:
    return " ".join(f"'{plain(part)}'" for part in parts if part is not None)


def _numbered(parts: list[str]) -> StringMap:
    return StringMap((f"_{number}", part) for number, part in enumerate(parts))


def _split(separator: object, value: object, limit: int = -1) -> Strings:
    whole_text, separator = text(value), text(separator)
    if not limit:
        return Strings()
    if separator:
        return Strings(whole_text.split(separator, limit - 1 if limit > 0 else -1))
    parts = list(whole_text)
    return Strings(
        parts if limit < 0 else [*parts[: limit - 1], *filter(None, ["".join(parts[limit - 1 :])])]
    )


def _split_all(separator: object, value: object) -> Strings:
    return _split(separator, value)


def _wrapped(width: object, value: object, *, separator: str = "\n", cuts: bool = False) -> str:
    """Break a text into lines of at most a number of bytes, at spaces."""
    rest, width = text(value).encode(), max(count(width), 1)
    spend(
        len(rest) * (len(rest) // width) // _COPIED + len(separator) * len(rest) // width // LETTERS
    )
    lines: list[bytes] = []
    while len(rest) > width:
        if rest[:1] == b" ":
            rest = rest[1:]
            continue
        at = rest.rfind(b" ", 0, width + 1)
        if at < 0 and cuts:
            lines.append(rest[:width])
            rest = rest[width:]
            continue
        at = at if at >= 0 else rest.find(b" ", width)
        if at < 0:
            break
        lines.append(rest[:at])
        rest = rest[at + 1 :]
    return (separator or "\n").encode().join([*lines, rest]).decode("utf-8", "replace")


def _trimmed(value: object) -> str:
    return text(value).strip()


def _trimmed_of(characters: object, value: object) -> str:
    whole, omitted = text(value), text(characters)
    spend(len(whole) * len(omitted) // _COPIED)
    return whole.strip(omitted)


def _squeezed(value: object) -> str:
    """Remove the spaces, byte by byte as Sprig does: it garbles other characters than ASCII."""
    spaced = text(value)
    data = spaced.encode().decode("latin-1")
    kept = "".join(character for character in data if character not in _SPACES)
    return spaced if kept == data else kept


def _plural(one: object, many: object, number: object) -> str:
    one, many = text(one), text(many)
    return str(one if count(number) == 1 else many)


TEXTS: dict[str, Callable[..., object]] = {
    "abbrev": _abbreviated,
    "abbrevboth": _abbreviated_both,
    "camelcase": lambda value: pascal_case(text(value)),
    "cat": _cat,
    "contains": lambda part, value: text(part) in text(value),
    "hasPrefix": lambda prefix, value: text(value).startswith(text(prefix)),
    "hasSuffix": lambda suffix, value: text(value).endswith(text(suffix)),
    "hello": lambda: "Hello!",
    "indent": indent,
    "initials": _initials,
    "join": _joined,
    "kebabcase": lambda value: joined_words(text(value), "-"),
    "lower": lambda value: text(value).lower(),
    "nindent": _indent_new,
    "nospace": _squeezed,
    "plural": _plural,
    "quote": quote,
    "repeat": _repeated,
    "replace": _replaced,
    "snakecase": lambda value: joined_words(text(value), "_"),
    "split": lambda separator, value: _numbered(_split(separator, value)),
    "splitList": _split_all,
    "splitn": lambda separator, number, value: _numbered(_split(separator, value, count(number))),
    "squote": _single_quote,
    "substr": _part,
    "swapcase": lambda value: swapped_case(text(value)),
    "title": _title,
    "toString": plain,
    "toStrings": texts,
    "trim": _trimmed,
    "trimAll": _trimmed_of,
    "trimPrefix": lambda prefix, value: text(value).removeprefix(text(prefix)),
    "trimSuffix": lambda suffix, value: text(value).removesuffix(text(suffix)),
    "trimall": _trimmed_of,
    "trunc": _truncated,
    "untitle": lambda value: re.sub(r"(?<!\S)\S", lambda match: match[0].lower(), text(value)),
    "upper": lambda value: upper_case(text(value)),
    "wrap": _wrapped,
    "wrapWith": lambda width, separator, value: _wrapped(
        width, value, separator=text(separator), cuts=True
    ),
}
