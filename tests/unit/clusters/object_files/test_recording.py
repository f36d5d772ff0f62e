"""What happens is written down as the original writes it."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from kwokctl.clusters.object_files.reading import ObjectFile
from kwokctl.clusters.object_files.recording.actions import checked_actions, in_time
from kwokctl.clusters.object_files.recording.patch_lists import UNKNOWN, PatchSchema, patch_schemas
from kwokctl.clusters.object_files.recording.recorder import (
    KindHistory,
    Recorder,
    two_way_patch,
    unchanged,
)
from kwokctl.clusters.object_files.rules.applying import Scrubber
from kwokctl.clusters.object_files.rules.pseudonyms import Pseudonyms
from kwokctl.clusters.object_files.rules.rules_file import load_rules
from kwokctl.errors import SnapshotError
from kwokctl.kube.client import Client
from kwokctl.kube.collections.watch import Event, EventType
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import CONFIG_MAPS, PODS
from kwokctl.kube.served_kinds import served_kinds
from kwokctl.kube.transport.pool import Pool
from tests.support.fake_api_server import Reply, Request, serving
from tests.support.object_server import object_server

SCHEMAS: Mapping[str, Any] = {
    "Pod": {
        "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Pod"}],
        "properties": {
            "metadata": {"allOf": [{"$ref": "#/components/schemas/Meta"}]},
            "spec": {"$ref": "#/components/schemas/Spec"},
        },
    },
    "Meta": {
        "properties": {
            "finalizers": {"type": "array", "x-kubernetes-patch-strategy": "merge"},
            "labels": {"additionalProperties": {"type": "string"}},
        }
    },
    "Spec": {
        "properties": {
            "args": {"type": "array"},
            "containers": {
                "x-kubernetes-patch-strategy": "merge",
                "x-kubernetes-patch-merge-key": "name",
            },
            "volumes": {"x-kubernetes-patch-strategy": "merge,retainKeys"},
        }
    },
}
POD = PatchSchema(SCHEMAS["Pod"], SCHEMAS)


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1, "b": {"c": 1, "d": 2}}, {"b": {"c": 1}}, {"a": None, "b": {"d": None}}),
        ({}, {"metadata": {"labels": {"a": "b"}}}, {"metadata": {"labels": {"a": "b"}}}),
        ({"spec": {"args": ["a"]}}, {"spec": {"args": ["b"]}}, {"spec": {"args": ["b"]}}),
        (
            {"metadata": {"finalizers": ["a", "b"]}},
            {"metadata": {"finalizers": ["b", "c"]}},
            {
                "metadata": {
                    "finalizers": ["c"],
                    "$deleteFromPrimitiveList/finalizers": ["a"],
                }
            },
        ),
        (
            {"spec": {"containers": [{"name": "a"}]}},
            {"spec": {"containers": [{"name": "b"}]}},
            {"spec": {"containers": [{"$patch": "replace"}, {"name": "b"}]}},
        ),
        (
            {"spec": {"volumes": []}},
            {"spec": {"volumes": [{"name": "b"}]}},
            {"spec": {"volumes": [{"$patch": "replace"}, {"name": "b"}]}},
        ),
    ],
)
def test_a_patch_says_what_is_different(old: Any, new: Any, patch: Any) -> None:
    assert two_way_patch(old, new, POD) == patch


def test_of_custom_resources_lists_are_replaced() -> None:
    old, new = {"spec": {"list": [{"a": 1}]}}, {"spec": {"list": [{"a": 2}]}}
    assert two_way_patch(old, new, UNKNOWN) == new


async def test_how_lists_are_merged_is_asked_of_the_api_server() -> None:
    async def publish(request: Request, reply: Reply) -> None:
        if request.path == "/openapi/v3":
            paths = {"api/v1": {"serverRelativeURL": "/openapi/v3/api/v1?hash=1"}}
            await reply.json({"paths": paths})
        else:
            await reply.json({"components": {"schemas": SCHEMAS}})

    async with serving(publish) as server, Pool(Access(server=server.url)) as pool:
        found = await patch_schemas(Client(pool), [PODS, CONFIG_MAPS])
    assert list(found) == [PODS]
    assert found[PODS].field("spec").field("containers").is_merged
    assert not found[PODS].field("spec").field("args").is_merged


async def test_without_the_right_to_ask_lists_are_replaced() -> None:
    async def forbid(request: Request, reply: Reply) -> None:
        await reply.refuse(403, "Forbidden", "no")

    async with serving(forbid) as server, Pool(Access(server=server.url)) as pool:
        assert await patch_schemas(Client(pool), [PODS]) == {}


def _pod(name: str, **spec: Any) -> Any:
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name, "resourceVersion": "5"},
        "spec": spec,
    }


async def test_first_there_is_what_there_was_then_what_happens() -> None:
    go_on = asyncio.Event()

    async def answer(request: Request, reply: Reply) -> None:
        if "watch" not in request.query:
            await reply.json(
                {"metadata": {"resourceVersion": "5"}, "items": [_pod("a"), _pod("b")]}
            )
            return
        await reply.begin()
        await go_on.wait()
        await reply.event("MODIFIED", _pod("a", nodeName="n"))
        await reply.event("MODIFIED", _pod("a", nodeName="n"))
        await reply.event("ADDED", _pod("c", x="2026-01-01T00:00:00Z"))
        await reply.event("DELETED", _pod("b"))
        await asyncio.Event().wait()

    times = iter(range(0, 10**6, 10))
    found: list[Any] = []
    async with serving(answer) as server, Pool(Access(server=server.url)) as pool:
        recorder = Recorder(pool, [PODS], {PODS: POD}, unchanged, lambda: next(times))
        async for documents in recorder.documents():
            found += [yaml.safe_load(each) for each in documents]
            go_on.set()
            if len(found) == 5:
                break
    assert [each["metadata"]["name"] for each in found[:2]] == ["a", "b"]
    changed, created, deleted = found[2:]
    assert changed == {
        "apiVersion": "action.kwok.x-k8s.io/v1alpha1",
        "kind": "ResourcePatch",
        "resource": {"version": "v1", "resource": "pods"},
        "target": {"name": "a", "namespace": "default"},
        "durationNanosecond": changed["durationNanosecond"],
        "method": "patch",
        "template": {"spec": {"nodeName": "n"}},
    }
    assert (created["method"], created["template"]["kind"]) == ("create", "Pod")
    assert "resourceVersion" not in created["template"]["metadata"]
    assert (deleted["method"], "template" in deleted) == ("delete", False)
    assert changed["durationNanosecond"] < created["durationNanosecond"]


def test_a_recording_with_rules_holds_only_what_they_leave() -> None:
    names = Pseudonyms("salt")
    history = KindHistory(PODS, POD, Scrubber(load_rules("twin"), "salt").scrubbed)
    found = []
    for kind, more in (("ADDED", {}), ("MODIFIED", {"nodeName": "hunter2"}), ("DELETED", {})):
        raw = msgspec.json.encode(_pod("hunter2", **more)).replace(b'"uid":"hunter2"', b'"uid":"u"')
        found.append(history.document(Event(EventType(kind), None, raw), 1))
    created, changed, deleted = (yaml.safe_load(each or b"") for each in found)
    assert b"hunter2" not in b"".join(filter(None, found))
    assert created["template"]["metadata"]["name"] == names.word("hunter2")
    assert changed["template"] == {"spec": {"nodeName": names.word("hunter2")}}
    assert deleted["target"]["name"] == names.word("hunter2")


def _action(number: int, method: str = "create", **more: Any) -> str:
    action = {
        "apiVersion": "action.kwok.x-k8s.io/v1alpha1",
        "kind": "ResourcePatch",
        "resource": {"version": "v1", "resource": "pods"},
        "target": {"name": f"p{number}", "namespace": "default"},
        "durationNanosecond": number,
        "method": method,
        "template": {"metadata": {"uid": f"u{number}"}},
        **more,
    }
    return json.dumps({name: value for name, value in action.items() if value is not None})


async def _actions(folder: Path, *documents: str) -> list[str]:
    path = folder / "recording.yaml"
    path.write_text("\n---\n".join(documents))
    async with object_server() as (_, client):
        found = checked_actions(ObjectFile(path), await served_kinds(client), 0, {})
        return [each.action.target.name for each in in_time(list(found))]


async def test_changes_come_in_their_time_but_after_their_owners(tmp_path: Path) -> None:
    owned = {"metadata": {"uid": "u1", "ownerReferences": [{"uid": "u7"}]}}
    documents = [_action(9), _action(1, template=owned), _action(7), _action(8), _action(3)]
    assert await _actions(tmp_path, *documents) == ["p3", "p7", "p1", "p8", "p9"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (_action(1, method="remove"), "line 1: this change cannot be understood: .*remove"),
        (_action(1, template=None), "the change 'create' lacks the field 'template'"),
        (_action(1, method="delete"), "the change 'delete' must have no field 'template'"),
        (
            _action(1, resource={"version": "v2", "resource": "pods"}),
            "does not serve 'pods' of 'v2'",
        ),
        (_action(1, target={}), "cannot be understood: .*name"),
    ],
)
async def test_a_change_that_cannot_be_done_is_named(
    tmp_path: Path, document: str, message: str
) -> None:
    with pytest.raises(SnapshotError, match=message):
        await _actions(tmp_path, document)
