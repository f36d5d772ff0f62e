"""Runs loads side by side against one cluster."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

from kwokctl.kube.kubeconfig.access import Access
from kwokctl.load.arrival import ArrivalSink, Unobserved
from kwokctl.load.documents import Load
from kwokctl.load.one_load import Arriving, LoadRun
from kwokctl.load.sender import connected
from kwokctl.load.verdict import Verdict
from kwokctl.progress import Progress, Silent
from kwokctl.tasks import first_failure


async def run_loads(  # noqa: PLR0913 - they say what is run, where, and who is told
    loads: Sequence[Load],
    access: Access,
    *,
    run: str,
    seed: int,
    speed: float = 1.0,
    sink: ArrivalSink | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Let all arrivals of all loads come when they are due, and return what became of them.

    `run` names this run in the labels of what is made. What is wrong is an error before anything is
    created. A slow server delays arrivals, and none is left out. Cancelled, no more arrivals are sent.
    """
    arriving = Arriving(run=run, seed=seed, speed=speed, sink=sink or Unobserved())
    async with AsyncExitStack() as stack:
        runs = [
            LoadRun(
                load,
                await stack.enter_async_context(connected(access, load.spec.namespace)),
                arriving,
            )
            for load in loads
        ]
        await _side_by_side(runs, progress or Silent())
    verdicts = tuple(each.tally.verdict() for each in runs)
    return Verdict(run=run, seed=seed, loads=verdicts, is_stopped=arriving.stop.is_set())


async def _side_by_side(runs: Sequence[LoadRun], progress: Progress) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            for each in runs:
                group.create_task(each.go(progress))
    except BaseExceptionGroup as failures:
        raise first_failure(failures) from None
