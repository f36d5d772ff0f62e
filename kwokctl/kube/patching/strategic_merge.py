"""The strategic merge of nodes and pods, without its directives, but with the nulls in their lists. Pure.

Their lists have plain values or structs. A null in a field of a struct is no value, at any depth. In a
map, or as an item of a list, it becomes a value that the API server chooses: that is not certain.
"""

from collections.abc import Iterable, Mapping
from operator import is_

from kwokctl.json_value import Json
from kwokctl.kube.patching.equality import is_same
from kwokctl.kube.patching.merge_keys import NOTHING, Fields, ListRule, Rule
from kwokctl.kube.patching.unknown_patch import UnknownPatchError

MAPS = frozenset(
    (
        "allocatable", "allocatedResources", "annotations", "capacity", "labels", "limits",
        "matchLabels", "nodeSelector", "options", "overhead", "requests", "resources",
        "userAnnotations", "volumeAttributes",
    )
)  # fmt: skip
"""Fields that are maps somewhere in a node or a pod; all other objects there are structs."""


def replaced(known: Json, wanted: list[Json], place: str) -> Json:
    """Return a list that replaces another list, without nulls.

    That is `known` if they differ in nothing else. Raises UnknownPatchError for nulls that are not
    certain.
    """
    return kept_if_same(known, without_nulls(wanted, place) if hold_null(wanted) else wanted, place)


def kept_if_same(known: Json, wanted: list[Json], place: str) -> Json:
    """Return `known` if a list without nulls differs from it in nothing else."""
    if is_same(known, wanted):
        return known
    is_similar = type(known) is list and len(known) == len(wanted) and hold_null(known)
    return known if is_similar and is_same(without_nulls(known, place), wanted) else wanted


def hold_null(values: Iterable[Json]) -> bool:
    """Return whether there is a null among values or within them."""
    for value in values:
        kind = type(value)
        if value is None or (
            (kind is dict and hold_null(value.values())) or (kind is list and hold_null(value))
        ):
            return True
    return False


def without_nulls(items: list[Json], place: str) -> list[Json]:
    """Return the items of a list without fields that are null; raises UnknownPatchError for other nulls."""
    if any(item is None for item in items):
        raise UnknownPatchError(f"a null within the list '{place}' has no certain meaning")
    return [_value(item, place, is_map=False) for item in items]


def _value(value: Json, place: str, *, is_map: bool) -> Json:
    if isinstance(value, list):
        return without_nulls(value, place)
    return _fields(value, place, is_map=is_map) if isinstance(value, dict) else value


def _fields(fields: dict[str, Json], place: str, *, is_map: bool) -> dict[str, Json]:
    if is_map and any(value is None for value in fields.values()):
        raise UnknownPatchError(f"a null in a map of the list '{place}' has no certain meaning")
    return {
        name: _value(value, place, is_map=name in MAPS)
        for name, value in fields.items()
        if value is not None
    }


def merge(current: dict[str, Json], patch: dict[str, Json], fields: Fields) -> dict[str, Json]:
    """Return `current` with `patch` merged into it; what did not change is shared.

    If nothing changes that is `current` itself. `fields` says how the lists are merged. Raises
    UnknownPatchError for directives, for lists that `fields` does not know unless they stay as they are, and for values that do
    not fit together.
    """
    result = current
    for name, wanted in patch.items():
        if "$" in name:
            raise _directive(name)
        known, value = current.get(name), wanted
        kind = type(wanted)
        if kind is dict or kind is list:
            value = _merged(known, wanted, fields.get(name), name)
        elif type(known) is kind and known == wanted:
            value = known
        elif wanted is not None and isinstance(known, (dict, list)):
            raise _misfit(name)
        if value is known:  # a null of the API server's is no value, too
            continue
        if result is current:
            result = current.copy()
        if value is None:
            del result[name]
        else:
            result[name] = value
    return result


