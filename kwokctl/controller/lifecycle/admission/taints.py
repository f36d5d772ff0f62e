"""Decides which taints of its node a pod tolerates.

Source: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/.
"""

from collections.abc import Iterable, Mapping
from typing import Any


def tolerates(toleration: Mapping[str, Any], key: str, value: str, effect: str) -> bool:
    """Return whether a toleration is for a taint."""
    if toleration.get("effect") not in (None, "", effect):
        return False
    own = toleration.get("key")
    if toleration.get("operator") == "Exists":
        return own in (None, "", key)
    return own == key and (toleration.get("value") or "") == value


def tolerates_all(
    tolerations: Iterable[Mapping[str, Any]], taints: Iterable[tuple[str, str]], effect: str
) -> bool:
    """Return whether there is a toleration for each taint, a key and a value, with this effect."""
    known = list(tolerations)
    return all(any(tolerates(each, *taint, effect) for each in known) for taint in taints)
