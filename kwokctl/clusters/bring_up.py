"""Starts the components of a plan, wave by wave."""

from contextlib import nullcontext

from kwokctl.clusters.home import Home
from kwokctl.clusters.ready import told_when_late, wait_ready
from kwokctl.clusters.taken_ports import refuse_taken, told_when_taken
from kwokctl.host.ports import HeldPorts
from kwokctl.model import Component, Plan
from kwokctl.runtime import Runtime


async def bring_up(
    home: Home,
    runtime: Runtime,
    plan: Plan,
    held: HeldPorts,
    *,
    timeout: float | None = None,  # noqa: ASYNC109 - the user's own limit, told in the error
    wait: float | None = None,
) -> None:
    """Start every wave when the one before it is ready.

    `timeout` bounds the launching. With `wait` the last wave is waited for too, on a clock of its
    own; 0 means as long as it takes. Components that run already are left alone.
    """
    waves = list(plan.waves())
    every = plan.components.values()
    async with told_when_taken(runtime, plan):
        async with told_when_late(runtime, plan.cluster, every, timeout):
            for number, wave in enumerate(waves):
                await refuse_taken(runtime, plan, held, waves[number:])
                await _start(home, runtime, plan, held, wave, ready=wave is not waves[-1])
        if wait is not None:
            with home.progress.step(f"Waiting for {_names(waves[-1])}"):
                async with told_when_late(runtime, plan.cluster, every, wait):
                    await wait_ready(runtime, plan.cluster, every)


async def _start(
    home: Home,
    runtime: Runtime,
    plan: Plan,
    held: HeldPorts,
    wave: tuple[Component, ...],
    *,
    ready: bool,
) -> None:
    with home.progress.step(f"Starting {_names(wave)}") if ready else nullcontext():
        names = [component.name for component in wave]
        await runtime.start(plan.cluster, *names)
        if ready:
            await wait_ready(runtime, plan.cluster, wave)
            held.release(*names)


def _names(wave: tuple[Component, ...]) -> str:
    return ", ".join(component.name for component in wave)
