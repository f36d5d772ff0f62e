"""What our templates make of a case of the oracle, by every way that they have, beside Go's answer."""

import json
from typing import Any

from kwokctl.errors import ConfigError, ExpressionError
from kwokctl.expr import gotemplate, yaml
from kwokctl.expr.gotemplate.symbols import Compiler, NotSymbolicError, Symbol

SERIAL = 7
NOW = "2026-01-02T03:04:05.500000000Z"
FUNCTIONS: dict[str, Any] = {
    "Now": lambda: NOW,
    "Name": lambda: f"node-{SERIAL}",
    "Index": lambda: SERIAL,
}
REFUSED = (
    "is not a time",  # Sprig takes the time now for it
    "depends on the current time",  # likewise
    "cannot write a time: use its method",  # Go shows the inside of a struct
    "is not a regular expression",  # where Sprig finds nothing
    "is called with the wrong number of values",  # said before anything is rendered
    "a size of one or more",  # Sprig's `chunk` of a negative size
    "is not base64",  # Sprig's result is the error's words
    "is not base32",
    "would take too long",
    "cannot be rounded to",
    "outside the years 1 to 9999",
    "cannot be written as",  # a time zone
    "cannot be copied",  # likewise
    "has no year",  # Go takes the year 0
    "the address of a value in memory",
    "a missing value cannot be changed",  # Go takes nothing from a map that is nil
    "has no part from",  # Go shows what lies behind a list in memory
    "of a float is not supported",
    "text of that length",
    "cannot be indented by",
)
"""Errors here where Go goes on; docs/reference/stages.md lists them."""

NULL = ("nil pointer evaluating interface {}", "; got interface {}")
"""Go's errors for null, which is as good as missing for us."""
NO_UTF8 = "\ufffd"
"""Replaces half a character that Go writes, and then cannot read as YAML."""


def difference(case: dict[str, Any], data: Any) -> str | None:
    """Return how our answer differs from Go's, by the first way that does; None if none does."""
    before = json.dumps(data)
    try:
        template = gotemplate.compile(case["text"], name="golden")
        written = template.render(data, FUNCTIONS)
    except ExpressionError as e:
        is_known = "fails" in case or any(words in str(e) for words in REFUSED)
        return None if is_known else f"fails: {e}"
    if "fails" in case:
        is_null = any(words in case["fails"] for words in NULL)
        return None if is_null else f"wrote {written!r}"
    if NO_UTF8 in written:
        return None
    if written != case["result"]:
        is_same = _unquoted(written) == _unquoted(case["result"]) or (
            "object" not in case or _same(_loaded(written), case["object"])
        )
        return None if is_same and "YAML" in case["text"] else f"wrote {written!r}"
    wanted = case.get("object", ExpressionError)
    if _has_more(written):
        wanted = ExpressionError
    ways = [
        _loaded(written),
        *(_built(template, data) for _ in range(3)),
        _by_symbols(template, data),
    ]
    for number, found in enumerate(ways):
        if found is not NotSymbolicError and not _same(found, wanted):
            return f"way {number} gave {found!r}"
    return "the data are changed" if json.dumps(data) != before else None


def _unquoted(text: str) -> str:
    """Return a text without quotes: there are many ways to write YAML."""
    return text.translate(dict.fromkeys(map(ord, "\"'\\"))).replace("1.0e+", "1e+")


def _has_more(written: str) -> bool:
    """Return whether there is more after the end of the document: Go does not look there."""
    try:
        yaml.load(written)
    except ConfigError as e:
        return "expected <document start>" in str(e) or "more than one YAML document" in str(e)
    return False


def _loaded(written: str) -> Any:
    try:
        return yaml.load(written)
    except ConfigError:
        return ExpressionError


def _built(template: gotemplate.Template, data: Any) -> Any:
    try:
        return template.render_object(data, FUNCTIONS)
    except ExpressionError:
        return ExpressionError


def _by_symbols(template: gotemplate.Template, data: Any) -> Any:
    """Render for every name and index at once, and fill in one of each."""
    try:
        pattern = template.render_symbols(data, FUNCTIONS, ("Name", "Index"))
        return _filled(pattern, Compiler[int]({"Name": lambda n: f"node-{n}", "Index": int}))
    except NotSymbolicError:
        return NotSymbolicError
    except ExpressionError:
        return NotSymbolicError  # a caller then renders each object


def _filled(value: Any, compiler: Compiler[int]) -> Any:
    if isinstance(value, dict):
        return {_filled(key, compiler): _filled(item, compiler) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, compiler) for item in value]
    return compiler.function(value)(SERIAL) if isinstance(value, Symbol) else value


def _same(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return float(one) == float(other)  # Go writes great floats with zeros at the end
    return bool(one == other)
