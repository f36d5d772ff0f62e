"""Objects are written as the API server writes them, or none is."""

import json
from typing import Any

import pytest

from kwokctl.clusters.direct_etcd.access import ObjectAccess
from kwokctl.clusters.direct_etcd.finding import WantedObjects
from kwokctl.clusters.direct_etcd.given_objects import GivenObject, GivenObjects
from kwokctl.clusters.direct_etcd.writing import put_objects
from kwokctl.dataplane.objects.resources import resources_with
from kwokctl.dataplane.objects.stored_values import JSON, PROTOBUF, decoded
from kwokctl.errors import ConfigError, ConflictError
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from tests.support.ranged_etcd import RangedEtcd
from tests.support.widgets import WIDGETS

NOW = "2026-01-02T03:04:05Z"
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": [1]}


def _pod(name: str, **more: Json) -> dict[str, Json]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, **more}


@pytest.fixture
def etcd() -> RangedEtcd:
    return RangedEtcd()


async def _put(
    etcd: RangedEtcd,
    *documents: dict[str, Any],
    wanted: WantedObjects | None = None,
    json_keys: frozenset[str] = frozenset(),
    api: Client | None = None,
) -> list[str]:
    access = ObjectAccess(kv=etcd, prefix="/registry/", resources=resources_with([]), api=api)
    given = tuple(
        GivenObject(place=f"file, document {n}", document=each)
        for n, each in enumerate(documents, start=1)
    )
    objects = GivenObjects(all=given, json_keys=json_keys)
    put = await put_objects(access, objects, wanted or WantedObjects(), now=NOW)
    return [item.key.decode() for item in put]


async def test_an_object_is_stored_as_protocol_buffers_with_what_it_lacks(etcd: RangedEtcd) -> None:
    pod = _pod("a")
    pod["metadata"] |= {"resourceVersion": "7", "selfLink": "/x"}

    assert await _put(etcd, pod) == ["/registry/pods/default/a"]

    found = decoded(etcd.stored[b"/registry/pods/default/a"].value)
    assert found.media_type == PROTOBUF
    metadata = found.document["metadata"]
    assert len(metadata.pop("uid")) == 36
    assert metadata == {"name": "a", "namespace": "default", "creationTimestamp": NOW}


async def test_its_own_uid_and_time_are_kept(etcd: RangedEtcd) -> None:
    own = {"name": "a", "namespace": "x", "uid": "u", "creationTimestamp": "2006-01-02T15:04:05Z"}
    await _put(etcd, {**_pod("a"), "metadata": own})

    assert decoded(etcd.stored[b"/registry/pods/x/a"].value).document["metadata"] == own


async def test_one_bad_object_keeps_all_from_being_written(etcd: RangedEtcd) -> None:
    with pytest.raises(ConfigError) as refused:
        await _put(etcd, _pod("a"), _pod("b", spec={"containers": [{"name": 1}]}))

    assert str(refused.value) == "file, document 2: 'spec.containers[0].name' must be a string"
    assert etcd.stored == {}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "'apiVersion' must be a string"),
        ({"apiVersion": "v1", "kind": "Pod"}, "'metadata' must be a mapping"),
        (_pod(""), "'metadata.name' must be a string"),
        (_pod("a/b"), "'metadata.name' cannot be 'a/b'"),
        (_pod(".."), "'metadata.name' cannot be '..'"),
        (
            {**_pod("a"), "metadata": {"name": "a", "namespace": "../x"}},
            "'metadata.namespace' cann",
        ),
        ({**_pod("a"), "apiVersion": "v2"}, "the kind 'Pod' has no version 'v2'"),
        ({**_pod("a"), "kind": "Pot"}, "there is no kind 'Pot' in 'v1'"),
        (
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "namespace": "b"}},
            "'metadata.namespace' must be empty: a Node has no namespace",
        ),
        (
            {
                "apiVersion": "apiregistration.k8s.io/v1",
                "kind": "APIService",
                "metadata": {"name": "a"},
            },
            "'metadata.name' must be VERSION.GROUP",
        ),
        (WIDGET, "there is no kind 'Widget' in 'example.com/v1'"),
    ],
)
async def test_what_has_no_place_in_etcd_is_refused(
    etcd: RangedEtcd, document: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        await _put(etcd, document)
    assert f"file, document 1: {message}" in str(refused.value)


async def test_only_those_that_are_meant_are_written(etcd: RangedEtcd) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
    other = {**_pod("a"), "metadata": {"name": "a", "namespace": "other"}}
    documents = (node, _pod("a"), _pod("b"), other)

    assert await _put(etcd, *documents, wanted=WantedObjects(resource="po", name="a")) == [
        "/registry/pods/default/a",
        "/registry/pods/other/a",
    ]
    assert await _put(etcd, *documents, wanted=WantedObjects(namespace="default")) == [
        "/registry/minions/a",
        "/registry/pods/default/a",
        "/registry/pods/default/b",
    ]


async def test_a_definition_and_objects_of_its_kind_may_come_together(etcd: RangedEtcd) -> None:
    assert await _put(etcd, WIDGETS, WIDGET) == [
        "/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com",
        "/registry/example.com/widgets/default/w",
    ]
    stored = json.loads(etcd.stored[b"/registry/example.com/widgets/default/w"].value)
    assert stored["spec"] == [1]


async def test_the_metadata_of_a_custom_resource_is_checked(etcd: RangedEtcd) -> None:
    widget = {**WIDGET, "metadata": {"name": "w", "labels": {"a": 1}}}

    with pytest.raises(ConfigError, match=r"'metadata\.labels\.a' must be a string"):
        await _put(etcd, WIDGETS, widget)


async def test_what_was_stored_as_json_is_again(etcd: RangedEtcd) -> None:
    key = "/registry/pods/default/a"
    status = {"startTime": "2026-01-02T03:04:05.625Z"}
    await _put(etcd, _pod("a", status=status), json_keys=frozenset({key}))

    found = decoded(etcd.stored[key.encode()].value)
    assert found.media_type == JSON
    assert found.document["status"] == status


async def test_what_expires_still_does(etcd: RangedEtcd) -> None:
    etcd.leases[7] = 10
    etcd.put(b"/registry/pods/default/a", b"{}", lease=7)
    await _put(etcd, _pod("a"))

    assert etcd.stored[b"/registry/pods/default/a"].lease == 7


async def test_nothing_is_written_beside_encrypted_values(etcd: RangedEtcd) -> None:
    etcd.put(b"/registry/pods/default/other", b"k8s:enc:aescbc:v1:key:x")

    with pytest.raises(ConflictError, match="the values under '/registry/pods/' are encrypted"):
        await _put(etcd, _pod("a"))
    assert b"/registry/pods/default/a" not in etcd.stored


async def test_an_api_server_that_does_not_answer_is_not_waited_for(etcd: RangedEtcd) -> None:
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "a"}}
    async with Pool(Access(server="http://127.0.0.1:1")) as pool:
        assert await _put(etcd, claim, api=Client(pool)) == ["/registry/resourceclaims/default/a"]