def _merged(known: Json, wanted: Json, rule: Rule | None, name: str) -> Json:
    """Return the new value of an object or a list, which is `known` if it stays as it is."""
    if type(wanted) is list:
        return _list(known, wanted, rule, name)
    if known is not None and type(known) is not dict:
        raise _misfit(name)
    within = NOTHING if rule is None or isinstance(rule, ListRule) else rule
    return merge({} if known is None else known, wanted, within)


def _list(known: Json, wanted: list[Json], rule: Rule | None, name: str) -> Json:
    if not isinstance(rule, ListRule):
        if is_same(known, wanted):
            return known
        raise UnknownPatchError(f"how the list '{name}' is merged is not known")
    if known is not None and type(known) is not list:
        raise _misfit(name)
    if rule.key is None or not known:
        return kept_if_same(known, _taken(wanted, name), name)
    if not rule.key:
        merged = in_order(_unique(known, name), _unique(wanted, name))
        return known if merged == known else merged
    try:
        before = {item[rule.key]: item for item in known}
        after = {item[rule.key]: item for item in wanted}
    except (KeyError, TypeError):
        raise UnknownPatchError(f"an item of '{name}' has no '{rule.key}'") from None
    if len(before) != len(known) or len(after) != len(wanted):
        raise UnknownPatchError(f"items of '{name}' have the same '{rule.key}'")
    merged = in_order(
        before, {key: _item(before.get(key), after[key], rule, name) for key in after}
    )
    is_unchanged = len(merged) == len(known) and all(map(is_, merged, known))
    return known if is_unchanged else merged


def _item(known: Json, wanted: Json, rule: ListRule, name: str) -> Json:
    if known is not None:
        return merge(known, wanted, rule.fields)
    return _taken([wanted], name)[0]


def _taken(items: list[Json], name: str) -> list[Json]:
    """Return items that are not merged with others."""
    return without_nulls(items, name) if _hold_null(items) else items


def _unique(values: list[Json], name: str) -> dict[Json, Json]:
    """Return plain values by themselves."""
    if not all(isinstance(value, str) for value in values):
        raise _misfit(name)
    unique = dict(zip(values, values, strict=True))
    if len(unique) != len(values):
        raise UnknownPatchError(f"a value of '{name}' is there twice")
    return unique


def in_order(before: Mapping[Json, Json], after: Mapping[Json, Json]) -> list[Json]:
    """Return the items of both, in the API server's order.

    Items of the patch keep the patch's order. An item that the patch does not name comes before the
    first item of the patch that it preceded in the object; new items of the patch do not count.
    """
    if before.keys() == after.keys():
        return list(after.values())
    if [key for key in before if key in after] == list(after):  # all are known, in their order
        return [after.get(key, item) for key, item in before.items()]
    places = {key: place for place, key in enumerate(before)}
    others = [key for key in before if key not in after]
    ordered: list[Json] = []
    first = 0
    for key, item in after.items():
        place = places.get(key, -1)
        while first < len(others) and places[others[first]] < place:
            ordered.append(before[others[first]])
            first += 1
        ordered.append(item)
    ordered.extend(before[key] for key in others[first:])
    return ordered


def _hold_null(items: list[Json]) -> bool:
    """Return whether there are nulls within items; refuses directives."""
    found = False
    for item in items:
        if type(item) is dict:
            found = _holds_null(item) or found
        elif item is None or type(item) is list:
            found = item is None or _hold_null(item) or found
    return found


def _holds_null(item: dict[str, Json]) -> bool:
    found = False
    for name, value in item.items():
        if "$" in name:
            raise _directive(name)
        kind = type(value)
        if kind is dict:
            found = _holds_null(value) or found
        elif kind is list:
            found = _hold_null(value) or found
        elif value is None:
            found = True
    return found


def _directive(name: str) -> UnknownPatchError:
    return UnknownPatchError(f"the directive '{name}' of a strategic merge is not known here")


def _misfit(name: str) -> UnknownPatchError:
    return UnknownPatchError(f"'{name}' is of another type in the patch than in the object")
