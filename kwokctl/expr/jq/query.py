"""A jq program, ready to run."""

from collections.abc import Callable
from functools import lru_cache

from kwokctl.errors import ExpressionError
from kwokctl.expr.budget import BudgetError, metered
from kwokctl.expr.jq import compiler, jq_parser, whole
from kwokctl.expr.jq.field_access import JqError
from kwokctl.json_value import Json


class JqQuery:
    """A jq program; run it on values made of dictionaries, lists and scalars."""

    __slots__ = ("_compiled", "_find", "_interpreted", "_is_metered", "source")

    def __init__(self, source: str) -> None:
        """Compile the program; raise ExpressionError, with the position, if it is invalid."""
        self.source = source
        self._compiled: compiler.Compiled | None = None
        self._find: Callable[[object], object] | None = None
        self._is_metered = False
        try:
            steps = jq_parser.parse(source)
            self._compiled = compiler.build(steps)
            self._is_metered = compiler.may_multiply(steps)
            self._find = compiler.build_path(steps)
        except jq_parser.NotCompiledError:
            self._interpreted = whole.build(source)

    def __repr__(self) -> str:
        return f"Query({self.source!r})"

    @property
    def is_compiled(self) -> bool:
        """Whether it runs as Python; the interpreter takes a hundred times as long."""
        return self._compiled is not None

    def run(self, obj: Json) -> list[Json]:
        """Return all results, nulls too; raise ExpressionError if the program fails.

        The results may share parts with `obj`, which itself is never changed.
        """
        try:
            return self._run(obj)
        except JqError as e:
            raise ExpressionError(f"jq '{self.source}': {e}") from e
        except BudgetError as e:
            raise self._too_much() from e

    def values(self, obj: object) -> list[object]:
        """Return the results that are not null, none at all if the program fails.

        This is how Stages look at objects: what cannot be read is not there. The object's numbers
        are floats, as for kwok, so that an integer among the results is one that jq has computed.
        Raises BudgetError if it takes too long.
        """
        try:
            if self._find is not None:
                item = self._find(obj)
                return [] if item is None else [float(item) if type(item) is int else item]
            if self._compiled is None:
                found = self._interpreted(obj)
                if any(type(item) is int for item in found):
                    # Only these may be the object's: to make floats of all it has takes far longer.
                    found = self._interpreted(whole.with_floats(obj))
            elif self._is_metered:
                found = self._compiled_run(obj)
            else:
                found = []
                self._compiled(obj, found.append)
        except JqError:
            return []
        except BudgetError as e:
            raise self._too_much() from e
        if len(found) == 1:  # nearly always, and a text or null
            [item] = found
            if type(item) is str:
                return found
            if item is None:
                return []
        return self._cleaned(found) if found else found

    def _too_much(self) -> BudgetError:
        return BudgetError(f"jq '{self.source}'")

    def _cleaned(self, found: list[object]) -> list[object]:
        """Leave nulls out; make floats of integers that the compiled program has found."""
        is_found = self._compiled is not None
        return [
            float(item) if is_found and type(item) is int else item
            for item in found
            if item is not None
        ]

    def _run(self, obj: object) -> list[object]:
        if self._compiled is None:
            return self._interpreted(obj)
        return self._compiled_run(obj)

    def _compiled_run(self, obj: object) -> list[object]:
        assert self._compiled is not None
        found: list[object] = []
        metered(self._compiled, obj, found.append)
        return found


@lru_cache(maxsize=1024)
def compile(source: str) -> JqQuery:
    """Return the query for a jq program, the same one each time.

    Raises ExpressionError, which names the program and the position, if it is invalid.
    """
    return JqQuery(source)
