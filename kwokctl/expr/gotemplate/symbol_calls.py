"""The functions that compiled templates and skeletons call for symbols."""

from collections.abc import Callable, Mapping

from kwokctl.expr.gotemplate.emission import AS_SKELETON, QUOTED, RAW, Values, is_safe
from kwokctl.expr.gotemplate.functions import BUILT_IN, TIMELY
from kwokctl.expr.gotemplate.functions.maps import CHANGING
from kwokctl.expr.gotemplate.functions.random import RANDOM
from kwokctl.expr.gotemplate.go.formatting import plain, quotable, text
from kwokctl.expr.gotemplate.skeletons import NAMES
from kwokctl.expr.gotemplate.symbols import Symbol, TextSymbol, deferring, refuse, refusing, strict
from kwokctl.expr.gotemplate.template_error import TemplateError
from kwokctl.expr.gotemplate.template_expressions import METERED, METERED_FUNCTIONS, PREFIX, VALUES

_IMPURE = CHANGING | {"call", "fail"}
"""Functions that change a map, or fail on purpose."""
_BY_SHAPE = frozenset({"dict", "first", "get", "hasKey", "index", "keys", "last", "len", "list",
                       "omit", "pick", "rest", "values"})  # fmt: skip
"""Functions that do not look at the values in the maps and lists that they are given."""


def safe_text(value: object) -> str:
    """Return a text that means the same at every place in YAML; raise Fault for another."""
    written = text(value)
    if not is_safe(written):
        raise TemplateError(f"'{written}' needs quotes in YAML: write it with 'Quote'")
    return written


def quoted_text(value: object) -> str:
    """Return the text that Sprig's `quote` puts in quotes; nothing, which has none, is an error."""
    if value is None:
        raise TemplateError("'quote' writes no quotes for a missing value")
    return plain(value)


def _raw(value: object, kept: Values) -> str:
    if not isinstance(value, Symbol):
        return AS_SKELETON["raw"](value, kept)
    kept.append(Symbol(safe_text, value))
    return RAW


def _quote(kept: Values, value: object = None) -> str:
    if not isinstance(value, Symbol):
        return AS_SKELETON["quote"](kept, value)
    kept.append(Symbol(quotable, value))
    return f'"{QUOTED}"'


def _quote_each(kept: Values, *arguments: object) -> str:
    if not any(isinstance(argument, Symbol) for argument in arguments):
        return AS_SKELETON["quote_text"](kept, *arguments)
    if len(arguments) > 1:
        refuse()
    kept.append(Symbol(quoted_text, *arguments))
    return f'"{QUOTED}"'


def _exact(value: object) -> object:
    return value if isinstance(value, TextSymbol) else _exact_later(value)


_exact_later = deferring(VALUES["exact"])


def _built_in(name: str, function: Callable[..., object]) -> Callable[..., object]:
    if name in RANDOM:
        return _random
    if name in _IMPURE:
        return refusing(function)
    return deferring(function) if name in _BY_SHAPE else strict(function)


def _random(*_arguments: object) -> object:
    """Refuse a value that differs per object in an unknown way."""
    refuse()


IN_TEMPLATES: Mapping[str, Callable[..., object]] = {
    **AS_SKELETON,
    "raw": _raw,
    "quote": _quote,
    "quote_text": _quote_each,
    **{name: refusing(value) if callable(value) else value for name, value in VALUES.items()},
    "exact": _exact,
    "index": deferring(VALUES["index"]),
    "looked": VALUES["looked"],
    **{f"{PREFIX}{name}": _built_in(name, f) for name, f in (BUILT_IN | TIMELY).items()},
    **{n: _built_in(n.removeprefix(METERED), f) for n, f in METERED_FUNCTIONS.items()},
}
"""The functions that the code of a template calls. Branches need no care: a symbol has no truth."""

IN_BUILDERS: Mapping[str, Callable[..., object]] = {
    **{name: deferring(function) for name, function in NAMES.items()},
    "key": refusing(NAMES["key"]),
    "distinct": NAMES["distinct"],
}
"""The functions that the code of a builder calls."""

SAYS_THE_SAME = frozenset({quotable, quoted_text, safe_text, NAMES["resolve"]})
"""Functions that leave a text as it is; the last but for one that YAML takes for something else."""
