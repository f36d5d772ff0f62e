"""Sprig's functions for regular expressions; an invalid one is always an error."""

import re
from collections.abc import Callable
from itertools import islice

from kwokctl.expr.budget import looked
from kwokctl.expr.gotemplate.functions.arguments import count, text
from kwokctl.expr.gotemplate.go.go_types import NilStrings, Strings
from kwokctl.expr.gotemplate.template_error import TemplateError
from kwokctl.expr.regexp import Regexp, RegexpError, RegexpMatch, compile_regexp

_REFERENCE = re.compile(r"\$(?:\$|\{(\w+)\}|(\w+))")


def _compiled(pattern: object) -> Regexp:
    written = text(pattern)
    try:
        return compile_regexp(written)
    except RegexpError as e:
        raise TemplateError(f"'{written}' is not a regular expression: {e}") from e


def _is_found(pattern: object, value: object) -> bool:
    return _compiled(pattern).is_in(text(value))


def _find(pattern: object, value: object) -> str:
    match = _compiled(pattern).search(text(value))
    return match.whole if match else ""


def _find_all(pattern: object, value: object, most: object) -> Strings:
    limit = count(most)
    matches = islice(_compiled(pattern).all(text(value)), None if limit < 0 else limit)
    found = [match.whole for match in matches]
    return Strings(found) if found else NilStrings()


def _replace(pattern: object, value: object, replacement: object) -> str:
    """Replace every match; `$1` and `${name}` are groups, unknown ones are empty."""
    written = text(replacement)

    def expand(match: RegexpMatch) -> str:
        return _REFERENCE.sub(lambda reference: _group(match, reference), written)

    return _replaced(pattern, value, expand)


def _replaced(pattern: object, value: object, expand: Callable[[RegexpMatch], str]) -> str:
    whole = text(value)
    parts: list[str] = []
    at = 0
    for match in _compiled(pattern).all(whole):
        parts += [whole[at : match.start()], looked(expand(match))]
        at = match.end()
    return "".join([*parts, whole[at:]])


def _group(match: RegexpMatch, reference: re.Match[str]) -> str:
    name = reference[1] or reference[2]
    if name is None:
        return "$"
    try:
        return match.group(int(name) if name.isdecimal() else name) or ""
    except LookupError:
        return ""


def _replace_literally(pattern: object, value: object, replacement: object) -> str:
    written = text(replacement)
    return _replaced(pattern, value, lambda _: written)


def _split(pattern: object, value: object, most: object) -> Strings:
    """Do as https://pkg.go.dev/regexp#Regexp.Split does."""
    whole = text(value)
    regexp = _compiled(pattern)
    limit = count(most)
    if limit == 0 or (pattern and not whole):
        return Strings([""]) if most else NilStrings()
    parts: list[str] = []
    start = end = 0
    for match in regexp.all(whole):
        if limit > 0 and len(parts) == limit - 1:
            break
        end = match.start()
        if match.end() != 0:
            parts.append(whole[start:end])
        start = match.end()
    if end != len(whole):
        parts.append(whole[start:])
    return Strings(parts)


PATTERNS: dict[str, Callable[..., object]] = {
    "regexFind": _find,
    "regexFindAll": _find_all,
    "regexMatch": _is_found,
    "regexQuoteMeta": lambda value: re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text(value)),
    "regexReplaceAll": _replace,
    "regexReplaceAllLiteral": _replace_literally,
    "regexSplit": _split,
}
