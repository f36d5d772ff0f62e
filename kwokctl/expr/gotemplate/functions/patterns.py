"""Sprig's functions for regular expressions.

Python's expressions are near enough to Go's for what templates do; a wrong one is always an error.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from kwokctl.expr.gotemplate.functions.arguments import count, text
from kwokctl.expr.gotemplate.values import Fault

_REFERENCE = re.compile(r"\$(?:\$|\{(\w+)\}|(\w+))")


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern.replace(r"\z", r"\Z"))
    except (re.error, RecursionError, OverflowError) as e:
        raise Fault(f"'{pattern}' is not a regular expression: {e}") from e


def _find(pattern: Any, value: Any) -> str:
    match = _compiled(text(pattern)).search(text(value))
    return match[0] if match else ""


def _find_all(pattern: Any, value: Any, most: Any) -> list[str]:
    found = [match[0] for match in _compiled(text(pattern)).finditer(text(value))]
    return found if count(most) < 0 else found[:most]


def _replace(pattern: Any, value: Any, replacement: Any) -> str:
    """Replace every match; `$1` and `${name}` stand for groups, nothing for unknown ones."""

    def expand(match: re.Match[str]) -> str:
        return _REFERENCE.sub(lambda reference: _group(match, reference), text(replacement))

    return _compiled(text(pattern)).sub(expand, text(value))


def _group(match: re.Match[str], reference: re.Match[str]) -> str:
    name = reference[1] or reference[2]
    if name is None:
        return "$"
    try:
        return match[int(name) if name.isdecimal() else name] or ""
    except IndexError:
        return ""


def _replace_literally(pattern: Any, value: Any, replacement: Any) -> str:
    return _compiled(text(pattern)).sub(lambda _: text(replacement), text(value))


def _split(pattern: Any, value: Any, most: Any) -> list[str]:
    parts: list[str] = []
    start, value = 0, text(value)
    for match in _compiled(text(pattern)).finditer(value):
        if most > 0 and len(parts) == most - 1:
            break
        if match.end() > match.start() or 0 < match.start() < len(value):
            parts.append(value[start : match.start()])
            start = match.end()
    return [] if count(most) == 0 else [*parts, value[start:]]


PATTERNS: dict[str, Callable[..., Any]] = {
    "regexFind": _find,
    "regexFindAll": _find_all,
    "regexMatch": lambda pattern, value: bool(_compiled(text(pattern)).search(text(value))),
    "regexQuoteMeta": lambda value: re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text(value)),
    "regexReplaceAll": _replace,
    "regexReplaceAllLiteral": _replace_literally,
    "regexSplit": _split,
}
