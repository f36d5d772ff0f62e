"""Starts the components of a plan, wave by wave."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from kwokctl.clusters.launching.objects import apply_objects
from kwokctl.clusters.launching.ports import explaining_taken_ports, refuse_taken
from kwokctl.clusters.launching.readiness import explaining_timeouts, wait_ready
from kwokctl.clusters.state.home import Home
from kwokctl.errors import TimedOutError
from kwokctl.host.ports import HeldPorts
from kwokctl.model import Component, ComponentName, Plan, State
from kwokctl.runtime import Runtime

T = TypeVar("T")


async def _nothing() -> None:
    """Prepare nothing."""


class Patience(NamedTuple):
    """How long a launch may take, in seconds."""

    timeout: float | None = None
    """For getting the programs and launching; None for no limit."""
    wait: float | None = None
    """For the readiness of the last wave, on a clock of its own: 0 for as long as it takes, None for
    not to wait for it."""
    spent: float = 0.0
    """Seconds of the timeout that are over."""


_NO_LIMIT = Patience()


async def got(programs: Awaitable[T], patience: Patience) -> tuple[T, Patience]:
    """Get programs as part of a launch; return them, and the patience with what comes then."""
    began = time.monotonic()
    limit = asyncio.timeout(patience.timeout or None)
    try:
        async with limit:
            found = await programs
    except TimeoutError as e:
        if not limit.expired():
            raise
        raise TimedOutError(
            f"the programs were not fetched or built after {patience.timeout:g} s",
            hint="nothing was started; what has come is kept: repeat the command to continue, with a "
            "longer --timeout",
        ) from e
    return found, patience._replace(spent=time.monotonic() - began)


async def bring_up(
    home: Home,
    runtime: Runtime,
    plan: Plan,
    held: HeldPorts,
    patience: Patience = _NO_LIMIT,
    prepare: Callable[[], Awaitable[None]] = _nothing,
) -> tuple[ComponentName, ...]:
    """Start every wave when the one before it is ready; return the components that did not run.

    `prepare` is called when the first wave, which has the API server, is ready; if it is the only
    one, when it has been started. Components that run already are left alone.
    """
    waves = list(plan.waves())
    every = plan.components.values()
    states = await runtime.states(plan.cluster)
    missing = tuple(c.name for c in every if states.get(c.name) is not State.RUNNING)
    async with explaining_taken_ports(runtime, plan):
        limit = explaining_timeouts(
            runtime, plan.cluster, every, patience.timeout, spent=patience.spent
        )
        async with limit:
            for number, wave in enumerate(waves):
                await refuse_taken(runtime, plan, held, waves[number:])
                home.paths(plan.cluster).stopped.unlink(missing_ok=True)
                is_last = wave is waves[-1]
                launched = [] if is_last else [c.name for c in wave if c.name in missing]
                fresh = [component for component in wave if component.name in missing]
                await apply_objects(home.paths(plan.cluster), fresh)
                with _step(home, "Starting", launched):
                    await _start(runtime, plan, held, wave, ready=not is_last)
                if number == 0:
                    await prepare()
        if patience.wait is not None:
            last = [component.name for component in waves[-1]] if missing else []
            with _step(home, "Waiting for", last):
                waiting = explaining_timeouts(runtime, plan.cluster, every, patience.wait)
                async with waiting as moved:
                    await wait_ready(runtime, plan.cluster, every, moved)
    return missing


async def _start(
    runtime: Runtime, plan: Plan, held: HeldPorts, wave: tuple[Component, ...], *, ready: bool
) -> None:
    names = [component.name for component in wave]
    await runtime.start(plan.cluster, *names)
    if ready:
        await wait_ready(runtime, plan.cluster, wave)
        held.release(*names)


@contextmanager
def _step(home: Home, what: str, names: Collection[ComponentName]) -> Iterator[None]:
    """Show a step that names components, unless there are none."""
    if not names:
        yield
        return
    with home.progress.step(f"{what} {', '.join(names)}"):
        yield
