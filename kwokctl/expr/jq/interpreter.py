"""The interpreter of jq, loaded once more under a name of its own, so that it counts its steps.

Regular expressions are as gojq has them.

A program that uses purejq itself, such as a test with our plug-in, has it as it is.
"""

import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from types import ModuleType

from kwokctl.expr.jq.metering import meter
from kwokctl.expr.regexp import Regexp, RegexpError, RegexpMatch, compile_regexp

_NAME = f"{__package__}.purejq"
_FLAGS = frozenset("gim")


@cache
def interpreter() -> ModuleType:
    """Load the interpreter late: most programs do not need it."""
    found = find_spec("purejq")
    assert found is not None
    spec = spec_from_file_location(
        _NAME, found.origin, submodule_search_locations=found.submodule_search_locations
    )
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[_NAME] = module_from_spec(spec)
    spec.loader.exec_module(module)
    meter(_NAME)
    builtins = import_module(f"{_NAME}.builtins")
    builtins.__dict__.update(_regular_expressions(module.JqError))
    return module


def _regular_expressions(error: type[Exception]) -> dict[str, object]:
    """Return what takes the place of Python's `re`: https://pkg.go.dev/github.com/itchyny/gojq.

    `error` is the interpreter's, which a program can catch.
    """

    def compiled(pattern: object, flags: object) -> tuple[Regexp, bool]:
        if not isinstance(pattern, str) or not isinstance(flags, str | None):
            raise error("a regular expression and its flags must be strings")
        given = set(flags or "")
        if not given <= _FLAGS:
            raise error(f"'{flags}' has flags of regular expressions other than g, i and m")
        prefix = ("(?i)" if "i" in given else "") + ("(?s)" if "m" in given else "")
        try:
            return compile_regexp(prefix + pattern), "g" in given
        except RegexpError as e:
            raise error(f"'{pattern}' is not a regular expression: {e}") from e

    return {"_compile_regex": compiled, "_iter_matches": _matches}


def _matches(regexp: Regexp, text: str, every: bool) -> Iterator[RegexpMatch]:  # noqa: FBT001 - purejq passes it by position
    first = regexp.all(text) if every else iter([regexp.search(text)])
    return (match for match in first if match is not None)
