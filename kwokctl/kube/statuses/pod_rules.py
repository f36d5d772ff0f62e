"""The validation of a pod's status by the API server (`ValidatePodStatusUpdate` of Kubernetes).

And what it keeps of the old status where the new one lacks it (`podStatusStrategy`). Other fields
take whatever it can decode. What only some releases have, or refer to, is left to it.
"""

from functools import lru_cache
from typing import Any

from kwokctl.json_value import Json
from kwokctl.kube.names import is_qualified_name
from kwokctl.kube.statuses.rule import Rule, StatusChange, left_to_the_api, of

_PAIRS = (("podIP", "podIPs"), ("hostIP", "hostIPs"))
_CONTAINERS = {
    "containerStatuses": "containers",
    "initContainerStatuses": "initContainers",
    "ephemeralContainerStatuses": "ephemeralContainers",
}
"""The lists of containers' statuses, each with the list of the spec whose containers they are of."""
DEVICES_FIELD = "allocatedResourcesStatus"
"""The field of a container's status with the health of its devices; not all API servers keep it."""
_SPECIAL = frozenset({DEVICES_FIELD, "user", "volumeMounts"})
_HEALTH = ("Healthy", "Unhealthy", "Unknown")
_REMEMBERED = 1024
"""Types of conditions."""
_ALWAYS, _ON_FAILURE = "Always", "OnFailure"


_is_name = lru_cache(_REMEMBERED)(is_qualified_name)


def _check_conditions(change: StatusChange) -> str | None:
    for each in change.after.get("conditions") or ():
        name = each.get("type") or ""
        if not _is_name(name):
            return f"conditions: the type '{name}' is not a qualified name"
        if (each.get("observedGeneration") or 0) < 0:
            return f"conditions: 'observedGeneration' of '{name}' is negative"
    return None


def _check_kept(change: StatusChange) -> str | None:
    """Leave it to the API server to keep what a status lacks, and cannot lose."""
    before, after = change.before, change.after
    if (before.get("qosClass") or "") != (after.get("qosClass") or ""):
        return "qosClass: never changes"
    generation = after.get("observedGeneration") or 0
    if generation < 0:
        return "observedGeneration: is negative"
    if not generation and before.get("observedGeneration"):
        return "observedGeneration: cannot be removed"
    return None


def _check_kept_conditions(change: StatusChange) -> str | None:
    """Leave it to the API server to keep the generations of conditions."""
    known = change.before.get("conditions") or ()
    dated = [each.get("type") for each in known if each.get("observedGeneration")]
    if dated:
        for each in change.after.get("conditions") or ():
            if not each.get("observedGeneration") and each.get("type") in dated:
                return (
                    f"conditions: 'observedGeneration' of '{each.get('type')}': cannot be removed"
                )
    return None


def _check_addresses(change: StatusChange) -> str | None:
    for one, many in _PAIRS:
        listed = change.after.get(many)
        if not listed:
            continue
        first = listed[0].get("ip")
        if not first or first != change.after.get(one):
            return f"{many}: the first one is not '{one}'"
        if len(listed) > 1 and len({":" in (each.get("ip") or "") for each in listed}) < len(
            listed
        ):
            return f"{many}: more than one address of a family"
    return None


def _check_containers(change: StatusChange) -> str | None:
    for part, containers in _CONTAINERS.items():
        after = change.after.get(part)
        if not after:
            continue
        before = change.before.get(part) or ()
        problem = _check_special(change, containers, before, after)
        if problem is None and before and before is not after:
            problem = _check_restarts(change.spec, containers, before, after)
        if problem is not None:
            return f"{part}: {problem}"
    return None


def _check_special(change: StatusChange, containers: str, before: Json, after: Json) -> str | None:
    """Find fields that refer to the spec of a container, or that only some releases have."""
    for each in after:
        for field in _SPECIAL & each.keys():
            if not _is_special(field, each[field]) or each[field] in _known(before, field):
                continue
            if (
                field == DEVICES_FIELD
                and field in change.kept
                and _are_devices(change, containers, each)
            ):
                continue
            return f"'{field}' of '{each.get('name')}': the API server has to decide"
    return None


def _are_devices(change: StatusChange, containers: str, status: Json) -> bool:
    """Return whether the devices of a container are of resources that it asks for.

    That none occurs twice is not looked at: they are those of one pod of a controller that gives each to one.
    """
    named = [
        each for each in change.spec.get(containers) or () if each.get("name") == status.get("name")
    ]
    asked = (named[0].get("resources") or {}).get("limits") or {} if named else {}
    names = [resource.get("name") for resource in status[DEVICES_FIELD]]
    return len({*names}) == len(names) and all(
        resource.get("name") in asked
        and all(
            each.get("resourceID")
            and each.get("health") in _HEALTH
            and each.keys() <= {"resourceID", "health"}
            for each in resource.get("resources") or ()
        )
        for resource in status[DEVICES_FIELD]
    )


def _is_special(field: str, value: Json) -> bool:
    if field == "volumeMounts":
        return any(each.get("volumeStatus") for each in value or ())
    return bool(value)


def _known(before: Json, field: str) -> list[Json]:
    return [each.get(field) for each in before]


def _check_restarts(spec: Json, containers: str, before: Json, after: Json) -> str | None:
    """Find containers that have ended, and run again though none of their policies lets them.

    Releases differ in which of the policies they look at: here all of them must.
    """
    for known in before:
        ended = (known.get("state") or {}).get("terminated")
        if ended is None:
            continue
        name, code = known.get("name") or "", ended.get("exitCode") or 0
        if _may_restart(spec, containers, name, code):
            continue
        for each in after:
            state = each.get("state") or {}
            if (each.get("name") or "") == name and state.get("terminated") is None:
                return f"'{name}' has ended, and may not run again"
    return None


def _may_restart(spec: Json, containers: str, name: str, code: int) -> bool:
    found: list[Any] = [each for each in spec.get(containers) or () if each.get("name") == name]
    if not found or containers == "ephemeralContainers":
        return False
    own = found[0].get("restartPolicy")
    if own == _ALWAYS and containers == "initContainers":
        return True
    policies = {spec.get("restartPolicy") or _ALWAYS}
    policies |= {own} if own else set()
    return policies <= {_ALWAYS} or (code != 0 and policies <= {_ALWAYS, _ON_FAILURE})


POD_RULES = (
    Rule(of("conditions"), _check_conditions),
    Rule(of("conditions"), _check_kept_conditions),
    Rule(of("qosClass", "observedGeneration"), _check_kept),
    Rule(of("podIP", "podIPs", "hostIP", "hostIPs"), _check_addresses),
    Rule(frozenset(_CONTAINERS), _check_containers),
    left_to_the_api(
        "allocatedResources",
        "extendedResourceClaimStatus",
        "nodeAllocatableResourceClaimStatuses",
        "nominatedNodeName",
        "resourceClaimStatuses",
        "resources",
    ),
)
