"""The conditions of a node without faults, as the agents of dialects set them. Pure."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from kwokctl.errors import ExpressionError, UsageError
from kwokctl.faults.classes.catalogue import FaultCatalogue
from kwokctl.faults.classes.class_schema import ConditionStatus, FaultDialectSpec
from kwokctl.json_value import Json

_OTHER: Mapping[ConditionStatus, ConditionStatus] = {
    "True": "False",
    "False": "True",
    "Unknown": "True",
}


def healthy_conditions(dialect: FaultDialectSpec) -> list[dict[str, str]]:
    """Return the conditions of a dialect, without times."""
    return [
        {
            "type": each.type,
            "status": each.status or _OTHER[dialect.bad_status],
            "reason": each.reason,
            "message": each.message,
        }
        for each in dialect.conditions
    ]


def conditions_at_birth(catalogue: FaultCatalogue) -> Callable[[Json], list[dict[str, str]]]:
    """Return a function for templates: the conditions with which a node is born, by the names of dialects.

    A type that several of them have is as the last has it. The conditions of a dialect that is on every node are
    left out: Stages set them. The function raises ExpressionError, with the place, for a name that is unknown.
    """

    @cache
    def found(names: tuple[str, ...]) -> list[dict[str, str]]:
        by_type: dict[str, dict[str, str]] = {}
        for place, name in enumerate(names):
            dialect = _dialect(catalogue, name, place)
            shown = () if dialect.always else healthy_conditions(dialect)
            by_type |= {each["type"]: each for each in shown}
        return [*by_type.values()]

    def conditions(names: Sequence[Json] | None) -> list[dict[str, str]]:
        return found(tuple(map(str, names or ())))

    return conditions


def _dialect(catalogue: FaultCatalogue, name: str, place: int) -> FaultDialectSpec:
    try:
        return catalogue.dialect(name).spec
    except UsageError as e:
        raise ExpressionError(f"dialects[{place}]: {e}", hint=e.hint) from e
