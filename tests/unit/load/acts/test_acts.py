"""Acts besides create, against a small API server: which objects they choose, and what they send."""

import asyncio
import json
import re
from collections import Counter
from typing import Any

import pytest

from kwokctl.draws.streams import DrawStream
from kwokctl.errors import ApiError, ConfigError
from kwokctl.kube.client import Client
from kwokctl.load.acts.act import Act, ActContext, Data
from kwokctl.load.acts.choose import act_of
from kwokctl.load.client.sender import Flight, LoadSender
from tests.support.load_rig import load_of
from tests.support.object_server import ObjectServer, object_server

_PATH = "/api/v1/namespaces/default/pods"
_TARGET = {"kind": "pods", "load": "web"}


def act(client: Client, seed: int = 0, **shape: Any) -> tuple[Act, LoadSender]:
    load = load_of({"every": "1s"}, count=1, create=None, **shape)
    sender = LoadSender(client, load.spec)
    context = ActContext(load, "test", sender, DrawStream.of(seed, load.name))
    return act_of(context), sender


def data(index: int) -> Data:
    return {"index": index, "name": f"web-{index}", "params": {"n": 3}}


async def done(act: Act, sender: LoadSender, index: int) -> Flight:
    flight = Flight(sender)
    await act.prepared(data(index))(flight)
    return flight


def filled(server: ObjectServer, number: int) -> None:
    for each in range(number):
        server.put(
            _PATH, f"pod-{each:02}", spec={"nodeName": "node-1"}, status={"phase": "Running"}
        )


async def test_an_object_is_drawn_for_each_arrival_and_again_with_the_same_seed() -> None:
    async def patched(seed: int) -> list[str]:
        async with object_server() as (server, client):
            filled(server, 10)
            shape = {
                "target": _TARGET,
                "patch": "metadata: {annotations: {count: '{{ .params.n }}'}}",
            }
            patch, sender = act(client, seed, patch=shape)
            for index in range(40):
                await done(patch, sender, index)
            sent = [each for each in server.requests if each.method == "PATCH"]
            assert json.loads(sent[0].body) == {"metadata": {"annotations": {"count": "3"}}}
            assert sent[0].query["fieldManager"] == "kwokctl"
            assert sent[0].headers["content-type"] == "application/merge-patch+json"
            lists = [
                each for each in server.requests if each.path == "/api/v1/namespaces/default/pods"
            ]
            assert lists[0].query["labelSelector"] == "kwokctl.dev/load=web"
            return [each.path.rpartition("/")[2] for each in sent]

    first = await patched(0)
    assert len(Counter(first)) > 6
    assert await patched(0) == first
    assert await patched(1) != first


async def test_an_object_may_be_named_by_a_template() -> None:
    async with object_server() as (server, client):
        filled(server, 3)
        scale, sender = act(
            client,
            scale={
                "target": {"kind": "po", "name": "pod-{{ .index }}"},
                "replicas": "{{ .params.n }}",
            },
        )
        with pytest.raises(ApiError, match="not found"):
            await done(scale, sender, 7)
        (sent,) = server.requests[-1:]
        assert (sent.method, sent.path) == ("PATCH", f"{_PATH}/pod-7/scale")
        assert json.loads(sent.body) == {"spec": {"replicas": 3}}
        assert not [each for each in server.requests if each.method == "GET" and each.path == _PATH]


async def test_without_an_object_an_arrival_is_refused() -> None:
    async with object_server() as (_, client):
        delete, sender = act(client, delete={"target": _TARGET})
        with pytest.raises(ApiError, match="there are no pods to change") as error:
            await done(delete, sender, 0)
        assert error.value.reason == "NoTarget"


async def test_what_it_owns_is_deleted_in_the_background() -> None:
    async with object_server() as (server, client):
        filled(server, 3)
        delete, sender = act(client, delete={"target": _TARGET})
        flight = await done(delete, sender, 0)
        assert len(server.objects) == 2
        assert json.loads(server.requests[-1].body) == {"propagationPolicy": "Background"}
        assert flight.sent is not None
        assert not flight.made


