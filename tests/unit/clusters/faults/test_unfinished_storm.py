"""A schedule whose plan could not be stored."""

import asyncio
import json
from pathlib import Path

import pytest

from kwokctl.clusters.faults.run_storm import RunRequest, run_storm
from kwokctl.clusters.state.home import cluster_name
from kwokctl.config.config_documents import Document
from kwokctl.errors import ApiError
from tests.support.changing_kind import named
from tests.support.fake_api_server import Reply, Request
from tests.support.served_home import served_home
from tests.support.watches import page

NAME = cluster_name("kwok")
NODE = named("n", spec={}, status={"conditions": [{"type": "Ready", "status": "True"}]})
SPEC = {
    "horizon": "1h",
    "processes": [{"class": "not-ready", "every": {"fixed": {"gap": "10m"}}}],
}


@pytest.mark.parametrize("is_interrupted", [False, True])
async def test_it_is_deleted_whose_name_would_be_taken_for_nothing(
    tmp_path: Path, *, is_interrupted: bool
) -> None:
    stored = asyncio.Event()
    deleted: list[tuple[str, object]] = []

    async def handle(request: Request, reply: Reply) -> None:
        plural = request.path.rpartition("/")[2]
        if request.method == "DELETE":
            deleted.append((plural, json.loads(request.body or b"null")))
            await reply.json({})
        elif plural == "nodes":
            await reply.json(page(NODE, version=1))
        elif request.method == "POST" and plural == "faultschedules":
            await reply.json(named("storm", spec=SPEC))
        elif request.method == "POST":
            stored.set()
            if is_interrupted:
                await asyncio.Event().wait()
            await reply.refuse(403, "Forbidden", "quota of pages")
        else:
            await reply.json(page(version=1))

    body = {"metadata": {"name": "storm"}, "spec": SPEC}
    document = Document(
        kind="FaultSchedule", api_version="kwokctl.dev/v1alpha1", name="storm", body=body, source="x"
    )  # fmt: skip
    request = RunRequest(document=document, documents=())
    async with asyncio.timeout(20), served_home(tmp_path, NAME, handle) as home:
        running = asyncio.create_task(run_storm(home, NAME, request, lambda: 0.0))
        await stored.wait()
        if is_interrupted:
            running.cancel()
        with pytest.raises(asyncio.CancelledError if is_interrupted else ApiError):
            await running

    assert deleted == [("storm", {"preconditions": {"uid": "uid-storm"}}), ("faultpages", None)]
