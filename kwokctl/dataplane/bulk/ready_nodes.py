"""The changes that the controller-manager makes to Ready nodes, observed on a real node.

It removes the taint that new nodes have, from some dozens of nodes a second, and pods wait for that. A
node that is created Ready is written without the taint.
"""

import asyncio
from collections.abc import Callable, Sequence

import msgspec
import orjson

from kwokctl.dataplane.bulk.created_samples import Sample
from kwokctl.dataplane.bulk.locate import BulkAccess
from kwokctl.dataplane.port import NewObjects
from kwokctl.json_value import Json
from kwokctl.kube.patching.field_sets import difference

_PATIENCE = 60.0
"""Seconds until a real node must be Ready and without taints: on a busy machine the controller-manager is late."""
_LOOK_AGAIN, _SHARE = 0.1, 0.05
"""Seconds until the nodes are read again, and the part of the time that they have been waited for, if that is more."""
_READY = "Ready"
_TROUBLES = frozenset({"DiskPressure", "MemoryPressure", "NetworkUnavailable", "PIDPressure"})
"""Conditions for which the controller-manager puts taints on a node."""
_TAINTS: Json = {"f:spec": {"f:taints": {}}}
"""The managed fields that go with the taints."""

Finish = Callable[[Json], Json]
"""Applies to a node what the controller-manager would do to it."""


class WithoutTaints(msgspec.Struct, frozen=True):
    """Removes from nodes the taints that the controller-manager has removed from a real node."""

    taints: Sequence[Json]

    def __call__(self, node: Json) -> Json:
        """Return a Ready node without these taints, any other node unchanged."""
        if not is_healthy(node):
            return node
        spec, metadata = dict(node["spec"]), node["metadata"]
        left = [taint for taint in spec.pop("taints", ()) if taint not in self.taints]
        if left:
            return {**node, "spec": {**spec, "taints": left}}
        if entries := metadata.get("managedFields"):
            metadata = {**metadata, "managedFields": list(map(_disowned, entries))}
        return {**node, "metadata": metadata, "spec": spec}


def is_healthy(node: Json) -> bool:
    """Return whether a node is Ready, and has no condition for which it would get a taint."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    found = {each.get("type") for each in conditions if each.get("status") == "True"}
    return _READY in found and _TROUBLES.isdisjoint(found)


async def seen_finish(
    new: NewObjects, access: BulkAccess, samples: Sequence[Sample]
) -> Finish | None:
    """Wait until a created node is Ready and without taints; None if that does not happen in time."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    while loop.time() < began + _PATIENCE:
        for sample in samples:
            raw = await access.client.get_raw(new.resource, new.namespace, sample.name)
            if new.lacks(raw) is None:
                return _finish(sample.body, orjson.loads(raw))
        await asyncio.sleep(max(_LOOK_AGAIN, _SHARE * (loop.time() - began)))
    return None


def _finish(created: Json, found: Json) -> Finish | None:
    """Return the removal of taints from a node since its creation; None if more than that has changed."""
    before, after = dict(created["spec"]), dict(found["spec"])
    had, has = before.pop("taints", []), after.pop("taints", [])
    gone = [taint for taint in had if taint not in has]
    is_all = before == after and [taint for taint in had if taint in has] == has
    return WithoutTaints(gone) if gone and is_all else None


def _disowned(entry: Json) -> Json:
    return {**entry, "fieldsV1": difference(entry["fieldsV1"], _TAINTS)}
