"""The objects with which a cluster begins."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from kwokctl.clusters.launching.first_objects import create_first_objects
from kwokctl.clusters.state.home import Home, cluster_name
from kwokctl.clusters.state.saved import Saved
from kwokctl.errors import ApiError
from kwokctl.host.paths import WorkDir
from tests.support.fake_api_server import Reply, Request, serving
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
        home.paths(NAME).kubeconfig.write_text(text)
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
