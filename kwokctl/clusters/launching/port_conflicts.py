"""Notices ports that other programs have taken between their choice and the start of a component."""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager

from kwokctl.errors import ComponentError, ConflictError
from kwokctl.host.ports import HeldPorts, check_unused
from kwokctl.model import ClusterName, Component, ComponentName, Plan, State
from kwokctl.runtime import BringsKubernetes, Runtime


async def refuse_taken(
    runtime: Runtime, plan: Plan, held: HeldPorts, waves: Sequence[Collection[Component]]
) -> None:
    """Raise ConflictError if somebody listens on a port that is held for one of these components.

    Whatever a runtime says of it, or not, this is said alike everywhere.
    """
    published = await _published(runtime, plan.cluster)
    held.check(*(each.name for wave in waves for each in wave if each.name not in published))


@asynccontextmanager
async def told_when_taken(runtime: Runtime, plan: Plan) -> AsyncIterator[None]:
    """Raise ConflictError where a component has died in this block and another has its port."""
    try:
        yield
    except ComponentError as e:
        states = await runtime.states(plan.cluster)
        published = await _published(runtime, plan.cluster)
        for component in plan.components.values():
            if states.get(component.name) is State.RUNNING or component.name in published:
                continue
            for port in component.ports:
                if port.host_port:
                    _check(component, port.host_address, port.host_port, e)
        raise


def _check(component: Component, address: str, port: int, died: ComponentError) -> None:
    try:
        check_unused(component.name, address, port)
    except ConflictError as e:
        e.detail = died.detail
        raise e from died


async def portless(
    runtime: Runtime, cluster: ClusterName, names: Collection[ComponentName]
) -> list[ComponentName]:
    """Return those of these components whose ports are not in use for them: they are to be held."""
    states = await runtime.states(cluster)
    published = await _published(runtime, cluster)
    return [
        name for name in names if states.get(name) is not State.RUNNING and name not in published
    ]


async def _published(runtime: Runtime, cluster: ClusterName) -> Collection[ComponentName]:
    """Return the components whose ports are in use for them, though they may not run."""
    if isinstance(runtime, BringsKubernetes):
        return await runtime.published(cluster)
    return ()
