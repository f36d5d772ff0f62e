"""Runs loads side by side against one cluster."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from kwokctl.kube.kubeconfig.access import Access
from kwokctl.load.arrival import ArrivalSink, Unobserved
from kwokctl.load.client.sender import connected
from kwokctl.load.description.bundles import RUN_LABEL
from kwokctl.load.load_documents import Load
from kwokctl.load.load_verdict import RunVerdict
from kwokctl.load.past_api.way import WayIn, no_way
from kwokctl.load.sending.load_hooks import run_hooks
from kwokctl.load.sending.one_load import LoadRun, RunContext
from kwokctl.progress import Progress, Silent
from kwokctl.tasks import first_failure


async def run_loads(  # noqa: PLR0913 - they say what is run, where, and what receives the results
    loads: Sequence[Load],
    access: Access,
    *,
    run: str,
    seed: int,
    speed: float = 1.0,
    kubeconfig: Path | None = None,
    way: WayIn = no_way,
    sink: ArrivalSink | None = None,
    progress: Progress | None = None,
) -> RunVerdict:
    """Send all arrivals of all loads when they are due, and return the verdict.

    `run` names this run in the labels of what is made. The commands of hooks get the `kubeconfig`. Loads with
    `bulk` are written by the `way` past the API server. What is
    wrong is an error before anything is created. A slow server delays arrivals, and none is left out. When
    the task is cancelled no more arrivals are sent.
    """
    progress = progress or Silent()
    context = RunContext(run=run, seed=seed, speed=speed, sink=sink or Unobserved())
    async with AsyncExitStack() as stack:
        direct = await stack.enter_async_context(way(loads))
        runs: dict[str, LoadRun] = {}
        for load in loads:
            sender = await stack.enter_async_context(connected(access, load.spec))
            runs[load.name] = LoadRun(load, sender, context, direct)
        await run_hooks(loads, "before", kubeconfig, progress)
        for each in runs.values():
            await each.check()
        await _side_by_side(runs, run, progress)
        await run_hooks(loads, "after", kubeconfig, progress)
    verdicts = tuple(each.verdict() for each in runs.values())
    return RunVerdict(run=run, seed=seed, loads=verdicts, is_stopped=context.is_stopped)


async def _side_by_side(runs: dict[str, LoadRun], run: str, progress: Progress) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            for each in runs.values():
                group.create_task(each.go(runs.get(each.load.spec.after), progress))
    except BaseExceptionGroup as failures:
        if any(each.tally.objects for each in runs.values()):
            progress.note(f"what was made until then has the label '{RUN_LABEL}={run}'")
        raise first_failure(failures) from None
