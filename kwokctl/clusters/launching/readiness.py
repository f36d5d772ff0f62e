"""Waits until components are ready, and fails at once when one cannot become so."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from kwokctl.clusters.launching.causes import cause_in, ends, last_run, shown
from kwokctl.errors import ComponentError, TimedOutError
from kwokctl.kube.transport.probe import probe, repeated
from kwokctl.model import ClusterName, Component, ComponentName, HttpProbe, State
from kwokctl.runtime import Runtime, TellsMore
from kwokctl.waits import STARTING, Moved, after, bounded, ignored

_POLL, _POLL_SHARE = 0.03, 0.03
"""Seconds between two probes at least, and as a share of the time that was waited: what boots has
no time to spare."""
_LOOK = 0.2
"""Seconds between two looks at the states of components, which are slow with an engine."""
_LEAST = 0.001
"""Seconds: 0 would be no bound."""
_MEBI = 1024 * 1024


async def wait_ready(
    runtime: Runtime,
    cluster: ClusterName,
    components: Collection[Component],
    moved: Moved = ignored,
) -> None:
    """Return when every probe of every component has held; one without a probe has to run.

    `moved` is called when one more holds. Raises ComponentError, with the end of its log, as soon as one of them has died.
    """
    probes = [probe for each in components for probe in each.ready]
    await _wait(runtime, cluster, components, probes, moved)


async def wait_answers(
    runtime: Runtime, cluster: ClusterName, components: Collection[Component]
) -> None:
    """Return when those that answer before they are ready do so.

    Raises ComponentError, with the end of its log, as soon as a component has died.
    """
    probes = [probe for each in components for probe in each.answers]
    await _wait(runtime, cluster, components, probes, ignored)


async def _wait(
    runtime: Runtime,
    cluster: ClusterName,
    components: Collection[Component],
    probes: Sequence[HttpProbe],
    moved: Moved,
) -> None:
    began, looked = time.monotonic(), -math.inf
    async with AsyncExitStack() as stack:
        asked = (repeated(each, within=STARTING) for each in probes)
        waiting = [await stack.enter_async_context(each) for each in asked]
        while True:
            if time.monotonic() - looked >= _LOOK:
                await _all_alive(runtime, cluster, components)
                looked = time.monotonic()
            if not waiting:
                return
            held = await _asked(waiting, partial(_all_alive, runtime, cluster, components))
            waiting = [each for each, holds in zip(waiting, held, strict=True) if not holds]
            if any(held):
                moved()
            if waiting:
                await asyncio.sleep(max(_POLL, _POLL_SHARE * (time.monotonic() - began)))


async def _asked(
    waiting: Sequence[Callable[[], Awaitable[bool]]], look: Callable[[], Awaitable[None]]
) -> list[bool]:
    """Ask probes, and look at the components meanwhile.

    An API server whose etcd has ended answers only after ten seconds.
    """
    asking = asyncio.gather(*(holds() for holds in waiting))
    try:
        while not (await asyncio.wait([asking], timeout=_LOOK))[0]:
            await look()
        return await asking
    finally:
        asking.cancel()
        # Its CancelledError is retrieved: otherwise asyncio reports it as an exception that was never retrieved.
        await asyncio.gather(asking, return_exceptions=True)


async def unready(components: Collection[Component]) -> list[Component]:
    """Return the components with a probe that fails now."""

    async def holds(component: Component) -> bool:
        return all(await asyncio.gather(*(probe(each) for each in component.ready)))

    found = await asyncio.gather(*(holds(component) for component in components))
    return [c for c, is_ready in zip(components, found, strict=True) if not is_ready]


async def remarks(runtime: Runtime, cluster: ClusterName) -> Mapping[ComponentName, str]:
    """Return what the runtime knows of components beyond their state."""
    return await runtime.remarks(cluster) if isinstance(runtime, TellsMore) else {}


async def log_tail(runtime: Runtime, cluster: ClusterName, name: ComponentName) -> str:
    """Return the last lines that a component has written, those in JSON as texts."""
    return shown(await last_run(runtime, cluster, name))


@asynccontextmanager
async def explaining_timeouts(
    runtime: Runtime,
    cluster: ClusterName,
    components: Collection[Component],
    seconds: float | None,
    *,
    spent: float = 0.0,
) -> AsyncIterator[Moved]:
    """Bound a block that waits for components, and calls what it is given when one more is ready.

    0 and None mean no bound; `spent` of the seconds are over. After that time TimedOutError names the components that are not ready, with
    the end of a log.
    """
    try:
        left = max(seconds - spent, _LEAST) if seconds and spent else seconds
        async with bounded(left) as moved:
            yield moved
    except TimeoutError as e:
        late = await unready(components)
        names = ", ".join(map(_with_limit, late))
        raise TimedOutError(
            f"{names or 'the cluster'} {'are' if len(late) > 1 else 'is'} not ready "
            f"{after(seconds or 0.0)}",
            hint="allow more time, or repeat it with --keep-on-failure and look into "
            f"'kwokctl --name {cluster} logs COMPONENT'",
            detail=await log_tail(runtime, cluster, late[0].name) if late else None,
        ) from e


async def _all_alive(
    runtime: Runtime, cluster: ClusterName, components: Collection[Component]
) -> None:
    states = await runtime.states(cluster)
    for component in components:
        if states.get(component.name) is not State.RUNNING:
            raise await _has_exited(runtime, cluster, component)


async def _has_exited(
    runtime: Runtime, cluster: ClusterName, component: Component
) -> ComponentError:
    """Return the error for a component that has ended: why, as far as the runtime or its log says."""
    remark = (await remarks(runtime, cluster)).get(component.name)
    lines = await last_run(runtime, cluster, component.name)
    cause = cause_in(ends(lines))
    who = f"'{component.name}'" if remark else _with_limit(component)
    reasons = ", ".join(filter(None, (cause.what if cause else "", remark)))
    whole = f"its whole log: kwokctl --name {cluster} logs {component.name}"
    return ComponentError(
        f"{who} has exited{reasons and f': {reasons}'}",
        hint=f"{cause.remedy}; {whole}" if cause else whole,
        detail=shown(lines, cause.line if cause else "") or None,
        component=component.name,
        remedy=cause.remedy if cause else "",
    )


def _with_limit(component: Component) -> str:
    """Name a component, and its limit of memory.

    Near it a program need not be killed: it may spend so much time on garbage collection that it
    misses its deadlines, and ends for reasons that do not mention memory.
    """
    limit = component.limits.memory // _MEBI
    return f"'{component.name}'" + (f" (limited to {limit}Mi of memory)" if limit else "")
