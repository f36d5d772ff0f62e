"""The objects with which a cluster begins."""

import asyncio
import json
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from kwokctl.clusters.launching.first_objects import apply_objects, create_first_objects
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.saved import Saved
from kwokctl.errors import ApiError
from kwokctl.host.paths import ClusterPaths, WorkDir
from kwokctl.json_value import Json
from kwokctl.kube.kubeconfig import entries
from kwokctl.model import METRICS_SERVER, Artifact, Component
from tests.support.fake_api_server import FakeApiServer, Reply, Request, serving
from tests.support.options import cluster_options
from tests.support.saved_cluster import save_cluster

NAME = cluster_name("kwok")
DEFAULT = "storageclass.kubernetes.io/is-default-class"
CLASSES = {"kind": "StorageClass", "name": "storageclasses", "namespaced": False}


def saved(folder: Path, *stages: str) -> tuple[Home, Saved]:
    home = Home(workdir=WorkDir(folder), cache=folder)
    options = cluster_options(runtime="fake", stage=stages)
    return home, save_cluster(home.workdir, NAME, options)


async def created(
    folder: Path, *answers: tuple[int, str], classes: tuple[dict[str, Any], ...] = ()
) -> list[dict[str, Any]]:
    """Return what is created in a cluster of volume-fast that answers so."""
    home, cluster = saved(folder, "volume-fast")
    left, bodies = list(answers), []

    async def handle(request: Request, reply: Reply) -> None:
        if request.method == "GET":
            is_list = request.path.endswith("/storageclasses")
            await reply.json({"items": classes} if is_list else {"resources": [CLASSES]})
            return
        bodies.append(orjson.loads(request.body))
        if left:
            status, reason = left.pop(0)
            await reply.refuse(status, reason, "no")
        else:
            await reply.json({}, status=201)

    async with serving(handle) as server:
        text = f"""
clusters: [{{name: a, cluster: {{server: "{server.url}"}}}}]
contexts: [{{name: a, context: {{cluster: a, user: a}}}}]
users: [{{name: a, user: {{}}}}]
current-context: a
"""
        own = home.paths(NAME).own_kubeconfig
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(text)
        await create_first_objects(home, cluster)
    return bodies


async def test_a_set_brings_the_objects_that_its_stages_need(tmp_path: Path) -> None:
    [body] = await created(tmp_path)

    assert body["kind"] == "StorageClass"
    assert body["metadata"]["name"] == "kwok-volume"


@pytest.mark.parametrize(("other", "is_default"), [("true", False), ("false", True)])
async def test_a_class_is_the_default_one_where_there_is_none(
    tmp_path: Path, other: str, *, is_default: bool
) -> None:
    metadata = {"name": "standard", "annotations": {DEFAULT: other}}
    [body] = await created(tmp_path, classes=({"metadata": metadata},))

    assert body["metadata"]["annotations"] == ({DEFAULT: "true"} if is_default else {})


async def test_an_object_that_exists_stays_and_a_server_in_need_is_asked_again(
    tmp_path: Path,
) -> None:
    busy, exists = (503, "ServiceUnavailable"), (409, "AlreadyExists")

    assert len(await created(tmp_path, busy, exists)) == 2


async def test_a_refusal_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ApiError):
        await created(tmp_path, (403, "Forbidden"))


async def test_the_usual_sets_need_no_objects(tmp_path: Path) -> None:
    home, cluster = saved(tmp_path)

    await create_first_objects(home, cluster)


SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "metrics-server", "namespace": "kube-system"},
    "spec": {"type": "ExternalName", "externalName": "127.0.0.1"},
}
API_SERVICE = {
    "apiVersion": "apiregistration.k8s.io/v1",
    "kind": "APIService",
    "metadata": {"name": "v1beta1.metrics.k8s.io"},
    "spec": {"group": "metrics.k8s.io", "caBundle": "CA"},
}


def with_objects(*objects: Mapping[str, Json]) -> Component:
    artifact = Artifact(name=METRICS_SERVER, version="v0")
    return Component(name=METRICS_SERVER, artifact=artifact, objects=objects)


async def answer(request: Request, reply: Reply) -> None:
    if request.method == "GET":
        service = {"name": "apiservices", "kind": "APIService", "namespaced": False}
        await reply.json({"resources": [service]})
    else:
        await reply.json({})


async def applied(folder: Path, server: FakeApiServer, *components: Component) -> None:
    paths = ClusterPaths(folder)
    paths.pki.mkdir(exist_ok=True)
    (paths.pki / "ca.crt").write_text("the authority", encoding="ascii")
    text = entries.by_token("kwok-dev", server.url, paths.pki / "ca.crt", "a-token")
    paths.own_kubeconfig.parent.mkdir(parents=True, exist_ok=True)
    paths.own_kubeconfig.write_text(text, encoding="utf-8")
    await apply_objects(paths, components)


async def test_objects_of_components_are_applied_in_their_order(tmp_path: Path) -> None:
    async with serving(answer) as server:
        await applied(tmp_path, server, with_objects(SERVICE, API_SERVICE))
        writes = [request for request in server.requests if request.method == "PATCH"]

    assert [request.path for request in writes] == [
        "/api/v1/namespaces/kube-system/services/metrics-server",
        "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io",
    ]
    assert all(request.query["force"] == "true" for request in writes)
    assert {request.headers["content-type"] for request in writes} == {
        "application/apply-patch+yaml"
    }
    assert json.loads(writes[0].body) == SERVICE


async def test_the_authority_of_the_cluster_is_put_in(tmp_path: Path) -> None:
    async with serving(answer) as server:
        await applied(tmp_path, server, with_objects(API_SERVICE))
        sent = json.loads(server.requests[-1].body)

    assert b64decode(sent["spec"]["caBundle"]) == b"the authority"


async def test_nothing_is_asked_where_there_are_no_objects(tmp_path: Path) -> None:
    async with serving(answer) as server:
        await applied(tmp_path, server, with_objects())
        assert server.requests == []


async def test_an_object_that_is_refused_is_an_error(tmp_path: Path) -> None:
    async def refuse(_: Request, reply: Reply) -> None:
        await reply.refuse(403, "Forbidden", "no")

    async with serving(refuse) as server:
        with pytest.raises(ApiError, match="no"):
            await asyncio.wait_for(applied(tmp_path, server, with_objects(SERVICE)), 10)
