"""Reads and writes what repairs are about, through the API: Repairs, their nodes, and the requests that they answer."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec

from kwokctl.controller.status_writes import put_status
from kwokctl.errors import ApiError
from kwokctl.faults.objects.fault_schema import ObjectMeta, OwnerReference
from kwokctl.faults.repairs.repair_schema import (
    NODE_LABEL,
    REPAIR_LABEL,
    Asker,
    RepairSpec,
    RepairStatus,
    StoredRepair,
)
from kwokctl.faults.repairs.replaced_node import Replacement, is_of_other_node, owned_by
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.collections.known_objects import metadata_of
from kwokctl.kube.collections.paging import ListQuery, list_pages
from kwokctl.kube.resource import (
    FAULTS,
    NODES,
    PODS,
    REPAIR_POLICIES,
    REPAIRS,
    RESOURCE_SLICES,
    Resource,
)

_NOT_THERE, _EXISTS = 404, 409
_UNTIL_DELETED = "87600h"
"""The length of the Fault that a node shows meanwhile: the end of the repair deletes it, however long no controller runs."""
_LONGEST_LABEL = 63
_AT_ONCE = {"gracePeriodSeconds": 0}


class RepairObjects:
    """The objects that repairs read and write. Its methods raise RequestError when the cluster refuses."""

    def __init__(self, client: Client) -> None:
        """Read and write with `client`."""
        self._client = client

    async def create(self, name: str, spec: RepairSpec) -> StoredRepair | None:
        """Make a Repair; None if there is one with its name."""
        meta: dict[str, Json] = {"name": name, "labels": {NODE_LABEL: label_of(spec.node)}}
        body = msgspec.json.encode(_body(REPAIRS, meta, given_fields(spec)))
        try:
            return decode_repair.decode(await self._client.create(REPAIRS, None, body))
        except ApiError as e:
            if e.status != _EXISTS:
                raise
            return None

    async def exists(self, name: str, uid: str) -> bool:
        """Return whether there is a Repair with this name and uid."""
        found = await self._client.find(REPAIRS, None, name)
        return found is not None and found["metadata"]["uid"] == uid

    async def put_status(self, repair: StoredRepair, status: RepairStatus) -> StoredRepair:
        """Store the status of a Repair if it is the known version of it, and return the new one."""
        raw = await put_status(self._client, REPAIRS, repair.metadata, repair.status, status)
        return decode_repair.decode(raw)

    async def say(self, policy: str, message: str) -> None:
        """Store why a policy cannot be used."""
        path = REPAIR_POLICIES.path(None, policy, "status")
        await self._patch(path, {"status": {"message": message}})

    async def show(self, name: str, repair: StoredRepair, class_name: str) -> None:
        """Make the Fault of a class that a node shows while it is repaired, unless it is there."""
        spec = {
            "class": class_name,
            "target": {"nodes": [repair.spec.node]},
            "for": _UNTIL_DELETED,
        }
        meta = {
            "name": name,
            "labels": {REPAIR_LABEL: label_of(repair.name)},
            "ownerReferences": [
                {
                    "apiVersion": REPAIRS.api_version,
                    "kind": REPAIRS.kind,
                    "name": repair.name,
                    "uid": repair.metadata.uid,
                }
            ],
        }
        with _tolerating(_EXISTS):
            await self._client.create(FAULTS, None, msgspec.json.encode(_body(FAULTS, meta, spec)))

    async def hide(self, name: str) -> None:
        """Delete that Fault."""
        with _tolerating(_NOT_THERE):
            await self._client.call("DELETE", FAULTS.path(None, name))

    async def node(self, name: str) -> dict[str, Json] | None:
        """Return a node as it is now; None if there is none."""
        return await self._client.find(NODES, None, name)

    async def pods_on(self, node: str) -> list[dict[str, Json]]:
        """Return the pods that are bound to a node."""
        return await self._all(PODS, f"spec.nodeName={node}")

    async def slices_of(self, node: str) -> list[dict[str, Json]]:
        """Return the ResourceSlices of a node; none where they are not served."""
        try:
            return await self._all(RESOURCE_SLICES, f"spec.nodeName={node}")
        except ApiError as e:
            if e.status != _NOT_THERE:
                raise
            return []

    async def delete_node(self, name: str, uid: str) -> None:
        """Delete a node, unless another node has its name by now."""
        body = msgspec.json.encode({"preconditions": {"uid": uid}})
        with _tolerating(_NOT_THERE):
            await self._client.call("DELETE", NODES.path(None, name), body)

    async def delete_pods(self, node: str) -> None:
        """Delete the pods that were on a machine which does not exist any more."""
        for pod in await self.pods_on(node):
            meta = pod["metadata"]
            body = msgspec.json.encode({**_AT_ONCE, "preconditions": {"uid": meta["uid"]}})
            with _tolerating(_NOT_THERE, _EXISTS):
                path = PODS.path(meta["namespace"], meta["name"])
                await self._client.call("DELETE", path, body)

    async def make_node(self, replacement: Replacement) -> str:
        """Make a node and the slices of its devices, and return its uid; those that are there stay."""
        name = replacement.node["metadata"]["name"]
        with _tolerating(_EXISTS):
            await self._client.create(NODES, None, msgspec.json.encode(replacement.node))
        uid = str((await self._client.get(NODES, None, name))["metadata"]["uid"])
        if replacement.slices:
            await self._delete_slices_of_others(name, uid)
        for each in replacement.slices:
            body = msgspec.json.encode(owned_by(each, uid))
            with _tolerating(_EXISTS):
                await self._client.create(RESOURCE_SLICES, None, body)
        return uid

    async def _delete_slices_of_others(self, node: str, uid: str) -> None:
        """Delete the slices of an earlier node of this name, which the garbage collector would delete later, or never where there is none."""
        for each in await self.slices_of(node):
            meta = each["metadata"]
            if not is_of_other_node(each, uid):
                continue
            body = msgspec.json.encode({"preconditions": {"uid": meta["uid"]}})
            with _tolerating(_NOT_THERE, _EXISTS):
                path = RESOURCE_SLICES.path(None, meta["name"])
                await self._client.call("DELETE", path, body)

    async def unlabel(self, node: str, label: str) -> int:
        """Remove a label of a node; return the version of the node without it, 0 if there is no node."""
        return await self._change_node(node, {"metadata": {"labels": {label: None}}})

    async def uncordon(self, node: str) -> None:
        """Let a node take pods."""
        await self._change_node(node, {"spec": {"unschedulable": None}})

    async def answer(self, asker: Asker, status: Mapping[str, Json]) -> None:
        """Write the status of a request; nothing if it is gone, or another request has its name by now."""
        resource = await self._client.resource_for(asker.api_version, asker.kind)
        patch = {"metadata": {"uid": asker.uid}, "status": status}
        for part in ("status", ""):  # a kind without a status of its own has it in the object
            try:
                await self._patch(resource.path(asker.namespace or None, asker.name, part), patch)
            except ApiError as e:
                if e.status not in {_NOT_THERE, _EXISTS}:
                    raise
            else:
                return

    async def _change_node(self, name: str, patch: Mapping[str, Json]) -> int:
        try:
            answer = await self._patch(NODES.path(None, name), patch)
        except ApiError as e:
            if e.status != _NOT_THERE:
                raise
            return 0
        return int(metadata_of(answer).metadata.resource_version)

    async def _patch(self, path: str, patch: Mapping[str, Json]) -> bytes:
        body = msgspec.json.encode(patch)
        return await self._client.call("PATCH", path, body, content_type=PatchType.MERGE)

    async def _all(self, resource: Resource, field_selector: str) -> list[dict[str, Json]]:
        query = ListQuery(resource=resource, field_selector=field_selector)
        pages = list_pages(self._client.pool, query)
        return [msgspec.json.decode(raw) async for page in pages for raw in page.objects]


@contextmanager
def _tolerating(*statuses: int) -> Iterator[None]:
    """Take refusals of the API server with these statuses for success."""
    try:
        yield
    except ApiError as e:
        if e.status not in statuses:
            raise


def _body(
    resource: Resource, meta: Mapping[str, Json], spec: Mapping[str, Json]
) -> dict[str, Json]:
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": meta,
        "spec": spec,
    }


def label_of(name: str) -> str:
    """Return the value of a label with a name, which may be longer than values are."""
    return name[:_LONGEST_LABEL].rstrip("-._")


def shown_repair(fault: ObjectMeta) -> OwnerReference | None:
    """Return the Repair that a node shows by a Fault; None if it shows none."""
    if REPAIR_LABEL not in (fault.labels or {}):
        return None
    return next((each for each in fault.owner_references if each.kind == REPAIRS.kind), None)


def given_fields(spec: RepairSpec) -> dict[str, Json]:
    """Return the fields of a Repair that say something, as JSON."""
    return _filled(msgspec.to_builtins(spec))


def _filled(fields: Mapping[str, Json]) -> dict[str, Json]:
    """Return fields without those that are empty."""
    below = {k: _filled(v) if isinstance(v, Mapping) else v for k, v in fields.items()}
    return {name: each for name, each in below.items() if each not in (None, "", {})}


decode_repair = msgspec.json.Decoder(StoredRepair)
