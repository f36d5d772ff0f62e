"""Fields that kwokctl does not know, as of a later Kubernetes, are kept on every way to etcd.

Where that is not possible nothing is written, and the API server or the user decides.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from kwokctl.clusters.direct_etcd.access import ObjectAccess
from kwokctl.clusters.direct_etcd.finding import WantedObjects
from kwokctl.clusters.direct_etcd.given_objects import GivenObject, GivenObjects
from kwokctl.clusters.direct_etcd.replaying import patched_value
from kwokctl.clusters.direct_etcd.writing import put_objects
from kwokctl.clusters.forking.kubelet_addresses import ForkedNode, KubeletPlace, Move
from kwokctl.clusters.object_files.reading import ObjectFile
from kwokctl.clusters.object_files.restoring.checking import checked
from kwokctl.clusters.object_files.restoring.loading import ObjectLoader
from kwokctl.clusters.object_files.restoring.sent_objects import NewUids
from kwokctl.clusters.state.cluster_stages import stages_in_force
from kwokctl.clusters.state.home import cluster_name
from kwokctl.clusters.time_travel.make_mark import copied, write_witness
from kwokctl.clusters.time_travel.write_difference import Settling
from kwokctl.dataplane.copies.json_stamp import stamp_of
from kwokctl.dataplane.copies.protobuf_stamp import PREFIX, protobuf_stamp
from kwokctl.dataplane.etcd_plane import EtcdPlane
from kwokctl.dataplane.objects.resources import resources_with
from kwokctl.dataplane.objects.stored_values import (
    UndecodableError,
    decoded,
    json_value,
    value_with,
)
from kwokctl.dataplane.port import Patch
from kwokctl.errors import ConfigError
from kwokctl.etcd.kv.kv import KeyValue
from kwokctl.etcd.marks.mark_content import opened
from kwokctl.etcd.protobuf import LENGTH, fields, sized, tag
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import PODS
from kwokctl.kube.served_kinds import served_kinds
from kwokctl.progress import Silent
from tests.support.fake_runtime import FakeRuntime
from tests.support.memory_etcd import MemoryEtcd
from tests.support.object_server import object_server
from tests.support.options import cluster_options
from tests.support.pods_in_etcd import played
from tests.support.pods_in_etcd import pod as playable
from tests.support.ranged_etcd import RangedEtcd
from tests.support.reaching import reach_of
from tests.support.saved_cluster import home_with
from tests.support.stage_documents import read
from tests.support.widgets import WIDGETS
from tests.unit.dataplane.copies.test_json_stamp import LATER, copy_of, thing
from tests.unit.dataplane.copies.test_protobuf_stamp import NAME as OWN_NAME
from tests.unit.dataplane.copies.test_protobuf_stamp import stamp
from tests.unit.dataplane.test_api_plane import answering
from tests.unit.dataplane.test_etcd_plane import POD, RUNNING, Api, Rig, route

UNKNOWN: Mapping[str, Any] = {"fromTomorrow": {"a": [1, {"b": None}]}}
NAME = cluster_name("dev")
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, **UNKNOWN}


def _with_unknown(document: Mapping[str, Any]) -> dict[str, Any]:
    """Have fields that no table knows, in the object and in each of its parts."""
    parts = {name: {**document.get(name, {}), **UNKNOWN} for name in ("metadata", "spec", "status")}
    return {**document, **UNKNOWN, **parts}


def _assert_kept(document: Mapping[str, Any]) -> None:
    for part in (document, *(document[name] for name in ("metadata", "spec", "status"))):
        assert part["fromTomorrow"] == UNKNOWN["fromTomorrow"]


async def test_a_status_in_etcd_keeps_them() -> None:
    rig = Rig()
    rig.seen = _with_unknown(rig.seen)

    await rig.plane.patch(POD, RUNNING, current=rig.seen)

    assert (rig.api.asked, rig.stored["status"]["phase"]) == ([], "Running")
    _assert_kept(rig.stored)


@pytest.mark.parametrize("is_planned", [True, False])
def test_a_stage_that_is_played_keeps_them(*, is_planned: bool) -> None:
    random = Random(1)
    pods = [_with_unknown(playable(number, random)) for number in range(40)]
    stages = read(stages_in_force(cluster_options(stage=("pod-general",)), ()).documents)

    story = played(stages, pods, is_planned=is_planned)

    assert bool(story.planned) is is_planned
    for each in pods:
        found = story.pod(each["metadata"]["name"])
        assert found is not None
        assert found["status"]["phase"] != "Pending"
        _assert_kept(found)


async def test_a_rewind_puts_them_back(tmp_path: Path) -> None:
    kv, key = RangedEtcd(), b"/registry/pods/default/a"
    before = json_value(_with_unknown({"apiVersion": "v1", "kind": "Pod"}))
    kv.put(key, before)
    home = home_with(tmp_path, NAME, cluster_options(), FakeRuntime())
    reach = reach_of(home, NAME, kv)
    mark = await copied(reach, "a", await write_witness(kv, "a"))
    reach.marks.keep(mark)
    kv.put(key, b"{}")

    async def nothing() -> None:
        pass

    with opened(reach.marks.content(mark)) as content:
        settling = Settling(reach, mark, content, in_all=False, rest=0)
        await settling.run(before_writes=nothing, before_moves=nothing)

    assert kv.stored[key].value == before


async def test_a_restore_sends_them(tmp_path: Path) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default"}}
    path = tmp_path / "objects.yaml"
    path.write_text(yaml.safe_dump(_with_unknown(pod)))
    async with object_server() as (server, client):
        items = checked(ObjectFile(path), await served_kinds(client), (), 0)
        await ObjectLoader(client, NewUids(), Silent()).load(items)

        _assert_kept(server.get("/api/v1/namespaces/default/pods", "a"))


def _widgets(etcd: RangedEtcd) -> ObjectAccess:
    resources = resources_with([WIDGETS])
    return ObjectAccess(kv=etcd, prefix="/registry/", resources=resources, api=None)


async def _put(etcd: RangedEtcd, document: dict[str, Any]) -> None:
    given = GivenObjects(all=(GivenObject(place="file", document=document),), json_keys=frozenset())
    await put_objects(_widgets(etcd), given, WantedObjects(), now="2026-01-01T00:00:00Z")


async def test_a_custom_resource_that_is_put_keeps_them() -> None:
    etcd = RangedEtcd()

    await _put(etcd, WIDGET)

    (found,) = etcd.stored.values()
    assert json.loads(found.value)["fromTomorrow"] == UNKNOWN["fromTomorrow"]


async def test_a_built_in_kind_with_them_is_not_put() -> None:
    etcd = RangedEtcd()
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": dict(UNKNOWN)}

    with pytest.raises(ConfigError, match=r"'spec.fromTomorrow' is not a field"):
        await _put(etcd, pod)

    assert etcd.stored == {}


def test_a_replayed_patch_keeps_them_in_json() -> None:
    value = json_value({**WIDGET, "spec": {"size": 1}})

    patched = json.loads(patched_value(KeyValue(b"k", value, 1), {"spec": {"size": 2}}))

    assert patched == {**WIDGET, "spec": {"size": 2}}


def test_a_replayed_patch_of_a_protocol_buffer_with_them_is_refused() -> None:
    value = later_pod()

    assert decoded(value).unknown == {"90 of Pod"}
    with pytest.raises(UndecodableError, match="does not know: 90 of Pod"):
        patched_value(KeyValue(b"k", value, 1), {"metadata": {"labels": {"a": "b"}}})


async def test_a_node_of_a_fork_keeps_them() -> None:
    etcd = MemoryEtcd()
    status = {"daemonEndpoints": {"kubeletEndpoint": {"Port": 1001}}}
    node: Json = _with_unknown({"metadata": {"name": "n", "uid": "n"}, "status": status})
    revision = etcd.put(b"/registry/minions/n", json.dumps(node).encode())
    node["metadata"]["resourceVersion"] = str(revision)
    plane = EtcdPlane(Api(), route(etcd), lambda: 0.0)

    move = Move(former=None, now=KubeletPlace(port=1002, addresses={}))
    await move.of(plane, [ForkedNode(node)])

    stored = json.loads(etcd.stored[b"/registry/minions/n"].value)
    assert stored["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"] == 1002
    _assert_kept(stored)


def test_copies_of_scale_have_them_in_json() -> None:
    def sample(serial: int) -> dict[str, Any]:
        return _with_unknown(thing(serial))

    made = stamp_of(sample(0), sample(1), copy_of(0), copy_of(1), {}).make(LATER)

    _assert_kept(json.loads(made))


def test_copies_of_scale_have_them_in_protocol_buffers() -> None:
    found = protobuf_stamp(later_pod(), stamp((OWN_NAME, "a")))

    assert found is not None
    assert decoded(found.make(LATER)).unknown == {"90 of Pod"}


async def test_the_api_server_gets_them_in_patches_and_new_objects() -> None:
    patch = Patch(document={"status": dict(UNKNOWN)}, type=PatchType.MERGE, subresource="status")
    async with answering() as (plane, server):
        await plane.patch(POD, patch)
        await plane.create(PODS, "ns", json.dumps(_with_unknown({})).encode())

        patched, created = (json.loads(request.body) for request in server.requests)
    assert patched == patch.document
    _assert_kept(created)


def later_pod() -> bytes:
    """Return a pod of a later release: it has a field 90 with the number 1."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default"}}
    value = value_with(pod)
    head, raw = (value[start:stop] for start, stop in _parts(value))
    return PREFIX + sized(tag(1, LENGTH), head) + sized(tag(2, LENGTH), raw + b"\xd0\x05\x01")


def _parts(value: bytes) -> list[tuple[int, int]]:
    """Return where the kind and the object are in a value."""
    return [(start, stop) for _, start, stop in fields(value, len(PREFIX), len(value))][:2]
