"""RFC 7386, JSON merge patch. Pure."""

from kwokctl.json_value import Json
from kwokctl.kube.patching.equality import is_same
from kwokctl.kube.patching.unknown_patch import UnknownPatchError


def merge(current: dict[str, Json], patch: dict[str, Json]) -> dict[str, Json]:
    """Return `current` with `patch` merged into it; what did not change is shared.

    If nothing changes that is `current` itself. Raises UnknownPatchError for a null within a list:
    implementations differ.
    """
    result = current
    for name, wanted in patch.items():
        known = current.get(name)
        value = None if wanted is None else _value(known, wanted, name)
        if value is known and (value is not None or name not in current):
            continue
        if result is current:
            result = current.copy()
        if value is None:
            del result[name]
        else:
            result[name] = value
    return result


def _value(known: Json, wanted: Json, name: str) -> Json:
    """Return what becomes of a field's value, which is `known` if it stays as it is."""
    if isinstance(wanted, dict):
        return merge(known if isinstance(known, dict) else {}, wanted)
    if isinstance(wanted, list):
        _refuse_nulls(wanted, name)
    return known if is_same(known, wanted) else wanted


def _refuse_nulls(value: Json, place: str) -> None:
    if value is None:
        raise UnknownPatchError(f"a null within the list '{place}' has no certain meaning")
    if isinstance(value, list):
        for item in value:
            _refuse_nulls(item, place)
    elif isinstance(value, dict):
        for item in value.values():
            _refuse_nulls(item, place)
