"""What loads have made is deleted, and nothing that has a name of it meanwhile."""

import json
from pathlib import Path

from kwokctl.clusters.state.home import cluster_name
from kwokctl.load.clear import ClearRequest, clear_loads
from tests.support.changing_kind import named
from tests.support.fake_api_server import Reply, Request
from tests.support.served_home import served_home
from tests.support.watches import page

NAME = cluster_name("kwok")
CONFIG_MAPS = {
    "name": "configmaps",
    "kind": "ConfigMap",
    "namespaced": True,
    "verbs": ["list", "delete"],
}


async def test_an_object_that_was_made_anew_by_another_stays(tmp_path: Path) -> None:
    there = {"mine": "uid-mine", "gone": "", "taken": "of another"}

    async def handle(request: Request, reply: Reply) -> None:
        name = request.path.rpartition("/")[2]
        if request.path == "/api/v1":
            await reply.json({"resources": [CONFIG_MAPS]})
        elif request.path == "/apis":
            await reply.json({"groups": []})
        elif request.method != "DELETE":
            await reply.json(page(*map(named, there), version=1))
        elif not there[name]:
            await reply.refuse(404, "NotFound", "not found")
        elif json.loads(request.body)["preconditions"]["uid"] != there[name]:
            await reply.refuse(409, "Conflict", "the UID in the precondition does not match")
        else:
            del there[name]
            await reply.json({})

    async with served_home(tmp_path, NAME, handle) as home:
        await clear_loads(home, NAME, ClearRequest())

    assert list(there) == ["gone", "taken"]
