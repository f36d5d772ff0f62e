"""A Go template, ready to render."""

import builtins
import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache, partial
from types import CodeType, TracebackType
from typing import Any, NoReturn

from kwokctl.errors import ConfigError, ExpressionError, KwokctlError
from kwokctl.expr import yaml
from kwokctl.expr.budget import LETTERS, BudgetError, metered, spend
from kwokctl.expr.gotemplate import skeletons, symbols
from kwokctl.expr.gotemplate.emission import AS_SKELETON, AS_TEXT, is_marked
from kwokctl.expr.gotemplate.functions import BUILT_IN, TIMELY
from kwokctl.expr.gotemplate.functions.random import RANDOM
from kwokctl.expr.gotemplate.syntax.template_lexer import TemplateSource
from kwokctl.expr.gotemplate.syntax.template_parser import parse
from kwokctl.expr.gotemplate.template_error import TemplateError
from kwokctl.expr.gotemplate.template_expressions import METERED_FUNCTIONS, PREFIX, VALUES
from kwokctl.expr.gotemplate.translator import translate
from kwokctl.expr.line_column import line_and_column
from kwokctl.json_value import Json

Functions = Mapping[str, Callable[..., object]]

_NAMES: dict[str, object] = {
    **VALUES,
    **{f"{PREFIX}{name}": function for name, function in (BUILT_IN | TIMELY).items()},
    **METERED_FUNCTIONS,
}
_ARITY = re.compile(r".*\(\) (takes|missing) .*argument")


