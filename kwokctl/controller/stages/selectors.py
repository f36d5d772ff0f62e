"""Whether a stage is for an object: the conditions of a Stage's selector, compiled."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from kwokctl.json_value import Json


class FieldQuery(Protocol):
    """A compiled expression in jq; or in CEL, which has one result.

    Of jq, `values` leaves out nulls, and all results if one is an error; the object's numbers are
    floats.
    """

    def values(self, value: Json, /) -> Sequence[Json]:
        """Run the expression on a JSON value."""
        ...


class Condition(Protocol):
    """A compiled condition in CEL."""

    @property
    def source(self) -> str:
        """The expression as its author wrote it."""
        ...

    def holds(self, value: Json, /) -> bool:
        """Return whether it holds for an object; raise ExpressionError if it cannot be evaluated."""
        ...


Known = dict[FieldQuery, Sequence[Json]]
"""The results of expressions for one object."""


class Requirement(msgspec.Struct, frozen=True):
    """A condition on what a jq expression finds in an object.

    Results are compared as text, booleans as JSON spells them. Of numbers, only the integers that
    jq has computed, such as a length, can equal a text: kwok has the object's numbers as floats
    (https://github.com/kubernetes-sigs/kwok/blob/main/pkg/utils/expression/selector.go).
    """

    query: FieldQuery
    operator: str
    values: frozenset[str] = frozenset()

    def holds(self, found: Sequence[Json]) -> bool:
        """Return whether the condition holds for an object in which `query` has found this."""
        operator = self.operator
        if operator == "Exists":
            return bool(found)
        if operator == "DoesNotExist":
            return not found
        return self._has_one_of(found) == (operator == "In")

    def _has_one_of(self, found: Sequence[Json]) -> bool:
        wanted = self.values
        for item in found:  # noqa: SIM110 - `any` costs a generator for each object
            if (item if type(item) is str else _text(item)) in wanted:
                return True
        return False


class Selector(msgspec.Struct, frozen=True):
    """Everything that must hold for an object before a stage is for it."""

    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    conditions: tuple[Requirement, ...] = ()
    expressions: tuple[Condition, ...] = ()

    def matches(self, value: Mapping[str, Json], known: Known | None = None) -> bool:
        """Return whether a stage with this selector is for an object.

        What its conditions find is added to what is `known` of the object: stages of a kind ask for
        the same. Raises ExpressionError for a condition in CEL that fails.
        """
        if self.labels or self.annotations:
            metadata = value.get("metadata") or {}
            labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
            if any(labels.get(key) != wanted for key, wanted in self.labels):
                return False
            if any(annotations.get(key) != wanted for key, wanted in self.annotations):
                return False
        known = {} if known is None else known
        for condition in self.conditions:
            query = condition.query
            found = known.get(query)
            if found is None:
                found = known[query] = query.values(value)
            if not condition.holds(found):
                return False
        return not self.expressions or all(
            expression.holds(value) for expression in self.expressions
        )


def _text(item: Json) -> str | None:
    """Return the text as which another result is compared, None if it equals nothing."""
    if isinstance(item, bool):
        return "true" if item else "false"
    return str(item) if isinstance(item, int) else None
