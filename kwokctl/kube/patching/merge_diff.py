"""The merge patch (RFC 7396) that makes one object of another. Pure."""

from collections.abc import Mapping

from kwokctl.json_value import Json


def merge_diff(before: Mapping[str, Json], after: Mapping[str, Json]) -> dict[str, Json]:
    """Return the patch; an empty one if nothing differs. Lists are replaced as a whole.

    A field that `after` has with the value null cannot be told from one that it lacks: both are removed.
    """
    patch: dict[str, Json] = {name: None for name in before if name not in after}
    for name, value in after.items():
        have = before.get(name)
        if value is have or value == have:
            continue
        if isinstance(value, Mapping) and isinstance(have, Mapping):
            patch[name] = merge_diff(have, value)
        else:
            patch[name] = value
    return patch
