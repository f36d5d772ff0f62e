"""Sprig's functions for texts."""

import re
from collections.abc import Callable
from typing import Any

from kwokctl.expr.gotemplate.functions.arguments import count, text, texts, whole
from kwokctl.expr.gotemplate.values import Fault
from kwokctl.expr.gotemplate.writing import plain, quoted

_LONGEST = 1_000_000


def _title(value: Any) -> str:
    return re.sub(r"(?<![^\W])[^\W\d_]", lambda match: match[0].upper(), text(value))


def _initials(value: Any) -> str:
    return "".join(word[0] for word in text(value).split())


def _part(start: Any, end: Any, value: Any) -> str:
    data, start, end = text(value).encode(), count(start), count(end)
    if start >= 0 and 0 <= end < start:
        raise Fault("the end of 'substr' comes before its start")
    part = data[:end] if start < 0 else data[start:] if end < 0 else data[start:end]
    return part.decode("utf-8", "replace")


def _truncated(length: Any, value: Any) -> str:
    data, length = text(value).encode(), count(length)
    part = data[length:] if length < 0 else data[:length]
    return part.decode("utf-8", "replace")


def _abbreviated(width: Any, value: Any) -> str:
    value, width = text(value), count(width)
    if width < 4:
        return str(value)
    return value if len(value) <= width else f"{value[: width - 3]}..."


def _repeated(times: Any, value: Any) -> str:
    if count(times) * len(text(value)) > _LONGEST or times < 0:
        raise Fault("'repeat' cannot make a text of that length")
    return str(value) * int(times)


def _words(value: Any) -> list[str]:
    """Cut a text into words, at signs and where lower case becomes upper case."""
    words: list[str] = []
    for part in re.split(r"[\W_]+", text(value)):
        words += re.findall(r"[^\W\da-z_]+(?![a-z])|[^\W\da-z_]?[^\W\dA-Z_]+|\d+", part)
    joined: list[str] = []
    for word in words:  # a number belongs to the word before
        if word.isdigit() and joined:
            joined[-1] += word
        else:
            joined.append(word)
    return [word.lower() for word in joined]


def _camel(value: Any) -> str:
    words = re.split(r"[\s_-]+|(?<=[a-z])(?=[A-Z])", text(value))
    lead = re.match(r"_*", value)
    return (lead[0] if lead else "") + "".join(map(str.capitalize, words))


def indent(spaces: Any, value: Any) -> str:
    """Return a text with every line indented."""
    lead = " " * count(spaces)
    return lead + text(value).replace("\n", "\n" + lead)


def _indent_new(spaces: Any, value: Any) -> str:
    return "\n" + indent(spaces, value)


def _cat(*parts: Any) -> str:
    return " ".join(plain(part) for part in parts if part is not None)


def quote(*parts: Any) -> str:
    """Return the values as texts in double quotes, without nulls."""
    return " ".join(quoted(plain(part)) for part in parts if part is not None)


def _single_quote(*parts: Any) -> str:
    return " ".join(f"'{plain(part)}'" for part in parts if part is not None)


def _numbered(parts: list[str]) -> dict[str, str]:
    return {f"_{number}": part for number, part in enumerate(parts)}


def _split(separator: Any, value: Any, limit: int = -1) -> list[str]:
    whole_text = text(value)
    if text(separator):
        return whole_text.split(separator, limit - 1 if limit > 0 else -1)
    parts = list(whole_text)
    return parts if limit < 0 else [*parts[: limit - 1], "".join(parts[limit - 1 :])]


def _wrapped(width: Any, value: Any, *, separator: str = "\n", cuts: bool = False) -> str:
    rest, width = text(value), max(count(width), 1)
    lines: list[str] = []
    while len(rest) > width:
        if rest[0] == " ":
            rest = rest[1:]
            continue
        at = rest.rfind(" ", 0, width + 1)
        if at < 0 and cuts:
            lines.append(rest[:width])
            rest = rest[width:]
            continue
        at = at if at >= 0 else rest.find(" ", width)
        if at < 0:
            break
        lines.append(rest[:at])
        rest = rest[at + 1 :]
    return separator.join([*lines, rest])


def _trimmed(value: Any) -> str:
    return text(value).strip()


def _squeezed(value: Any) -> str:
    return "".join(text(value).split())


def _swapped(value: Any) -> str:
    return text(value).swapcase()


def _plural(one: Any, many: Any, number: Any) -> str:
    return text(one if number == 1 else many)


TEXTS: dict[str, Callable[..., Any]] = {
    "abbrev": _abbreviated,
    "camelcase": _camel,
    "cat": _cat,
    "contains": lambda part, value: text(part) in text(value),
    "hasPrefix": lambda prefix, value: text(value).startswith(text(prefix)),
    "hasSuffix": lambda suffix, value: text(value).endswith(text(suffix)),
    "indent": indent,
    "initials": _initials,
    "join": lambda separator, value: text(separator).join(texts(value)),
    "kebabcase": lambda value: "-".join(_words(value)),
    "lower": lambda value: text(value).lower(),
    "nindent": _indent_new,
    "nospace": _squeezed,
    "plural": _plural,
    "quote": quote,
    "repeat": _repeated,
    "replace": lambda old, new, value: text(value).replace(text(old), text(new)),
    "snakecase": lambda value: "_".join(_words(value)),
    "split": lambda separator, value: _numbered(_split(separator, value)),
    "splitList": _split,
    "splitn": lambda separator, number, value: _numbered(_split(separator, value, whole(number))),
    "squote": _single_quote,
    "substr": _part,
    "swapcase": _swapped,
    "title": _title,
    "toString": plain,
    "toStrings": texts,
    "trim": _trimmed,
    "trimAll": lambda characters, value: text(value).strip(text(characters)),
    "trimPrefix": lambda prefix, value: text(value).removeprefix(text(prefix)),
    "trimSuffix": lambda suffix, value: text(value).removesuffix(text(suffix)),
    "trimall": lambda characters, value: text(value).strip(text(characters)),
    "trunc": _truncated,
    "untitle": lambda value: re.sub(r"(?<!\S)[A-Z]", lambda match: match[0].lower(), text(value)),
    "upper": lambda value: text(value).upper(),
    "wrap": _wrapped,
    "wrapWith": lambda width, separator, value: _wrapped(
        width, value, separator=text(separator), cuts=True
    ),
}
