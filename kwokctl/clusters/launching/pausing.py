"""Pauses components of a running cluster while its objects are written."""

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial

from kwokctl.clusters.launching.readiness import explaining_timeouts, wait_ready
from kwokctl.clusters.state.saved import Saved
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import UnavailableError
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import ComponentName
from kwokctl.runtime import Runtime

_ROOM = 1 << 20
"""Bytes that the files have to have room for by which processes are found, and the first lines of logs."""
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
    did not run: a run that was killed has left them so. It ends when the `wanted` ones are ready; the others
    get ready after that. Raises UnavailableError, before anything is
    stopped, if the disk has no room for what they write when they start.
    """
    names = [name for name in saved.names if name in {*wanted, *later}]
    if not names:
        yield _nothing
        return
    _demand_room(paths)

    async def stop(chosen: Collection[str]) -> None:
        if found := [name for name in names if name in chosen]:
            await runtime.stop(saved.name, *found)

    await stop(wanted)
    try:
        yield partial(stop, later)
    finally:
        await runtime.start(saved.name, *names)
    plan = saved.plan(runtime, paths)
    components = [component for name, component in plan.components.items() if name in wanted]
    async with explaining_timeouts(runtime, saved.name, components, _READY_WITHIN):
        await wait_ready(runtime, saved.name, components)


def answering(options: ClusterOptions, *, needs_webhooks: bool) -> list[ComponentName]:
    """Return the user's components, and those of add-ons, that may answer each object with others.

    If webhooks are needed, because objects are written through the API server, those that may serve some are
    left out.
    """
    return [
        extra.name
        for extra in options.extras
        if extra.may_change_objects and not (needs_webhooks and extra.may_serve_webhooks)
    ]


def _demand_room(paths: ClusterPaths) -> None:
    free = shutil.disk_usage(paths.root).free
    if free < _ROOM:
        raise UnavailableError(
            f"'{paths.root}' has no room for what components write when they start again: "
            f"{free / 1e6:,.1f} MB are free",
            hint="free space there, then repeat; nothing was stopped",
        )


async def _nothing() -> None:
    """Stop nothing: there is nothing that could be stopped."""
