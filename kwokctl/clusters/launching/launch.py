"""Starts the components of a plan, wave by wave."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from kwokctl.clusters.launching.first_objects import apply_objects
from kwokctl.clusters.launching.ports import explaining_taken_ports, refuse_taken
from kwokctl.clusters.launching.readiness import explaining_timeouts, wait_answers, wait_ready
from kwokctl.clusters.state.home import Home
from kwokctl.errors import ComponentError, TimedOutError
from kwokctl.host.ports import HeldPorts
from kwokctl.model import Component, ComponentName, Plan, State
from kwokctl.runtime import Runtime
from kwokctl.waits import Moved, ignored

T = TypeVar("T")


async def _nothing() -> None:
    """Prepare nothing."""


class Patience(NamedTuple):
    """The time limits of a launch, in seconds."""

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
            f"the programs were not fetched or built within {patience.timeout:g} s",
            hint="nothing was started; finished parts are kept: repeat the command to continue, with a "
            "longer --timeout",
        ) from e
    return found, patience._replace(spent=time.monotonic() - began)


async def bring_up(  # noqa: PLR0913 - each caller chooses its limits, preparation and early start
    home: Home,
    runtime: Runtime,
    plan: Plan,
    held: HeldPorts,
    patience: Patience = _NO_LIMIT,
    prepare: Callable[[], Awaitable[None]] = _nothing,
    *,
    early: bool = False,
) -> tuple[ComponentName, ...]:
    """Start every wave when the one before it is ready; return the components that did not run.

    `prepare` is called when the first wave, which has the API server, is ready; if it is the only
    one, when it has been started. Components that run already are left alone. With `early`, those
    that can start when the wave before them answers do not wait until it is ready: what `prepare`
    does must not matter to them.
    """
    waves = list(plan.waves())
    every = plan.components.values()
    states = await runtime.states(plan.cluster)
    missing = [c.name for c in every if states.get(c.name) is not State.RUNNING]
    launch = _Launch(home, runtime, plan, missing, [])
    async with explaining_taken_ports(runtime, plan):
        limit = explaining_timeouts(
            runtime, plan.cluster, every, patience.timeout, spent=patience.spent
        )
        async with limit:
            for number, wave in enumerate(waves):
                following = waves[number + 1] if number + 1 < len(waves) else ()
                await refuse_taken(runtime, plan, held, launch.unstarted(waves[number:]))
                home.paths(plan.cluster).stopped.unlink(missing_ok=True)
                with _step(home, "Starting", launch.named(wave) if following else []):
                    await launch.start(wave)
                    if early:
                        await launch.start_early(wave, following)
                    if following:
                        await launch.ready(wave)
                        held.release(*(component.name for component in wave))
                if number == 0:
                    await prepare()
        if patience.wait is not None:
            with _step(home, "Waiting for", launch.named(waves[-1]) if missing else []):
                waiting = explaining_timeouts(runtime, plan.cluster, every, patience.wait)
                async with waiting as moved:
                    await launch.ready(every, moved)
    return tuple(missing)


class _Launch(NamedTuple):
    """Starts components of one cluster."""

    home: Home
    runtime: Runtime
    plan: Plan
    missing: list[ComponentName]
    """The components that did not run at the beginning, or have ended by themselves since."""
    early: list[ComponentName]
    """The components that were started before their wave."""

    def named(self, wave: Iterable[Component]) -> list[ComponentName]:
        """Name those that did not run."""
        return [component.name for component in wave if component.name in self.missing]

    def unstarted(self, waves: Iterable[Iterable[Component]]) -> list[list[Component]]:
        """Return what was not started before its wave."""
        return [[each for each in wave if each.name not in self.early] for wave in waves]

    async def start(self, wave: Collection[Component]) -> None:
        """Start what does not run of these, and what these need."""
        fresh = [component for component in wave if component.name in self.missing]
        await apply_objects(self.home.paths(self.plan.cluster), fresh)
        await self.runtime.start(self.plan.cluster, *(component.name for component in wave))

    async def start_early(
        self, wave: Collection[Component], following: Iterable[Component]
    ) -> None:
        """Start those of the following wave that need no more than an answer of this one."""
        early = [c for c in following if c.is_early and c.name in self.missing]
        if early:
            await wait_answers(self.runtime, self.plan.cluster, wave)
            await self.start(early)
            self.early.extend(component.name for component in early)

    async def ready(self, wave: Collection[Component], moved: Moved = ignored) -> None:
        """Wait until these are ready; start once more what ran at the beginning and has ended since.

        A command that was killed may have asked it to end.
        """
        try:
            await wait_ready(self.runtime, self.plan.cluster, wave, moved)
        except ComponentError:
            states = await self.runtime.states(self.plan.cluster)
            running = {name for name, state in states.items() if state is State.RUNNING}
            ended = [c.name for c in wave if c.name not in running | set(self.missing)]
            if not ended:
                raise
            self.missing.extend(ended)
            await self.start(wave)
            await wait_ready(self.runtime, self.plan.cluster, wave, moved)


@contextmanager
def _step(home: Home, what: str, names: Collection[ComponentName]) -> Iterator[None]:
    """Show a step that names components, unless there are none."""
    if not names:
        yield
        return
    with home.progress.step(f"{what} {', '.join(names)}"):
        yield
