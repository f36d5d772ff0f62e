"""Kinds are found by all names that people have for them."""

import pytest

from kwokctl.kube.served_kinds import served_kinds
from tests.support.object_server import object_server


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("po", "/api/v1/pods"),
        ("pod", "/api/v1/pods"),
        ("Pod", "/api/v1/pods"),
        ("replicaset.apps", "/apis/apps/v1/replicasets"),
        ("replicasets.v1.apps", "/apis/apps/v1/replicasets"),
        ("replicaset", "/apis/apps/v1/replicasets"),
        ("widgets.example.com", "/apis/example.com/v1/widgets"),
        ("widget.v1beta1.example.com", "/apis/example.com/v1beta1/widgets"),
    ],
)
async def test_a_kind_is_found_by_any_of_its_names(word: str, path: str) -> None:
    async with object_server() as (_, client):
        found = (await served_kinds(client)).find(word)
    assert found is not None
    assert found.resource.path() == path


@pytest.mark.parametrize("word", ["pods.apps", "gadget", "widgets.v2.example.com", ""])
async def test_what_is_not_served_is_not_found(word: str) -> None:
    async with object_server() as (_, client):
        assert (await served_kinds(client)).find(word) is None


async def test_a_kind_says_whether_its_status_is_written_apart() -> None:
    async with object_server() as (_, client):
        served = await served_kinds(client)
    pod, config = served.get("v1", "Pod"), served.get("v1", "ConfigMap")
    assert pod is not None
    assert config is not None
    assert (pod.has_status, config.has_status) == (True, False)
    assert served.versions("example.com", "Widget") == ["example.com/v1", "example.com/v1beta1"]
