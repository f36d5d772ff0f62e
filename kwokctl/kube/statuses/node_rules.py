"""The validation of a node's status by the API server (`ValidateNodeUpdate` of Kubernetes).

Other fields take whatever it can decode. Names of resources are not checked there, only amounts.
"""

import re
from functools import lru_cache

from kwokctl.expr.cel.values.quantities import parse_quantity
from kwokctl.kube.statuses.rule import Rule, StatusChange, left_to_the_api, of

_WHOLE = frozenset(
    {
        "configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas",
        "secrets", "services", "services.loadbalancers", "services.nodeports",
    }
)  # fmt: skip
"""Resources of Kubernetes' own that are counted in whole pieces."""
_OWN_DOMAIN = "kubernetes.io/"
_ONE = 10**9
_MOST = 9 * 10**15
"""Above, thousandths of a piece leave the 64 bits with which they are counted."""
_FEATURE = re.compile(r"[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*", re.ASCII)
_LONGEST_FEATURE = 253
_REMEMBERED = 4096


def _check_amounts(change: StatusChange) -> str | None:
    for part in ("capacity", "allocatable"):
        for name, amount in (change.after.get(part) or {}).items():
            problem = _amount_problem(name, str(amount))
            if problem is not None:
                return f"{part}.{name}: '{amount}' {problem}"
    return None


@lru_cache(_REMEMBERED)
def _amount_problem(resource: str, text: str) -> str | None:
    """Return what is wrong with an amount of a resource, which is a quantity."""
    nanos = parse_quantity(text).nanos
    if nanos < 0:
        return "is negative"
    if not _is_counted(resource):
        return None
    if nanos % _ONE:
        return "is not a whole number"
    return None if nanos <= _MOST * _ONE else "is very large"


def _is_counted(resource: str) -> bool:
    """Return whether a resource is counted in pieces; extended ones are."""
    return resource in _WHOLE or ("/" in resource and _OWN_DOMAIN not in resource)


def _check_default(change: StatusChange) -> str | None:
    """Leave it to the API server to give a node that has a capacity only the same allocatable."""
    if change.after.get("capacity") and not change.after.get("allocatable"):
        return "allocatable: the API server has to complete it"
    return None


def _check_addresses(change: StatusChange) -> str | None:
    seen = set()
    for number, each in enumerate(change.after.get("addresses") or ()):
        address = each.get("type") or "", each.get("address") or ""
        if address in seen:
            return f"addresses[{number}]: occurs twice"
        seen.add(address)
    return None


def _check_features(change: StatusChange) -> str | None:
    last = ""
    for number, name in enumerate(change.after.get("declaredFeatures") or ()):
        if len(name) > _LONGEST_FEATURE or _FEATURE.fullmatch(name) is None:
            return f"declaredFeatures[{number}]: '{name}' is not the name of a feature"
        if name <= last:
            return f"declaredFeatures[{number}]: '{name}' is not after '{last}'"
        last = name
    return None


NODE_RULES = (
    Rule(of("capacity", "allocatable"), _check_amounts),
    Rule(of("capacity", "allocatable"), _check_default),
    Rule(of("addresses"), _check_addresses),
    Rule(of("declaredFeatures"), _check_features),
    left_to_the_api("config"),
)
