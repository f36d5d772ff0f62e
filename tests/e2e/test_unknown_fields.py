"""Fields that no table of kwokctl has, as of a later Kubernetes, stay in a real etcd."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.dataplane.objects.stored_values import json_value
from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import NODES
from tests.support.installed import Installed
from tests.support.planes import KEYS, reached

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.components,
    pytest.mark.timeout(600, func_only=True),
]

NAME = "later"
KEY = KEYS.key(NODES, None, NAME)
UNKNOWN: Json = {"fromTomorrow": {"a": [1, {"b": "c"}]}}
ADDRESSES: Json = [{"type": "Hostname", "address": NAME}]
SCHEMA: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
DEFINITION: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"kind": "Gadget", "plural": "gadgets"},
        "scope": "Namespaced",
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}
        ],
    },
}


@pytest.fixture
def node(storage: Installed) -> Iterator[Json]:
    """A node of a later release, as its API server shows it."""
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NAME}}
    storage.create(body)
    shown = storage.found("node", NAME)
    yield {**shown, **UNKNOWN, "spec": {**shown["spec"], **UNKNOWN}}
    storage.delete("node", NAME, "--ignore-not-found")


def test_a_status_that_is_written_to_etcd_keeps_them(storage: Installed, node: Json) -> None:
    async def patched() -> Json:
        async with reached(storage) as at:
            status = {"status": {"addresses": ADDRESSES}}
            patch = Patch(document=status, type=PatchType.MERGE, subresource="status")
            await at.plane.patch(ObjectKey(NODES, None, NAME), patch, current=node)
            found = await at.kv.get(KEY)
            assert found is not None
            return json.loads(found.value)

    stored = asyncio.run(patched())

    assert stored["status"]["addresses"] == ADDRESSES
    assert stored["fromTomorrow"] == stored["spec"]["fromTomorrow"] == UNKNOWN["fromTomorrow"]


def test_a_rewind_puts_them_back(storage: Installed, node: Json) -> None:
    value = json_value(node)

    async def put() -> None:
        async with reached(storage) as at:
            await ObjectStore(at.kv).put_over(KEY, value)

    async def stored() -> bytes | None:
        async with reached(storage) as at:
            found = await at.kv.get(KEY)
            return found.value if found else None

    asyncio.run(put())
    storage.ok("snapshot", "mark", NAME)
    # The API server does not know them either: it takes them away with its next write.
    storage.label("node", NAME, "touched=yes")
    assert b"fromTomorrow" not in (asyncio.run(stored()) or b"")

    storage.ok("snapshot", "rewind", NAME)

    assert asyncio.run(stored()) == value


def test_a_restore_of_objects_keeps_what_their_kind_allows(
    storage: Installed, tmp_path: Path
) -> None:
    metadata = {"name": "g", "namespace": "default"}
    gadget = {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": metadata, **UNKNOWN}
    file = tmp_path / "objects.yaml"
    file.write_text("\n---\n".join(map(json.dumps, (DEFINITION, gadget))))

    storage.ok("snapshot", "restore", "--format", "k8s", "--path", str(file))

    found = storage.found("gadget", "g")
    storage.delete("crd", DEFINITION["metadata"]["name"])
    assert found["fromTomorrow"] == UNKNOWN["fromTomorrow"]
