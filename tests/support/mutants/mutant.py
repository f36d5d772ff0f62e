"""A function of the product with one condition changed, in this process only."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any


@dataclass(frozen=True, slots=True)
class Mutant:
    """A text of a function's source, and what stands there instead."""

    function: Callable[..., Any]
    text: str
    other: str
    equivalent: str = ""
    """Why no test can find it; empty if one must."""

    def __str__(self) -> str:
        """Say where it is, and what it changes."""
        place = f"{self.function.__module__}.{self.function.__qualname__}"
        return f"{place}: {self.text!r} -> {self.other!r}"

    def apply(self) -> None:
        """Give the function the code of the changed source, wherever it has been imported."""
        self.function.__code__ = self.code()

    def code(self) -> CodeType:
        """Return the changed code; ValueError unless the text stands in the source exactly once."""
        whole = inspect.getsource(inspect.getmodule(self.function))  # type: ignore[arg-type]  # never None: a function in a module
        source = inspect.getsource(self.function)
        if source.count(self.text) != 1:
            raise ValueError(f"the text must stand there once: {self}")
        changed = whole.replace(source, source.replace(self.text, self.other))
        module = compile(changed, inspect.getfile(self.function), "exec", dont_inherit=True)
        name = self.function.__qualname__
        [code] = [each for each in _inner(module) if each.co_qualname == name]
        return code


def _inner(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _inner(each)
