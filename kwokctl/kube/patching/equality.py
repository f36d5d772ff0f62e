"""Whether two JSON values are the same one. Pure."""

from kwokctl.json_value import Json


def is_same(left: Json, right: Json) -> bool:
    """Return whether two values are equal, and of the same types: 1, 1.0 and true are three values."""
    return bool(left == right) and _have_same_types(left, right)


def _have_same_types(left: Json, right: Json) -> bool:
    """Compare the types within two values that are equal."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return all(_have_same_types(left[name], right[name]) for name in left)
    if isinstance(left, list):
        return all(map(_have_same_types, left, right))
    return True
