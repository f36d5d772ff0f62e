"""What happens in an etcd is recorded, and replayed in another one."""

import asyncio
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml

from kwokctl.clusters.direct_etcd.access import ObjectAccess
from kwokctl.clusters.direct_etcd.finding import WantedObjects, follow_objects
from kwokctl.clusters.direct_etcd.recording import (
    StoredRecording,
    StoredRecordingRequest,
    record_stored,
)
from kwokctl.clusters.direct_etcd.replaying import StoredReplayRequest, replay_stored
from kwokctl.clusters.object_files.recording.replay import Replayed
from kwokctl.clusters.object_files.recording.replay_clock import ReplayClock
from kwokctl.dataplane.objects.resources import resources_with
from kwokctl.dataplane.objects.stored_values import decoded, json_value, value_with
from kwokctl.errors import KwokctlError
from kwokctl.etcd.kv.kv import KeyValue
from kwokctl.progress import Silent
from tests.support.eventually import eventually
from tests.support.watched_etcd import WatchedEtcd
from tests.support.widgets import WIDGETS

POD = b"/registry/pods/default/a"
NODE = b"/registry/minions/n"
LEASE = b"/registry/events/default/e"
WIDGET = b"/registry/example.com/widgets/default/w"
DEFINITION_KEY = b"/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com"


def _pod(*images: str, **more: Any) -> bytes:
    containers = [{"name": f"c{n}", "image": image} for n, image in enumerate(images)]
    metadata = {"name": "a", "namespace": "default", "uid": "u", **more}
    return value_with(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": {"containers": containers},
        }
    )


def _node() -> bytes:
    return value_with({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})


def _widget(**spec: Any) -> bytes:
    metadata = {"name": "w", "namespace": "default"}
    head = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata}
    return json_value({**head, "spec": spec})


def _access(etcd: WatchedEtcd, *definitions: Any) -> ObjectAccess:
    resources = resources_with(definitions)
    return ObjectAccess(kv=etcd, prefix="/registry/", resources=resources, api=None)


async def _recorded(
    etcd: WatchedEtcd, path: Path, *, ends: bool = False, change: Any = lambda: None
) -> StoredRecording:
    request = StoredRecordingRequest(path=path, only_snapshot=ends)
    access = _access(etcd)
    recording = asyncio.create_task(record_stored(access, request, Silent()))
    if not ends:
        await eventually(lambda: etcd.is_watched or recording.done())
        change()
        for _ in range(20):
            await asyncio.sleep(0)
        recording.cancel()
    return await recording


async def _replayed(etcd: WatchedEtcd, path: Path, **more: Any) -> Replayed:
    def uncontrolled(_clock: ReplayClock) -> Any:
        return nullcontext()

    request = StoredReplayRequest(path=path, **more)
    return await replay_stored(_access(etcd), request, uncontrolled, Silent())


def _documents(path: Path) -> list[Any]:
    return list(yaml.safe_load_all(path.read_text()))


async def test_what_there_is_and_what_happens_is_recorded_and_comes_again(tmp_path: Path) -> None:
    etcd, path = WatchedEtcd(), tmp_path / "run.yaml"
    etcd.put(POD, _pod("one", "two"))

    def change() -> None:
        etcd.put(DEFINITION_KEY, json_value(WIDGETS))
        etcd.put(POD, _pod("three", finalizers=["f"]))
        etcd.put(NODE, _node())
        etcd.put(WIDGET, _widget(sizes=[1, 2]))
        etcd.put(WIDGET, _widget(sizes=[3]))
        etcd.put(NODE, value_with({**decoded(_node()).document, "spec": {"unschedulable": True}}))
        etcd.delete(NODE)

    done = await _recorded(etcd, path, change=change)

    assert (done.objects, done.changes, done.faults) == (1, 7, ())
    methods = [each.get("method") for each in _documents(path)]
    made, changed, gone = "create", "patch", "delete"
    assert methods == [None, made, changed, made, made, changed, changed, gone]
    other = WatchedEtcd()
    replayed = await _replayed(other, path, speed=1000.0)
    assert (replayed.objects, replayed.changes, replayed.failed) == (1, 7, ())
    assert other.stored.keys() == {POD, DEFINITION_KEY, WIDGET}
    pod = decoded(other.stored[POD].value).document
    assert [each["image"] for each in pod["spec"]["containers"]] == ["three"]
    assert (pod["metadata"]["finalizers"], pod["metadata"]["uid"]) == (["f"], "u")
    assert decoded(other.stored[WIDGET].value).document["spec"] == {"sizes": [3]}