async def test_a_share_is_created_again_as_it_was_and_others_each_time() -> None:
    async with object_server() as (server, client):
        filled(server, 10)
        before = {key: value["metadata"]["uid"] for key, value in server.objects.items()}
        recreate, sender = act(client, recreate={"target": _TARGET, "percent": 30})
        chosen = []
        for index in range(5):
            flight = await done(recreate, sender, index)
            assert len(flight.made) == 3
            chosen.append(tuple(each.name for each in flight.made))
        assert len(set(chosen)) > 1
        assert len(server.objects) == 10
        again = [
            value
            for key, value in server.objects.items()
            if value["metadata"]["uid"] != before[key]
        ]
        assert {each["metadata"]["name"] for each in again} == {
            n for names in chosen for n in names
        }
        assert all(each["spec"] == {} and "status" not in each for each in again)


async def test_of_what_a_controller_has_made_the_controller_makes_it_again() -> None:
    async with object_server() as (server, client):
        server.put(_PATH, "owned", metadata={"ownerReferences": [{"name": "web"}]})
        recreate, sender = act(client, recreate={"target": _TARGET, "percent": 1})
        flight = await done(recreate, sender, 0)
        assert not server.objects
        assert not flight.made


async def test_every_page_is_read() -> None:
    async with object_server() as (server, client):
        filled(server, 5)
        read, sender = act(client, list={"target": {"kind": "pods", "namespace": ""}, "limit": 2})
        await done(read, sender, 0)
        lists = [each for each in server.requests if each.path == "/api/v1/pods"]
        assert [each.query.get("continue") for each in lists] == [None, "2", "4"]
        assert "resourceVersion" not in lists[0].query
        whole, sender = act(client, list={"target": {"kind": "pods", "namespace": ""}})
        await done(whole, sender, 0)
        assert server.requests[-1].query == {"resourceVersion": "0"}


async def test_the_requests_of_a_load_keep_its_rate_and_its_field_manager() -> None:
    async with object_server() as (server, client):
        load = load_of({"every": "1s"}, count=1, qps=1000, fieldManager="me")
        sender = LoadSender(client, load.spec)
        create = act_of(ActContext(load, "test", sender, DrawStream.of(0, "web")))
        await asyncio.gather(*(done(create, sender, index) for index in range(3)))
        assert {each.query["fieldManager"] for each in server.requests} == {"me"}
        assert len(server.objects) == 3
        assert sender.held_up > 0


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ({"delete": {"target": {"kind": "gadgets"}}}, "'spec.delete.target.kind' is not served: "),
        (
            {"delete": {"target": {"kind": "pods", "name": "{{ .params.m }}"}}},
            "'spec.delete.target.name' does not render: it writes '<no value>'",
        ),
        (
            {"scale": {"target": _TARGET, "replicas": "{{ .name }}"}},
            "'spec.scale.replicas' gives 'web-0', not a number of replicas",
        ),
        (
            {"patch": {"target": _TARGET, "patch": '{{ fail "no" }}'}},
            "'spec.patch.patch' does not render: ",
        ),
        ({"patch": {"target": _TARGET, "patch": "a: [b"}}, "'spec.patch.patch' is not YAML: "),
        (
            {"patch": {"target": _TARGET, "patch": "[]"}},
            "'spec.patch.patch' does not give a mapping",
        ),
        (
            {"patch": {"target": _TARGET, "patch": "{}", "type": "json"}},
            "'spec.patch.patch' does not give a list",
        ),
    ],
)
async def test_what_cannot_be_done_is_named_before_it_is_tried(shape: Any, said: str) -> None:
    async with object_server() as (server, client):
        wrong, _ = act(client, **shape)
        with pytest.raises(ConfigError, match=f"^load.yaml: {re.escape(said)}"):
            await wrong.rights(data(0))
        assert {each.method for each in server.requests} <= {"GET"}
