"""Decides whether an API server accepts the new status of all objects of a shape, whatever its holes contain."""

from collections.abc import Callable, Collection

from kwokctl.expr.gotemplate.symbols import Symbol, refuse
from kwokctl.json_value import Json
from kwokctl.kube.resource import Resource
from kwokctl.kube.statuses import check_change
from kwokctl.specialization.holes import Hole, mapped


def is_sound(
    resource: Resource,
    before: Json,
    after: Json,
    parts: Collection[str],
    kept: Collection[str] = (),
) -> bool:
    """Return whether a change of these parts of the status is one for all objects.

    What must be equal is one hole, and what must differ is of other contents: a rule holds for all objects if
    it holds where the texts of all holes are equal, and where they are all different. `kept` are fields that only
    some API servers keep, and this one does.
    """
    return all(
        check_change(resource, _seen(before, example), _seen(after, example), parts, kept) is None
        for example in (_alike, _different)
    )


def _seen(value: Json, example: Callable[[Symbol], str]) -> Json:
    """Return the parts of an object that rules look at, with examples in its holes."""
    return {name: mapped(value.get(name), example) for name in ("spec", "status")}


def _alike(symbol: Symbol) -> str:
    return symbol.content.example(1) if isinstance(symbol, Hole) else refuse()


def _different(symbol: Symbol) -> str:
    return symbol.content.example(symbol.number) if isinstance(symbol, Hole) else refuse()
