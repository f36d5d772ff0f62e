"""Writes the values of actions: as text, or as placeholders that keep the value aside.

With placeholders, what is written depends on nothing but the branches that were taken. There are
four, from Unicode's private use area:

- `RAW` represents a text that means the same at every place in YAML;
- `QUOTED`, in double quotes, for a text that is a whole scalar;
- `OBJECT`, in double quotes, for a value that is a whole node;
- `BLOCK`, likewise and with its indentation, for one that is a whole node if it is indented enough.
"""

import re
from collections.abc import Callable

from kwokctl.expr import yaml
from kwokctl.expr.budget import SHORT, looked
from kwokctl.expr.gotemplate.go.formatting import (
    from_yaml,
    plain,
    quotable,
    quote,
    quoted,
    text,
    to_json,
)
from kwokctl.expr.gotemplate.go.go_types import UntypedConstant
from kwokctl.expr.gotemplate.template_error import TemplateError

RAW = "\ue000"
QUOTED = "\ue001"
OBJECT = "\ue002"
BLOCK = "\ue003"
SPOILED = "\ue004"
"""Marks what can be no skeleton, because a value has one of these characters in it."""

_QUOTED = f'"{QUOTED}"'
_OBJECT = f'"{OBJECT}"'
_MARKS = frozenset((RAW, QUOTED, OBJECT, BLOCK, SPOILED))
# Nothing that YAML knows as an indicator, at no place where it would be one.
is_safe = re.compile(
    r"(?:-?[A-Za-z0-9_]+|[A-Za-z0-9_](?:[A-Za-z0-9_./:+=@-]*[A-Za-z0-9_])?)\Z"
).match

Values = list[object]


def is_marked(source: str) -> bool:
    """Return whether the text contains one of the placeholder characters."""
    return any(mark in source for mark in _MARKS)


def _raw_text(value: object, _values: Values) -> str:
    return looked(text(value))


def _quote_text(_values: Values, value: object = None) -> str:
    return looked(quote(value))


def _quote_each_text(_values: Values, *arguments: object) -> str:
    return looked(" ".join([quoted(plain(each)) for each in arguments if each is not None]))


def _block_text(_values: Values, value: object, indent: object = 0) -> str:
    return block(value, indent)


def _json_text(_values: Values, value: object) -> str:
    return to_json(value)


def block(value: object, indent: object = 0) -> str:
    """Return a value as YAML: kwok's `YAML`. Indented by levels of two spaces, on a new line."""
    written = yaml.dump(from_yaml(value), sort_keys=True)
    lead = "  " * levels(indent)
    return f"\n{written}".replace("\n", f"\n{lead}") if lead else written


def levels(indent: object) -> int:
    """Return the levels of indentation that `YAML` is requested."""
    if type(indent) is not int and not (
        isinstance(indent, UntypedConstant) and indent.is_integer()
    ):
        raise TemplateError("the indentation of 'YAML' must be a whole number")
    return max(int(indent), 0)


def _raw_kept(value: object, values: Values) -> str:
    written = value if type(value) is str else text(value)
    if len(written) > SHORT:
        looked(written)
    if is_safe(written):
        values.append(written)
        return RAW
    return SPOILED if is_marked(written) else written


def _quote_kept(values: Values, value: object = None) -> str:
    written = value if type(value) is str else quotable(value)
    if len(written) > SHORT:
        looked(written)
    values.append(written)
    return _QUOTED


def _quote_each_kept(values: Values, *arguments: object) -> str:
    if len(arguments) != 1 or arguments[0] is None:
        return _quote_each_text(values, *arguments)
    values.append(looked(plain(arguments[0])))
    return _QUOTED


def _block_kept(values: Values, value: object, indent: object = 0) -> str:
    values.append(value)
    return f'"{BLOCK}{levels(indent)}"'


def _json_kept(values: Values, value: object) -> str:
    values.append(value)
    return _OBJECT


AS_TEXT: dict[str, Callable[..., str]] = {
    "raw": _raw_text,
    "quote": _quote_text,
    "quote_text": _quote_each_text,
    "block": _block_text,
    "block_json": _json_text,
}
"""The functions with which compiled code writes values as text."""

AS_SKELETON: dict[str, Callable[..., str]] = {
    "raw": _raw_kept,
    "quote": _quote_kept,
    "quote_text": _quote_each_kept,
    "block": _block_kept,
    "block_json": _json_kept,
}
"""The same, for a skeleton."""
