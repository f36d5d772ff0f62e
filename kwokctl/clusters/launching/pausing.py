"""Lets components of a running cluster stand still while its objects are written."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial

from kwokctl.clusters.launching.readiness import explaining_timeouts, wait_ready
from kwokctl.clusters.state.saved import Saved
from kwokctl.host.paths import ClusterPaths
from kwokctl.runtime import Runtime

_READY_WITHIN = 60.0
"""Seconds that a component has to work again."""


@asynccontextmanager
async def paused(
    runtime: Runtime,
    saved: Saved,
    paths: ClusterPaths,
    wanted: Collection[str],
    later: Collection[str] = (),
) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Stop those of the `wanted` components that the cluster has, and start them again.

    What it yields stops those called `later`, too. All are started even if the block fails, and if they
    did not run: a run that was killed has left them so.
    """
    names = [name for name in saved.names if name in {*wanted, *later}]
    if not names:
        yield _nothing
        return

    async def stop(chosen: Collection[str]) -> None:
        if found := [name for name in names if name in chosen]:
            await runtime.stop(saved.name, *found)

    await stop(wanted)
    try:
        yield partial(stop, later)
    finally:
        await runtime.start(saved.name, *names)
    plan = saved.plan(runtime, paths)
    components = [component for name, component in plan.components.items() if name in names]
    async with explaining_timeouts(runtime, saved.name, components, _READY_WITHIN):
        await wait_ready(runtime, saved.name, components)


async def _nothing() -> None:
    """Stop nothing: there is nothing that could be stopped."""
