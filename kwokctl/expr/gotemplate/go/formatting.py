"""Formats values like Go: `%v`, `%q` and JSON."""

import re
from collections.abc import Mapping
from json.encoder import encode_basestring as json_text

from kwokctl.expr import yaml_scalars
from kwokctl.expr.gotemplate.go.go_times import Moment
from kwokctl.expr.gotemplate.go.go_types import NIL, Number
from kwokctl.expr.gotemplate.go.go_values import is_list
from kwokctl.expr.gotemplate.go.numerals import json_number, shortest
from kwokctl.json_value import Json

NO_VALUE = "<no value>"
_WORDS = {True: "true", False: "false", None: "<nil>"}
_JSON_WORDS = {True: "true", False: "false", None: "null"}

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
# Characters that JSON may hold unescaped, but HTML, JavaScript or YAML readers would misread.
_ESCAPED = re.compile("[<>&\u2028\u2029\ufeff\ufffe\uffff\x7f-\x9f]")


def text(value: object) -> str:
    """Return what an action writes for a value."""
    if type(value) is str:
        return value
    return NO_VALUE if value is None else plain(value)


def plain(value: object) -> str:
    """Return a value as `%v` writes it: `map[a:1 b:[x y]]`, `<nil>`."""
    if type(value) is str:
        return value
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


def quoted(value: str, *, ascii_only: bool = False) -> str:
    """Return a text as `%q` writes it."""
    return f'"{"".join(escaped(character, ascii_only=ascii_only) for character in value)}"'


def escaped(character: str, *, ascii_only: bool = False) -> str:
    """Return a character as Go writes it between double quotes."""
    if character in _SPECIAL:
        return _SPECIAL[character]
    point = ord(character)
    if character.isprintable() and (point < 0x80 or not ascii_only):
        return character
    if point < 0x80:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def to_json(value: object, *, indent: int | None = None, html: bool = True) -> str:
    """Return a value as Go writes JSON: sorted keys, `<`, `>` and `&` escaped for HTML."""
    written = _json(value, "" if indent is None else " " * indent, "\n")
    return _ESCAPED.sub(_unicode, written) if html else written


def _unicode(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _json(value: object, step: str, line: str) -> str:
    """Return JSON; with a `step`, each item is on its own line, which begins with `line`."""
    inner = line + step
    if isinstance(value, Mapping):
        colon = ": " if step else ":"
        parts = [f"{json_text(str(k))}{colon}{_json(value[k], step, inner)}" for k in sorted(value)]
        return _enclosed("{}", parts, step, line)
    if is_list(value) and not isinstance(value, NIL):
        return _enclosed("[]", [_json(item, step, inner) for item in value], step, line)
    return _json_scalar(value)


def _json_scalar(value: object) -> str:
    if isinstance(value, bool) or value is None or isinstance(value, NIL):
        return _JSON_WORDS[value if isinstance(value, bool) else None]
    if isinstance(value, str):
        return str(value) if isinstance(value, Number) else json_text(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return json_number(value)
    if isinstance(value, Moment):
        return json_text(value.json())
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


def _enclosed(braces: str, parts: list[str], step: str, line: str) -> str:
    if not step or not parts:
        return f"{braces[0]}{','.join(parts)}{braces[1]}"
    return f"{braces[0]}{line}{step}{f',{line}{step}'.join(parts)}{line}{braces[1]}"


def quote(value: object) -> str:
    """Return kwok's `Quote`: a text as a JSON string; any other value as a JSON string that holds its JSON."""
    return to_json(quotable(value))


def quotable(value: object) -> str:
    """Return the text that `Quote` puts in quotes."""
    if isinstance(value, str):
        return str(value)
    return value.json() if isinstance(value, Moment) else to_json(value)


def from_yaml(value: object) -> Json:
    """Return a copy of a value as it would come back from YAML: with the numbers of Python."""
    if type(value) is str:
        return value
    if isinstance(value, Mapping):
        return {str(key): from_yaml(item) for key, item in value.items()}
    if is_list(value) and not isinstance(value, NIL):
        return [from_yaml(item) for item in value]
    return _scalar_from_yaml(value)


def _scalar_from_yaml(value: object) -> object:
    if isinstance(value, Number):
        return yaml_scalars.resolve(str(value))
    if isinstance(value, float):
        return yaml_scalars.number(float(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, Moment):
        return value.json()
    return None if isinstance(value, NIL) else value
