"""Writes the function that computes what differs between the objects of a shape.

It is written while something runs on one of them: a template that is rendered with symbols for the
object's texts, or a function that is traced with them.
"""

import math
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from kwokctl.expr.gotemplate.go.formatting import quotable
from kwokctl.expr.gotemplate.symbol_calls import quoted_text
from kwokctl.expr.gotemplate.symbols import Symbol, TextSymbol, for_symbols, refuse, stripped
from kwokctl.json_value import Json
from kwokctl.kube.statuses.leaves import is_address
from kwokctl.specialization.holes import Hole, HoleContent, content_of_address, is_plain, mapped
from kwokctl.specialization.shape import Holes
from kwokctl.specialization.traced_values import Traceable, Traced, TracedNumber, TracedText, bare

Functions = Mapping[str, Callable[..., Any]]
Compute: TypeAlias = Callable[..., tuple[Holes, tuple[Any, ...]]]
"""Returns the texts of an object afterwards, and other results.

It is given the texts before, the functions, and the numbers that were named. Raises MisfitError, and
whatever the functions raise.
"""

_TEXTS = (quotable, quoted_text)
"""Functions of templates that leave a text as it is."""
_LITERALS = (str, int, bool, type(None))
_INFIX: Mapping[Traceable, str] = {
    operator.add: "+", operator.sub: "-", operator.truediv: "/",
    operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "==",
}  # fmt: skip
_NO_NUMBERS: Mapping[str, float] = {}


class FunctionNames(NamedTuple):
    """The properties of the functions that templates may call."""

    pure: Collection[str]
    """Those that return the same for the same arguments."""
    of_the_moment: Collection[str]
    """Those that are called anew for each object, and return addresses, unless they are of `times`."""
    times: Collection[str]
    """Those of them that return a time of day."""
    texts: Collection[str] = ()
    """Those of them that return a list of any texts."""


class MisfitError(Exception):
    """An object is not like the one with which a play was proven: it must be played by itself."""


