"""RFC 7386, JSON merge patch. Pure."""

from typing import Any

from kwokctl.kube.patching.unknown_patch import UnknownPatchError

Json = Any


def merge(current: dict[str, Json], patch: dict[str, Json]) -> dict[str, Json]:
    """Return `current` with `patch` merged into it; what did not change is shared.

    Raises UnknownPatchError for a null within a list: implementations differ.
    """
    result = current.copy()
    for name, wanted in patch.items():
        if wanted is None:
            result.pop(name, None)
        elif isinstance(wanted, dict):
            known = result.get(name)
            result[name] = merge(known if isinstance(known, dict) else {}, wanted)
        else:
            if isinstance(wanted, list):
                _refuse_nulls(wanted, name)
            result[name] = wanted
    return result


def _refuse_nulls(value: Json, place: str) -> None:
    if value is None:
        raise UnknownPatchError(f"a null within the list '{place}' has no certain meaning")
    if isinstance(value, list):
        for item in value:
            _refuse_nulls(item, place)
    elif isinstance(value, dict):
        for item in value.values():
            _refuse_nulls(item, place)
