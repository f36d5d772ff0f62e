"""Whether a pod may be on a node by its node selector and its required node affinity.

Source: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any


def is_for(spec: Mapping[str, Any], name: str, labels: Mapping[str, str]) -> bool:
    """Return whether a pod with this spec may be on the node with this name and these labels."""
    selector: Mapping[str, str] = spec.get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    fields = {"metadata.name": name}
    return any(_matches(term, labels, fields) for term in required.get("nodeSelectorTerms") or ())


def _matches(term: Mapping[str, Any], labels: Mapping[str, str], fields: Mapping[str, str]) -> bool:
    asked = [
        *((each, labels) for each in term.get("matchExpressions") or ()),
        *((each, fields) for each in term.get("matchFields") or ()),
    ]
    return bool(asked) and all(_holds(each, of) for each, of in asked)


def _holds(asked: Mapping[str, Any], of: Mapping[str, str]) -> bool:
    found, values = of.get(asked["key"]), asked.get("values") or ()
    test = _TESTS.get(asked["operator"])
    return test is not None and test(found, values)


def _compared(found: str | None, values: Sequence[str], sign: int) -> bool:
    if found is None or not found.removeprefix("-").isdecimal():
        return False
    return sign * int(found) > sign * int(values[0])


_TESTS: Mapping[str, Callable[[str | None, Sequence[str]], bool]] = {
    "In": lambda found, values: found in values,
    "NotIn": lambda found, values: found not in values,
    "Exists": lambda found, _: found is not None,
    "DoesNotExist": lambda found, _: found is None,
    "Gt": lambda found, values: _compared(found, values, 1),
    "Lt": lambda found, values: _compared(found, values, -1),
}
"""The test of each operator on the value of a label, None if the label is missing."""