class Template:
    """A compiled template; it can be rendered any number of times, with other data each time."""

    __slots__ = (
        "_called", "_code", "_entry", "_fill", "_is_plain", "_places", "_skeletons", "_source", "_write",
        "is_random", "required",
    )  # fmt: skip

    def __init__(self, source: str, name: str = "template") -> None:
        """Compile the text; raise ExpressionError, with line and column, if it is no template."""
        self._source = TemplateSource(source, name)
        parsed = parse(self._source)
        translation = translate(self._source, parsed)
        self.is_random = not RANDOM.keys().isdisjoint(parsed.functions)
        """Whether it calls functions that return another value each time."""
        self.required = frozenset(translation.required)
        """The functions it calls that the caller has to give."""
        self._called = translation.required
        self._places = translation.places
        try:
            self._code = builtins.compile("\n".join(translation.lines), str(id(self)), "exec")
        except (SyntaxError, RecursionError, MemoryError) as e:
            raise ExpressionError(f"template '{name}' is nested too deeply") from e
        self._entry = translation.entry
        self._write = _function(self._code, self._entry, AS_TEXT)
        self._fill = _function(self._code, self._entry, AS_SKELETON)
        self._is_plain = not is_marked(source)
        self._skeletons = skeletons.Skeletons()

    def __repr__(self) -> str:
        return f"Template({self._source.name!r})"

    def place_of(self, function: str) -> str:
        """Return line and column of the first call of a function that the caller has to give."""
        return line_and_column(self._source.text, self._called[function])

    def render(self, data: Json, functions: Functions) -> str:
        """Return the text for `data`, JSON values, with the caller's functions and the built-in ones.

        Raises ExpressionError, with line and column, if that fails; errors of the caller's
        functions that are another kind of KwokctlError are passed on unchanged.
        """
        return metered(self._text, data, functions)

    def _text(self, data: Json, functions: Functions) -> str:
        written: list[str] = []
        try:
            self._write(written.extend, data, functions, None)
        except Exception as e:
            self._fail(e, functions)
        return "".join(written)

    def render_object(self, data: Json, functions: Functions) -> Json:
        """Return the object that the rendered text is in YAML, as `yaml.load` would give it.

        Errors as `render`, and if the text is not YAML. The object is new each time, and shares
        nothing with `data`. A function may be called twice for one object: it must not matter.
        """
        try:
            found = metered(self._built, data, functions) if self._is_plain else None
        except BudgetError as e:
            raise self._too_much(e) from e
        if found is not None:
            return found[0]
        try:
            # What can be filled takes no more steps as a text.
            text = self.render(data, functions)
            if not self._is_plain:
                metered(_read, text)
            return yaml.load(text)
        except BudgetError as e:
            raise self._too_much(e) from e
        except ConfigError as e:
            raise self._no_yaml(e) from e

    def _built(self, data: Json, functions: Functions) -> tuple[Json] | None:
        """Return the object in a tuple; None if its text must be parsed."""
        written: list[str] = []
        kept: list[object] = []
        try:
            self._fill(written.extend, data, functions, kept)
        except Exception as e:
            self._fail(e, functions)
        skeleton = _read("".join(written))
        build = self._skeletons.builder(skeleton)
        if build is None:
            return None
        try:
            return (build(kept),)
        except skeletons.RepeatedKeyError:
            return None
        except (ValueError, OverflowError) as e:
            raise self._no_yaml(e) from e

    def _too_much(self, error: BudgetError) -> BudgetError:
        """Return the error with a place, if it has none yet: then it is in what is written."""
        if error.__cause__ is not None:
            return error
        return BudgetError(f"the output of template '{self._source.name}'")

    def render_symbols(self, data: Json, functions: Functions, unknown: Collection[str]) -> Json:
        """Return the object with symbols where it depends on functions that are not known yet.

        These are the `unknown` ones, which take no values. The others are called once, or later
        with what is known then: they must be pure. Raises NotSymbolicError if the object's shape
        or its keys depend on what is unknown, or if that cannot be known; and errors as `render_object`.
        `data` may hold symbols, too; only functions marked `for_symbols` are given them at once.
        """
        return metered(self._with_symbols, data, functions, unknown)

    def _with_symbols(self, data: Json, functions: Functions, unknown: Collection[str]) -> Json:
        from kwokctl.expr.gotemplate import symbol_calls  # only for many alike objects

        calls = {name: symbols.calling(function) for name, function in functions.items()}
        calls.update((name, partial(symbols.Symbol, name)) for name in unknown)
        written: list[str] = []
        kept: list[object] = []
        try:
            fill = _function(self._code, self._entry, symbol_calls.IN_TEMPLATES)
            fill(written.extend, data, calls, kept)
            build = skeletons.build(_read("".join(written)), symbol_calls.IN_BUILDERS)
            if build is None or not self._is_plain:
                symbols.refuse()
            return build(kept)
        except symbols.NotSymbolicError:
            raise
        except Exception as e:
            self._fail(e, functions)

    def _no_yaml(self, error: Exception) -> ExpressionError:
        return ExpressionError(f"the output of template '{self._source.name}' is not YAML: {error}")

    def _fail(self, error: Exception, functions: Functions) -> NoReturn:
        """Add the place in the template where the error occurred."""
        if isinstance(error, KwokctlError) and not isinstance(error, ExpressionError):
            raise error
        place, is_ours = self._place(error.__traceback__)
        if isinstance(error, BudgetError):
            raise BudgetError(self._source.where(place)) from error
        hint = error.hint if isinstance(error, ExpressionError) else None
        problem = str(error)
        if isinstance(error, RecursionError):
            problem = "it is nested too deeply, or templates call each other without end"
        elif is_ours and isinstance(error, KeyError) and error.args[0] not in functions:
            problem = f"function '{error.args[0]}' is not defined"
        elif isinstance(error, TypeError) and _ARITY.match(problem):
            problem = f"a function is called with the wrong number of values: {problem}"
        elif not isinstance(error, ExpressionError | TemplateError):
            problem = f"{type(error).__name__}: {problem}"
        raise ExpressionError(f"{self._source.where(place)}: {problem}", hint=hint) from error

    def _place(self, traceback: TracebackType | None) -> tuple[int, bool]:
        """Return the offset of the action that failed, and whether the error is its own."""
        place, is_ours = 0, False
        mine = str(id(self))
        while traceback is not None:
            is_ours = traceback.tb_frame.f_code.co_filename == mine
            if is_ours:
                place = self._places[traceback.tb_lineno - 1]
            traceback = traceback.tb_next
        return place, is_ours


def _read(text: str) -> str:
    """Return a text that is read as YAML."""
    spend(len(text) // LETTERS)
    return text


def _function(code: CodeType, entry: str, emission: Mapping[str, object]) -> Callable[..., None]:
    names: dict[str, Any] = {**_NAMES, **emission}
    exec(code, names)  # noqa: S102 - made by the translator, texts by repr
    function: Callable[..., None] = names[entry]
    return function


@lru_cache(maxsize=512)
def compile(source: str, *, name: str = "template") -> Template:
    """Return the compiled template, the same one for the same text and name.

    The name is for errors. Raises ExpressionError, with line and column, if it is no template.
    """
    return Template(source, name)
