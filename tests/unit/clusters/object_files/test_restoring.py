"""Objects of a file come into a cluster in an order in which none lacks another."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from kwokctl.clusters.object_files.reading import ObjectFile
from kwokctl.clusters.object_files.restoring.checking import RestoreItem, checked
from kwokctl.clusters.object_files.restoring.loading import LoadCounts, ObjectLoader
from kwokctl.clusters.object_files.restoring.restore import in_order
from kwokctl.clusters.object_files.restoring.sent_objects import NewUids
from kwokctl.errors import SnapshotError, UsageError
from kwokctl.kube.client import Client
from kwokctl.kube.served_kinds import served_kinds
from kwokctl.progress import Silent
from tests.support.object_server import object_server

Object = dict[str, Any]
UID = "00000000-0000-4000-8000-00000000000{}"
PODS = "/api/v1/namespaces/default/pods"
SETS = "/apis/apps/v1/namespaces/default/replicasets"


def _object(
    kind: str, name: str, *, uid: str = "", owner: Object | None = None, **more: Any
) -> Object:
    version = more.pop("version", "v1")
    metadata: Object = {"name": name, "resourceVersion": "5", **more.pop("metadata", {})}
    if uid:
        metadata["uid"] = uid
    if kind not in ("Node", "Namespace", "CustomResourceDefinition"):
        metadata.setdefault("namespace", "default")
    if owner is not None:
        about = {"apiVersion": owner["apiVersion"], "kind": owner["kind"]}
        about |= {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
        metadata["ownerReferences"] = [about]
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


SET = _object("ReplicaSet", "web", uid=UID.format(1), version="apps/v1", status={"replicas": 1})
POD = _object("Pod", "web-1", uid=UID.format(2), owner=SET, spec={}, status={"phase": "Running"})


async def _items(
    folder: Path, client: Client, *objects: Object, words: Sequence[str] = ()
) -> list[RestoreItem]:
    path = folder / "objects.yaml"
    path.write_text(yaml.safe_dump_all(objects))
    return checked(ObjectFile(path), await served_kinds(client), words, 0)


async def _load(folder: Path, client: Client, *objects: Object) -> LoadCounts:
    loader = ObjectLoader(client, NewUids(), Silent())
    for group in in_order(await _items(folder, client, *objects)):
        await loader.load(group)
    return loader.counts


async def test_references_lead_to_the_new_owner_wherever_it_stands_in_the_file(
    tmp_path: Path,
) -> None:
    async with object_server() as (server, client):
        counts = await _load(tmp_path, client, POD, SET)
        pod = server.get(PODS, "web-1")

    assert (counts.created, counts.failed, counts.skipped) == (2, [], [])
    assert pod["metadata"]["ownerReferences"][0]["uid"] == "new-web"
    assert pod["metadata"]["uid"] == "new-web-1"
    assert pod["status"] == {"phase": "Running"}


async def test_an_owner_may_be_in_the_cluster_already(tmp_path: Path) -> None:
    async with object_server() as (server, client):
        server.put(SETS, "web", metadata={"uid": "there"})
        counts = await _load(tmp_path, client, POD)
        owner = server.get(PODS, "web-1")["metadata"]["ownerReferences"][0]
    assert (counts.created, owner["uid"]) == (1, "there")


async def test_an_object_without_its_owner_is_left_out_and_named(tmp_path: Path) -> None:
    async with object_server() as (server, client):
        counts = await _load(tmp_path, client, POD, _object("Node", "n1"))
        assert (PODS, "web-1") not in server.objects
    assert counts.skipped == ["Pod 'default/web-1': its owner ReplicaSet 'web' is missing"]
    assert counts.created == 1


async def test_an_object_that_exists_is_updated_with_its_status(tmp_path: Path) -> None:
    async with object_server() as (server, client):
        server.put(SETS, "web", metadata={"uid": "there"}, status={"replicas": 0}, spec={"a": 0})
        counts = await _load(tmp_path, client, SET | {"spec": {"a": 1}})
        found = server.get(SETS, "web")
    assert (counts.created, counts.updated) == (0, 1)
    assert (found["spec"], found["status"]) == ({"a": 1}, {"replicas": 1})
    assert found["metadata"]["uid"] == "there"


async def test_an_object_that_does_not_say_its_namespace_is_named_before_anything_is_touched(
    tmp_path: Path,
) -> None:
    lost = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    async with object_server() as (server, client):
        with pytest.raises(SnapshotError) as raised:
            await _items(tmp_path, client, _object("Node", "node-0"), lost)

    assert "have no 'metadata.namespace': ConfigMap 'a' (line 7)" in str(raised.value)
    assert raised.value.hint == "write it into the file; nothing was touched"
    assert not server.objects


async def test_a_missing_namespace_is_made(tmp_path: Path) -> None:
    there = _object("ConfigMap", "a", metadata={"namespace": "gone"})
    async with object_server() as (server, client):
        counts = await _load(tmp_path, client, there)
        assert ("/api/v1/namespaces", "gone") in server.objects
    assert (counts.created, counts.failed) == (1, [])


async def test_what_is_refused_is_named_and_the_rest_is_created(tmp_path: Path) -> None:
    async with object_server() as (server, client):
        server.refused["bad"] = (422, "Invalid", "spec is wrong")
        counts = await _load(tmp_path, client, _object("Node", "bad"), _object("Node", "good"))
    assert counts.failed == ["Node 'bad': spec is wrong"]
    assert counts.created == 1


async def test_a_service_gets_another_address_if_its_own_cannot_be_had(tmp_path: Path) -> None:
    service = _object(
        "Service", "s", spec={"clusterIP": "172.20.0.9", "clusterIPs": ["172.20.0.9"]}
    )
    async with object_server() as (server, client):
        server.refuse_address = True
        counts = await _load(tmp_path, client, service)
        spec = server.get("/api/v1/namespaces/default/services", "s")["spec"]
    assert (counts.created, spec) == (1, {})


async def test_what_a_cluster_makes_itself_stays_as_it_is(tmp_path: Path) -> None:
    own = [
        _object("Service", "kubernetes"),
        _object("ConfigMap", "kube-root-ca.crt"),
        _object(
            "ConfigMap", "extension-apiserver-authentication", metadata={"namespace": "kube-system"}
        ),
    ]
    async with object_server() as (server, client):
        counts = await _load(tmp_path, client, *own)
        assert server.objects == {}
    assert counts.left == 3


async def test_owners_come_first_and_pods_after_what_they_need(tmp_path: Path) -> None:
    definition = _object("CustomResourceDefinition", "d", version="apiextensions.k8s.io/v1")
    account, space = _object("ServiceAccount", "a"), _object("Namespace", "s")
    async with object_server() as (_, client):
        items = await _items(tmp_path, client, POD, account, SET, space, definition)
    order = [item.object.kind for group in in_order(items) for item in group]
    assert order == ["CustomResourceDefinition", "Namespace", "ServiceAccount", "ReplicaSet", "Pod"]


async def test_objects_that_own_each_other_do_not_stop_the_rest(tmp_path: Path) -> None:
    one = _object("ConfigMap", "one", uid=UID.format(1))
    two = _object("ConfigMap", "two", uid=UID.format(2), owner=one)
    one["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "two", "uid": UID.format(2)}
    ]
    async with object_server() as (_, client):
        counts = await _load(tmp_path, client, one, two, _object("Node", "n1"))
    assert counts.created == 1
    assert len(counts.skipped) == 2


DEFINITION = _object(
    "CustomResourceDefinition",
    "gadgets.example.org",
    version="apiextensions.k8s.io/v1",
    spec={
        "group": "example.org",
        "names": {"plural": "gadgets", "kind": "Gadget"},
        "scope": "Namespaced",
        "versions": [{"name": "v1", "subresources": {"status": {}}}],
    },
)


async def test_kinds_that_the_file_itself_defines_are_known(tmp_path: Path) -> None:
    gadget = _object("Gadget", "g", version="example.org/v1")
    async with object_server() as (_, client):
        items = await _items(tmp_path, client, gadget, DEFINITION)
        [kind] = [item.kind for item in items if item.object.kind == "Gadget"]
        some = await _items(tmp_path, client, gadget, DEFINITION, words=["gadgets.example.org"])
    assert kind.resource.path("x") == "/apis/example.org/v1/namespaces/x/gadgets"
    assert kind.has_status
    assert len(some) == 1


@pytest.mark.parametrize(
    ("version", "kind", "message"),
    [
        ("example.org/v1", "Gadget", r"'Gadget' of 'example.org/v1' \(line \d+\)"),
        ("example.com/v9", "Widget", r"line \d+\), but example.com/v1, example.com/v1beta1"),
    ],
)
async def test_kinds_that_are_not_served_are_refused_before_anything_is_written(
    tmp_path: Path, version: str, kind: str, message: str
) -> None:
    async with object_server() as (server, client):
        with pytest.raises(SnapshotError, match=message) as caught:
            await _load(
                tmp_path, client, _object("Node", "n1"), _object(kind, "g", version=version)
            )
        assert server.objects == {}
        assert "--filter" in str(caught.value.hint)
        assert len(await _items(tmp_path, client, _object("Node", "n1"), words=["node"])) == 1


async def test_an_empty_file_and_a_word_for_no_kind_are_refused(tmp_path: Path) -> None:
    async with object_server() as (_, client):
        with pytest.raises(SnapshotError, match="holds no objects"):
            await _items(tmp_path, client)
        with pytest.raises(UsageError, match="'--filter' is 'gadget'"):
            await _items(tmp_path, client, _object("Node", "n1"), words=["gadget"])
