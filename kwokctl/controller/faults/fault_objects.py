"""Reads and writes the custom resources about faults, through the API."""

from collections.abc import Mapping, Sequence

import msgspec

from kwokctl.config.config_documents import Document
from kwokctl.controller.status_writes import put_status
from kwokctl.errors import ApiError
from kwokctl.faults.objects.fault_schema import (
    FaultDefinition,
    FaultPageSpec,
    FaultStatus,
    ObjectMeta,
    StoredFault,
)
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.collections.paging import ListPage
from kwokctl.kube.resource import (
    FAULT_CLASSES,
    FAULT_DIALECTS,
    FAULT_PAGES,
    FAULTS,
    NODES,
    Resource,
)
from kwokctl.tasks import both

_NOT_THERE, _EXISTS = 404, 409
_CACHED = "?resourceVersion=0"


class FaultObjects:
    """The Faults, classes, dialects and pages of a cluster. Its methods raise ApiError when the cluster refuses."""

    def __init__(self, client: Client) -> None:
        """Read and write with `client`."""
        self._client = client

    async def documents(self) -> list[Document]:
        """Return the classes and dialects that users have added; none where the kinds are not served."""
        classes, dialects = await both(self._all(FAULT_CLASSES), self._all(FAULT_DIALECTS))
        return [*map(_as_document, classes), *map(_as_document, dialects)]

    async def documents_for(self, class_name: str) -> list[Document]:
        """Return those documents for a fault of a class, in a few milliseconds.

        They are as the API server's cache has them, unless that does not know the present version of the class. A list
        that is certainly current takes up to 100 ms: the API server waits for a notification by etcd.
        """
        (classes, dialects), found = await both(
            both(self._all(FAULT_CLASSES, _CACHED), self._all(FAULT_DIALECTS, _CACHED)),
            self._client.find(FAULT_CLASSES, None, class_name),
        )
        if found is not None and found["metadata"]["resourceVersion"] not in map(_version, classes):
            return await self.documents()
        return [*map(_as_document, classes), *map(_as_document, dialects)]

    async def _all(self, resource: Resource, query: str = "") -> list[Json]:
        """Return the objects of a kind, with `kind` and `apiVersion`."""
        try:
            answer = msgspec.json.decode(await self._client.call("GET", resource.path() + query))
        except ApiError as e:
            if e.status != _NOT_THERE:
                raise
            return []
        kind = {"apiVersion": resource.api_version, "kind": resource.kind}
        return [{**body, **kind} for body in answer["items"]]

    async def count_nodes(self) -> int:
        """Return the number of nodes of the cluster."""
        answer = msgspec.json.decode(
            await self._client.call("GET", f"{NODES.path()}?limit=1"), type=ListPage
        )
        return len(answer.objects) + answer.metadata.remaining

    async def put_definition(self, name: str, definition: FaultDefinition) -> None:
        """Store a definition, unless it is there already."""
        body = {
            "apiVersion": FAULT_PAGES.api_version,
            "kind": FAULT_PAGES.kind,
            "metadata": {"name": name},
            "spec": msgspec.to_builtins(FaultPageSpec(definition=definition)),
        }
        try:
            await self._client.create(FAULT_PAGES, None, msgspec.json.encode(body))
        except ApiError as e:
            if e.status != _EXISTS:
                raise

    async def put_page(
        self, fault: StoredFault, number: int, rows: Sequence[str], known: str
    ) -> None:
        """Store a page of a fault, in place of its known version: its `resourceVersion`, or nothing if none is known.

        Raises ApiError for a conflict if another version is stored: the watch of pages lags behind that of faults, and rows
        that are not known yet must stay.
        """
        meta = fault.metadata
        name = page_name(meta, number)
        spec = msgspec.to_builtins(FaultPageSpec(fault=meta.uid, number=number, rows=tuple(rows)))
        if known:
            patch = msgspec.json.encode({"metadata": {"resourceVersion": known}, "spec": spec})
            path = FAULT_PAGES.path(None, name)
            await self._client.call("PATCH", path, patch, content_type=PatchType.MERGE)
            return
        body = {
            "apiVersion": FAULT_PAGES.api_version,
            "kind": FAULT_PAGES.kind,
            "metadata": {
                "name": name,
                "ownerReferences": [
                    {
                        "apiVersion": FAULTS.api_version,
                        "kind": FAULTS.kind,
                        "name": meta.name,
                        "uid": meta.uid,
                    }
                ],
            },
            "spec": spec,
        }
        try:
            await self._client.create(FAULT_PAGES, None, msgspec.json.encode(body))
        except ApiError as e:
            if e.status != _EXISTS:
                raise
            raise ApiError(str(e), status=e.status, reason="Conflict") from e

    async def put_status(self, fault: StoredFault, status: FaultStatus) -> None:
        """Store the status of a fault, if it is the known version of it."""
        await put_status(self._client, FAULTS, fault.metadata, fault.status, status)

    async def remove_page(self, name: str) -> None:
        """Delete a page that no Fault needs any more."""
        try:
            await self._client.call("DELETE", FAULT_PAGES.path(None, name))
        except ApiError as e:
            if e.status != _NOT_THERE:
                raise


def page_name(fault: ObjectMeta, number: int) -> str:
    """Return the name of a page of a fault."""
    return f"{fault.name[:200]}-{fault.uid[:8]}-{number:04d}"


def _version(body: Mapping[str, Json]) -> Json:
    return body["metadata"]["resourceVersion"]


def _as_document(body: Mapping[str, Json]) -> Document:
    kind, name = body["kind"], body["metadata"]["name"]
    return Document(
        kind=kind,
        api_version=body["apiVersion"],
        name=name,
        body=_bare(body),
        source=f"{kind} {name!r} of the cluster",
    )


def _bare(body: Mapping[str, Json]) -> dict[str, Json]:
    """Return an object as its author has written it."""
    meta = body["metadata"]
    return {**body, "metadata": {name: meta[name] for name in ("name", "labels") if name in meta}}