class BusyEtcd(WatchedEtcd):
    """Another client writes an object as soon as it has been read, once."""

    meanwhile: bytes | None = None

    async def get(self, key: bytes) -> KeyValue | None:
        found = await super().get(key)
        if self.meanwhile is not None:
            self.put(key, self.meanwhile)
            self.meanwhile = None
        return found


async def test_what_another_client_writes_during_a_replay_stays(tmp_path: Path) -> None:
    etcd, path = WatchedEtcd(), tmp_path / "run.yaml"
    etcd.put(POD, _pod("one"))
    await _recorded(etcd, path, change=lambda: etcd.put(POD, _pod("two")))
    other = BusyEtcd()
    other.meanwhile = _pod("one", labels={"a": "b"})

    await _replayed(other, path, speed=1000.0)

    pod = decoded(other.stored[POD].value).document
    assert (pod["spec"]["containers"][0]["image"], pod["metadata"]["labels"]) == ("two", {"a": "b"})


async def test_a_snapshot_alone_ends_by_itself_and_is_replayed_alone(tmp_path: Path) -> None:
    etcd, path = WatchedEtcd(), tmp_path / "objects.yaml"
    etcd.put(POD, _pod("one"))

    assert (await _recorded(etcd, path, ends=True)).objects == 1

    other = WatchedEtcd()
    assert (await _replayed(other, path, only_snapshot=True)).changes == 0
    pods = [decoded(each.stored[POD].value).document for each in (etcd, other)]
    assert pods[0]["spec"] == pods[1]["spec"]


async def test_what_expires_and_what_is_no_object_of_a_kind_is_left_out(tmp_path: Path) -> None:
    etcd, path = WatchedEtcd(), tmp_path / "objects.yaml"
    etcd.put(LEASE, _pod("one"), lease=7)
    etcd.put(b"/registry/masterleases/10.0.0.1", _pod("one"))
    etcd.put(b"/registry/secrets/default/s", b"k8s:enc:x")
    etcd.put(WIDGET, _widget())
    etcd.put(NODE, _node())

    done = await _recorded(etcd, path, ends=True)

    assert [each["kind"] for each in _documents(path)] == ["Node"]
    assert done.faults == (
        (
            "'/registry/example.com/widgets/default/w' is not recorded: "
            "there is no kind 'Widget' in 'example.com/v1'"
        ),
        "'/registry/secrets/default/s' is not recorded: it is encrypted",
    )


async def test_nothing_is_written_if_one_change_could_not_be(tmp_path: Path) -> None:
    etcd, path = WatchedEtcd(), tmp_path / "run.yaml"
    await _recorded(etcd, path, change=lambda: etcd.put(POD, _pod("one")))
    path.write_text(path.read_text().replace('"image"', '"imag"'))
    other = WatchedEtcd()

    with pytest.raises(KwokctlError, match=r"line 1: 'spec.containers.0..imag' is not a field"):
        await _replayed(other, path)
    assert other.stored == {}


async def test_a_change_of_what_is_not_there_is_named_and_the_others_are_done(
    tmp_path: Path,
) -> None:
    etcd, path = WatchedEtcd(), tmp_path / "run.yaml"
    etcd.put(POD, _pod("one"))

    def change() -> None:
        etcd.put(POD, _pod("two"))
        etcd.put(NODE, _node())

    await _recorded(etcd, path, change=change)
    documents = path.read_text().split("---\n")
    path.write_text("---\n".join(documents[1:]))
    other = WatchedEtcd()

    replayed = await _replayed(other, path, speed=1000.0)

    assert list(other.stored) == [NODE]
    assert replayed.failed == ("line 1, patch of Pod 'default/a': there is no such object in etcd",)


@pytest.mark.parametrize("only_changes", [False, True])
async def test_objects_are_followed_from_what_there_is(only_changes: bool) -> None:
    etcd = WatchedEtcd()
    etcd.put(POD, _pod("one"))
    found: list[tuple[bytes, bool | None]] = []
    following = asyncio.create_task(
        follow_objects(
            _access(etcd),
            WantedObjects(resource="pods"),
            lambda item: found.append((item.key, None)),
            lambda change: found.append((change.item.key, change.is_deleted)),
            chunk=500,
            only_changes=only_changes,
        )
    )
    await eventually(lambda: etcd.is_watched or following.done())
    etcd.put(NODE, _node())
    etcd.put(POD, _pod("two"))
    etcd.delete(POD)
    await eventually(lambda: found[-1:] == [(POD, True)] or following.done())
    following.cancel()

    assert found == [(POD, None), (POD, False), (POD, True)][only_changes:]
