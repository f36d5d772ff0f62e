"""The functions that every template has: Go's own, kwok's, and those of Sprig.

The names and what they do are those of https://pkg.go.dev/text/template and
https://masterminds.github.io/sprig. Those of Sprig that are refused are in `refused`.
"""

from collections.abc import Callable
from functools import lru_cache
from inspect import signature
from operator import ge, gt, le, lt

from kwokctl.expr.gotemplate import emission
from kwokctl.expr.gotemplate.functions.choices import CHOICES
from kwokctl.expr.gotemplate.functions.dates import DATES, ago, current
from kwokctl.expr.gotemplate.functions.encodings import ENCODINGS
from kwokctl.expr.gotemplate.functions.lists import LISTS
from kwokctl.expr.gotemplate.functions.maps import MAPS
from kwokctl.expr.gotemplate.functions.numbers import NUMBERS
from kwokctl.expr.gotemplate.functions.patterns import PATTERNS
from kwokctl.expr.gotemplate.functions.random import RANDOM
from kwokctl.expr.gotemplate.functions.semantic_versions import VERSIONS
from kwokctl.expr.gotemplate.functions.texts import TEXTS
from kwokctl.expr.gotemplate.go import formatting, go_values, printf

_SPRIG: dict[str, Callable[..., object]] = {
    **CHOICES,
    **DATES,
    **ENCODINGS,
    **LISTS,
    **MAPS,
    **NUMBERS,
    **PATTERNS,
    **RANDOM,
    **TEXTS,
    **VERSIONS,
}
_MUST = ("append", "chunk", "compact", "deepCopy", "first", "has", "initial", "last", "merge",
         "mergeOverwrite", "prepend", "push", "regexFind", "regexFindAll", "regexMatch",
         "regexReplaceAll", "regexReplaceAllLiteral", "regexSplit", "rest", "reverse", "slice",
         "toJson", "toPrettyJson", "toRawJson", "uniq", "without")  # fmt: skip
_GO: dict[str, Callable[..., object]] = {
    "call": go_values.call,
    "eq": go_values.equal,
    "ge": go_values.ordering(ge),
    "gt": go_values.ordering(gt),
    "index": go_values.index,
    "le": go_values.ordering(le),
    "len": go_values.length,
    "lt": go_values.ordering(lt),
    "ne": go_values.unequal,
    "not": lambda value: not value,
    "print": printf.sprint,
    "printf": printf.sprintf,
    "println": printf.sprintln,
}
_KWOK: dict[str, Callable[..., object]] = {"Quote": formatting.quote, "YAML": emission.block}

BUILT_IN: dict[str, Callable[..., object]] = {**_GO, **_SPRIG, **_KWOK}
"""The functions by name; Sprig's `slice` takes the place of Go's. Errors of Sprig's are always errors,
so `must…` is but another name."""
BUILT_IN |= {f"must{name[0].upper()}{name[1:]}": BUILT_IN[name] for name in _MUST}

TIMELY: dict[str, Callable[..., object]] = {"now": current, "ago": ago}
"""Functions to which what the caller's `now`, or else its `Now`, returns is given as first value."""


@lru_cache(maxsize=1024)
def takes(name: str, count: int) -> bool:
    """Return whether a function can be called with that many values."""
    try:
        signature((BUILT_IN | TIMELY)[name]).bind(*range(count))
    except TypeError:
        return False
    return True


READING = frozenset(
    {"coalesce", "default", "empty", "first", "get", "hasKey", "index", "last", "len", "not", "ternary"}
)  # fmt: skip
"""The functions that take as long for a large value as for a small one."""
FLAT = frozenset(
    {"append", "concat", "initial", "keys", "mustAppend", "mustInitial", "mustPrepend", "mustPush", "mustRest",
     "mustReverse", "mustSlice", "omit", "pick", "prepend", "push", "rest", "reverse", "set", "slice", "unset", "values"}
)  # fmt: skip
"""The functions that copy one level of their first value at most."""
MODEST = READING | frozenset(
    {"add", "add1", "atoi", "ceil", "contains", "date", "dateInZone", "div", "eq", "floor", "ge", "gt", "hasPrefix",
     "hasSuffix", "int", "int64", "le", "lower", "lt", "max", "min", "mod", "mul", "ne", "now", "randInt", "round", "sub",
     "substr", "trim", "trimPrefix", "trimSuffix", "trunc"}
)  # fmt: skip
"""The functions that make nothing larger than what they are given: one call of each takes next to no steps.

Of the others some in a row can make a value of any size.
"""

COUNTING = frozenset(
    {"YAML", "abbrev", "abbrevboth", "chunk", "indent", "mustChunk", "mustRegexFindAll",
     "mustRegexSplit", "nindent", "plural", "randAlpha", "randAlphaNum", "randAscii", "randBytes", "randInt",
     "randNumeric", "regexFindAll", "regexSplit", "repeat", "round", "seq", "splitn", "substr",
     "trunc", "until", "untilStep", "wrap", "wrapWith"}
)  # fmt: skip
"""The functions with whole numbers as arguments: there, Go takes a constant such as `2.0` for one."""

__all__ = [
    "BUILT_IN",
    "COUNTING",
    "FLAT",
    "MODEST",
    "READING",
    "TIMELY",
    "maps",
    "random",
    "refused",
    "takes",
]
