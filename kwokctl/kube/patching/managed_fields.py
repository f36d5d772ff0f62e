"""Computes `managedFields` after a write of a status, labels or annotations, as the API server would.

The rules are those of its field manager for updates
(https://github.com/kubernetes/apimachinery, pkg/util/managedfields/internal) for nodes and pods.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from kwokctl.json_value import Json
from kwokctl.kube.patching.field_sets import Comparison, Keys, compare, difference, union
from kwokctl.kube.patching.unknown_patch import UnknownPatchError

STATUS_KEYS: Mapping[str, Keys] = {
    "Node": {"addresses": "type", "conditions": "type"},
    "Pod": {
        "claims": "name",
        "conditions": "type",
        "podIPs": "ip",
        "resourceClaimStatuses": "name",
    },
}
"""The lists of each kind's status that are merged by items: `x-kubernetes-list-map-keys` in OpenAPI."""

_VERSION = "v1"
_STATUS, _METADATA = "f:status", "f:metadata"
_WORDS = ("labels", "annotations")
_TIMES = {
    "Node": ("lastHeartbeatTime", "lastTransitionTime"),
    "Pod": ("lastProbeTime", "lastTransitionTime"),
}
"""Fields of a condition that the API server writes even when there is no value."""
_TOGETHER = {
    "Node": (frozenset(("allocatable", "capacity")),),
    "Pod": (frozenset(("podIP", "podIPs")),),
}
"""Fields of a status that default to other fields of it."""
_SECONDS = len("2006-01-02T15:04:05")

_MOST_UPDATERS = 10
"""Above, the API server joins the oldest entries (`DefaultMaxUpdateManagers`)."""


def after_status_update(
    before: Json, after: Json, kind: str, *, manager: str, now: str
) -> Sequence[Json]:
    """Return the managed fields of a node or pod whose status `manager` has changed at the time `now`.

    `before` and `after` are the object, whole, without and with the change. An object that has no
    managed fields keeps none, as with the API server. Raises UnknownPatchError for what only the
    API server knows.
    """
    if not before["metadata"].get("managedFields"):
        return ()
    old, new = _of_change(before.get("status") or {}, after.get("status") or {}, kind)
    own = _entry(manager, now, subresource="status")
    return _after(before, compare(old, new, STATUS_KEYS[kind]), _STATUS, own)


def after_metadata_update(before: Json, after: Json, *, manager: str, now: str) -> Sequence[Json]:
    """Return the managed fields of an object whose labels and annotations `manager` has changed."""
    return _after(before, _of_metadata(before, after), _METADATA, _entry(manager, now))


def after_report_update(
    before: Json, after: Json, kind: str, *, manager: str, now: str
) -> Sequence[Json]:
    """Return the managed fields of a node whose labels and annotations `manager` has changed together with its status.

    All of them belong to its entry for the status. Errors as `after_status_update`.
    """
    entries = after_status_update(before, after, kind, manager=manager, now=now)
    between = {"metadata": {"managedFields": entries}}
    own = _entry(manager, now, subresource="status")
    return _after(between, _of_metadata(before, after), _METADATA, own)


def _of_metadata(before: Json, after: Json) -> Comparison:
    old, new = (
        {name: each["metadata"][name] for name in _WORDS if each["metadata"].get(name)}
        for each in (before, after)
    )
    return compare(old, new, {})


def _entry(manager: str, now: str, **more: str) -> Json:
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": _VERSION,
        "time": now,
        "fieldsType": "FieldsV1",
        "fieldsV1": {},
        **more,
    }


def _after(before: Json, found: Comparison, root: str, own: Json) -> Sequence[Json]:
    """Return the managed fields of an object after a change of what is within a field, `root`."""
    entries: Sequence[Json] = before["metadata"].get("managedFields") or ()
    if not entries:
        return entries
    now, mine = own["time"], identity(own)
    kept: list[Json] = []
    for entry in entries:
        if entry.get("apiVersion") != _VERSION:
            raise UnknownPatchError(f"fields are owned in version '{entry.get('apiVersion')}'")
        if identity(entry) == mine:
            own = {**own, "fieldsV1": entry["fieldsV1"], "time": entry.get("time")}
        else:
            kept += _without(entry, found, root)
    kept += _with(own, found, root, now)
    if len(kept) > _MOST_UPDATERS < sum(entry["operation"] == "Update" for entry in kept):
        raise UnknownPatchError("many managers own fields")
    return sorted(kept, key=_rank)


