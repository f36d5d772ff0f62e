"""Pauses components of a running cluster while its objects are written."""

import shutil
from collections.abc import AsyncIterator, Collection
from contextlib import ExitStack, asynccontextmanager

from kwokctl.clusters.launching.readiness import explaining_timeouts, wait_ready
from kwokctl.clusters.state.saved import Saved
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import UnavailableError
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import ComponentName
from kwokctl.runtime import HoldsComponents, Runtime
from kwokctl.waits import USUAL

_ROOM = 1 << 20
"""Bytes that the disk must have free: for the pid files of processes, and the first lines of logs."""


class Pause:
    """Components of a cluster that stand still, and then run again."""

    def __init__(
        self, runtime: Runtime, saved: Saved, wanted: Collection[str], later: Collection[str]
    ) -> None:
        """Pause those of these components that the cluster has, some of them only later."""
        self._runtime = runtime
        self._cluster = saved.name
        self._wanted = [name for name in saved.names if name in wanted]
        self._later = [name for name in saved.names if name in later]
        self._held = ExitStack()

    async def stop(self) -> None:
        """Stop the wanted ones."""
        await self._stop(self._wanted)

    async def replace(self) -> None:
        """Stop the wanted ones. New ones start at once where the runtime can keep these from acting."""
        if isinstance(self._runtime, HoldsComponents) and self._wanted:
            self._held.callback(await self._runtime.replace_held(self._cluster, *self._wanted))
        else:
            await self.stop()

    async def stop_later(self) -> None:
        """Stop the others."""
        await self._stop(self._later)

    def let_go(self) -> None:
        """Release the components that are held: all changes that they react to are written."""
        self._held.close()

    async def end(self) -> None:
        """Start all of them, also those that did not run before: a run that was killed may have stopped them."""
        self.let_go()
        await self._runtime.start(self._cluster, *self._wanted, *self._later)

    async def _stop(self, names: Collection[ComponentName]) -> None:
        if names:
            await self._runtime.stop(self._cluster, *names)


@asynccontextmanager
async def pausing(
    runtime: Runtime,
    saved: Saved,
    paths: ClusterPaths,
    wanted: Collection[str],
    later: Collection[str] = (),
) -> AsyncIterator[Pause]:
    """Yield a pause of components, and start them again even if the block fails.

    It ends when the `wanted` ones are ready; the others get ready after that. Raises UnavailableError, before
    anything is stopped, if the disk is too full for the files that they write when they start.
    """
    pause = Pause(runtime, saved, wanted, later)
    if not any(name in {*wanted, *later} for name in saved.names):
        yield pause
        return
    _demand_room(paths)
    try:
        yield pause
    finally:
        await pause.end()
    plan = saved.plan(runtime, paths)
    components = [component for name, component in plan.components.items() if name in wanted]
    async with explaining_timeouts(runtime, saved.name, components, USUAL) as moved:
        await wait_ready(runtime, saved.name, components, moved)


@asynccontextmanager
async def paused(
    runtime: Runtime, saved: Saved, paths: ClusterPaths, wanted: Collection[str]
) -> AsyncIterator[None]:
    """Stop the `wanted` components that the cluster has while the block runs."""
    async with pausing(runtime, saved, paths, wanted) as pause:
        await pause.stop()
        yield


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
            f"'{paths.root}' has too little space for the files that components write when they start again: "
            f"{free / 1e6:,.1f} MB are free",
            hint="free space there, then repeat; nothing was stopped",
        )