class Source:
    """The code for what is done with one object, written while that is done."""

    def __init__(
        self,
        holes: Sequence[Hole],
        sample: Holes,
        functions: Functions,
        names: FunctionNames,
        numbers: Mapping[str, float] = _NO_NUMBERS,
        times: Collection[Traceable] = (),
    ) -> None:
        """Begin with the holes of a shape, an object's texts, and functions to call.

        `numbers` differ between objects, too; `times` are the traced functions that return times of day.
        """
        self._known = names
        self._holes = holes
        self._sample = sample
        self._given = functions
        self._names: dict[str, Any] = {
            "addresses": _addresses,
            "checked": _checked,
            "counted": _counted,
            "MisfitError": MisfitError,
        }
        self._lines: list[str] = []
        self._inputs = {name: TracedNumber(self, number, name) for name, number in numbers.items()}
        self._code = {f"hole {number}": f"h{number}" for number in range(len(sample))}
        self._code |= {name: name for name in numbers}
        self._times = times
        self._results: dict[str, Json] = {}
        self._made: dict[str, Hole] = {}
        """The holes that have been made, by the code of their texts."""
        self._contents: dict[str, HoleContent] = {
            f"h{number}": hole.content for number, hole in enumerate(holes)
        }
        self._variables: dict[str, str] = {}
        """The variables that have been written, by the code of what they hold."""
        self._conditions: set[str] = set()

    def functions(self, required: Collection[str]) -> Functions:
        """Return what templates are to call, by name.

        Raises NotSymbolicError for a function of which it is not known what it depends on.
        """
        found: dict[str, Callable[..., Any]] = {}
        for name in required:
            if name in self._known.pure:
                found[name] = self._given[name]
            elif name in self._known.of_the_moment:
                found[name] = self._calling(name)
            else:
                refuse()
        return found

    def hole(self, symbol: Symbol) -> Hole:
        """Return the hole that a symbol fills: one of the shape's if it is that.

        Raises NotSymbolicError for a symbol that is no text of the object.
        """
        bare = stripped(symbol, _TEXTS)
        code = self._written(bare if isinstance(bare, TextSymbol) else symbol)
        if code[:1] == "h" and code[1:].isdecimal():
            return self._holes[int(code[1:])]
        if code not in self._made:
            number = len(self._sample) + len(self._made)
            self._made[code] = Hole(number, self._contents.get(code, HoleContent.TEXT))
        return self._made[code]

    def hole_of_traced(self, symbol: Symbol) -> Symbol:
        """Return the hole that a symbol fills if it is traced, else the symbol."""
        return self.hole(symbol) if isinstance(symbol, Traced) else symbol

    def number(self, name: str) -> Any:
        """Return a number that is given, traced."""
        return self._inputs[name]

    def opened(self, value: Json) -> Json:
        """Return an object of the shape with traced texts in its holes."""
        texts: dict[int, TracedText] = {}

        def text(symbol: Symbol) -> Symbol:
            if not isinstance(symbol, Hole):
                return symbol
            number = symbol.number
            if number not in texts:
                texts[number] = TracedText(self, self._sample[number], f"hole {number}")
            return texts[number]

        return mapped(value, text)

    def traced(self, function: Traceable, *arguments: object) -> Any:
        """Return what a function returns for arguments some of which are traced."""
        value = function(*map(bare, arguments))
        if isinstance(value, str) and value:
            text = TracedText(self, value, function, *arguments)
            if function in self._times:
                self._contents[self._written(text)] = HoleContent.TIME
            return text
        if type(value) is float and math.isfinite(value):
            return TracedNumber(self, value, function, *arguments)
        return refuse()

    def decided(self, function: Traceable, *arguments: object) -> Any:
        """Return what it returns for the object at hand; others are like that if it returns the same."""
        value = function(*map(bare, arguments))
        code = self._call(function, arguments)
        if type(value) is bool:
            condition = f"not {code}" if value else code
        else:
            condition = f"{code} != {value!r}"
        if condition not in self._conditions:
            self._conditions.add(condition)
            self._lines.append(f"if {condition}: raise MisfitError")
        return value

    def compute(self, holes: Sequence[Hole], results: Sequence[object] = ()) -> Compute:
        """Return the function for the texts of these holes, in this order, and for other results."""
        others = "".join(f"{self._argument(each)}, " for each in results)
        texts = self._texts_of(holes)
        compute: Compute = self._function(
            ", ".join(("holes, functions", *self._inputs)), f"{texts}, ({others})"
        )
        return compute

    def _texts_of(self, holes: Sequence[Hole]) -> str:
        """Return the code for the texts of these holes, with the lines that it needs."""
        codes = {hole.number: f"v{n}" for n, hole in enumerate(self._made.values())}
        self._lines += [f"{codes[hole.number]} = {code}" for code, hole in self._made.items()]
        others = [
            codes[hole.number]
            for hole in self._made.values()
            if hole.content is not HoleContent.TIME  # which is made here
        ]
        if others:
            self._lines.append(f"checked({', '.join(others)})")
        texts = [codes.get(hole.number, f"h{hole.number}") for hole in holes]
        return f"({''.join(f'{text}, ' for text in texts)})"

    def _function(self, parameters: str, result: str) -> Callable[..., Any]:
        given = [f"h{number}" for number in range(len(self._sample))]
        head = [f"{', '.join(given)}, = holes"] if given else []
        body = [*head, *self._lines, f"return {result}"]
        exec(f"def run({parameters}):\n " + "\n ".join(body), self._names)  # noqa: S102 - written here, texts by repr
        run: Callable[..., Any] = self._names["run"]
        return run

    def _calling(self, name: str) -> Callable[..., Any]:
        def call(*arguments: object) -> Json:
            code = f"functions[{name!r}]({', '.join(map(self._argument, arguments))})"
            if code not in self._results:
                self._results[code] = self._first_call(name, code)
            return self._results[code]

        return for_symbols(call)

    def _first_call(self, name: str, code: str) -> Json:
        """Call a function for the sample: what it returns for others must be of the same kind."""
        result = eval(code, {**self._names, "functions": self._given, **self._texts()})  # noqa: S307 - written here, texts by repr
        variable = f"c{len(self._results)}"
        self._lines.append(f"{variable} = {code}")
        if name in self._known.times:
            return self._text(variable, HoleContent.TIME, result)
        if isinstance(result, str):
            self._lines.append(_like([variable], [result]))
            return self._text(variable, content_of_address(result), result)
        if not isinstance(result, list | tuple):
            refuse()
        codes = [f"{variable}[{number}]" for number in range(len(result))]
        self._lines.append(f"counted({variable}, {len(result)})")
        is_text = name in self._known.texts
        if not is_text:
            self._lines.append(_like(codes, result))
        return [
            self._text(code, HoleContent.TEXT if is_text else content_of_address(text), text)
            for code, text in zip(codes, result, strict=True)
        ]

    def _texts(self) -> dict[str, str]:
        return {f"h{number}": text for number, text in enumerate(self._sample)}

    def _text(self, code: str, content: HoleContent, sample: str) -> TextSymbol:
        """Return the symbol of a text that the code has; `sample` is the one of the first object."""
        self._code[code] = code
        self._contents[code] = content
        return TracedText(self, sample, code)

    def _argument(self, value: object) -> str:
        if isinstance(value, Symbol):
            return self._written(value)
        if type(value) in _LITERALS or (type(value) is float and math.isfinite(value)):
            return repr(value)
        return self._name(value)

    def _written(self, symbol: Symbol) -> str:
        function = symbol.function
        if isinstance(function, str):
            return self._code.get(function) or refuse()
        code = self._call(function, symbol.arguments)
        if not isinstance(symbol, Traced):
            return code
        if code not in self._variables:
            self._variables[code] = f"x{len(self._variables)}"
            self._lines.append(f"{self._variables[code]} = {code}")
        return self._variables[code]

    def _call(self, function: Traceable, arguments: Sequence[object]) -> str:
        codes = [self._argument(each) for each in arguments]
        if function in _INFIX:
            return f"({f' {_INFIX[function]} '.join(codes)})"
        return f"{self._name(function)}({', '.join(codes)})"

    def _name(self, value: object) -> str:
        """Return the code's name for a value; equal ones for the same value only."""
        for name, known in self._names.items():
            if known is value:
                return name
        name = f"n{len(self._names)}"
        self._names[name] = value
        return name


def _counted(found: Sequence[object], count: int) -> None:
    """Make sure that a function has returned this number of values."""
    if len(found) != count:
        raise MisfitError


def _like(codes: Sequence[str], samples: Sequence[str]) -> str:
    """Return the line that makes sure of addresses of the same families as those of the sample."""
    are_6 = tuple(content_of_address(each) is HoleContent.ADDRESS_6 for each in samples)
    return f"addresses({are_6}, {', '.join(codes)})"


def _addresses(are_6: Sequence[bool], *texts: object) -> None:
    """Make sure of texts that are addresses of these families."""
    for is_6, text in zip(are_6, texts, strict=True):
        if type(text) is not str or (":" in text) is not is_6 or not is_address(text):
            raise MisfitError


def _checked(*texts: object) -> None:
    """Make sure of texts that JSON writes as they are."""
    for text in texts:
        if type(text) is not str or not is_plain(text):
            raise MisfitError