def identity(entry: Json) -> list[str]:
    """Return what no two entries of an object have in common."""
    return [entry.get(name, "") for name in ("operation", "manager", "apiVersion", "subresource")]


def _rank(entry: Json) -> list[str]:
    """Return the key with which the API server sorts entries."""
    operation, *rest = identity(entry)
    return [operation, entry.get("time") or "", *rest]


def _without(entry: Json, found: Comparison, root: str) -> Iterable[Json]:
    """Yield the entry of another manager without the fields that are not its own any more."""
    fields = entry["fieldsV1"]
    if root not in fields:
        return [entry]
    left = difference(difference(fields[root], found.written), found.removed)
    changed = {**fields, root: left}
    if not left:
        del changed[root]
    return [{**entry, "fieldsV1": changed}] if changed else []


def _with(own: Json, found: Comparison, root: str, now: str) -> Iterable[Json]:
    """Yield the entry of the manager that has written, as it is now."""
    fields = union(difference(own["fieldsV1"].get(root, {}), found.removed), found.written)
    time = now if found.written else own["time"]
    kept = {name: inner for name, inner in own["fieldsV1"].items() if name != root}
    owned = {**kept, root: fields} if fields else kept
    return [{**own, "fieldsV1": owned, "time": time}] if owned else []


def _of_change(before: Json, after: Json, kind: str) -> tuple[Json, Json]:
    """Return the fields of a status that may have changed, as the API server writes them.

    What did not change is the same value in both, mostly, also within the conditions: to write it
    as the API server does, only to find it equal, would cost more than all that has changed.
    """
    names = {name for name in {**before, **after} if before.get(name) is not after.get(name)}
    for group in _TOGETHER[kind]:
        if not names.isdisjoint(group):
            names |= group
    condition = _written_once(_TIMES[kind])
    old, new = ({name: each[name] for name in names if name in each} for each in (before, after))
    return _as_written(old, kind, condition), _as_written(new, kind, condition)


def _as_written(status: Json, kind: str, condition: Callable[[Json], Json]) -> Json:
    """Return a status as the API server writes it, as far as the ownership of fields goes."""
    written = {name: value for name, value in status.items() if value}
    if conditions := written.get("conditions"):
        written["conditions"] = [condition(each) for each in conditions]
    return {**written, **(_allocatable(written) if kind == "Node" else _addresses(written))}


def _allocatable(written: Json) -> Json:
    """Return a node's `allocatable`, which defaults to its capacity."""
    if "allocatable" in written or "capacity" not in written:
        return {}
    return {"allocatable": written["capacity"]}


def _addresses(written: Json) -> Json:
    """Return the addresses of a pod: `podIP` decides, and `podIPs` where it is missing."""
    address = written.get("podIP")
    addresses = written.get("podIPs") or [{"ip": address}]
    first = addresses[0].get("ip")
    if address and address != first:
        return {"podIPs": [{"ip": address}]}
    return {"podIP": first, "podIPs": addresses} if first else {}


def _written_once(times: Sequence[str]) -> Callable[[Json], Json]:
    """Return what writes a condition; one that is in two lists is the same value in both."""
    known: dict[int, Json] = {}

    def written(condition: Json) -> Json:
        found = known.get(id(condition))
        if found is None:
            found = known[id(condition)] = _condition(condition, times)
        return found

    return written


def _condition(condition: Json, times: Sequence[str]) -> Json:
    written = {name: value for name, value in condition.items() if value}
    for name in times:
        value = written.get(name)
        written[name] = value and f"{value[:_SECONDS]}Z"
    return written
