"""CPU profiles of a component that is started again while a run is measured."""

import asyncio
from pathlib import Path

from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.pool import Pool
from kwokctl.measure.sampling.component_profiles import profiling
from kwokctl.measure.sampling.metric_sources import MetricsSource
from kwokctl.model import KUBE_SCHEDULER
from tests.support.fake_api_server import Reply, Request, serving


async def test_a_component_that_does_not_answer_once_is_asked_again(tmp_path: Path) -> None:
    async def handle(_request: Request, reply: Reply) -> None:
        number = len(server.requests)
        if number in (2, 3):  # a request that is cut on a connection that was kept is sent again
            reply.cut()
        elif number == 5:
            has_more.set()
            await reply.refuse(404, "NotFound", "no more")
        else:
            await reply.send(b"a profile")

    notes: list[str] = []
    has_more = asyncio.Event()
    async with (
        asyncio.timeout(20),
        serving(handle) as server,
        Pool(Access(server=server.url)) as pool,
        profiling(
            [MetricsSource(name=KUBE_SCHEDULER, pool=pool)],
            tmp_path,
            lambda _, text: notes.append(text),
        ),
    ):
        await has_more.wait()

    assert notes == [f"CPU profiles in '{tmp_path}': 2 of kube-scheduler"]
    assert len([*tmp_path.iterdir()]) == 2
