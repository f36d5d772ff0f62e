"""Chooses the ports of a cluster, holds them for its components, and reports taken ones."""

from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import NamedTuple
from zlib import crc32

from kwokctl.clusters.state import saved as saved_clusters
from kwokctl.clusters.state.home import Home
from kwokctl.config.declaring import ports_of
from kwokctl.config.extras.extra import ExtraComponent
from kwokctl.config.options import ClusterOptions, with_values
from kwokctl.errors import ComponentError, ConflictError
from kwokctl.host.ports import HIGHEST, HeldPorts, check_local, check_unused
from kwokctl.model import ClusterName, Component, ComponentName, Plan, State
from kwokctl.replacing import replace
from kwokctl.runtime import BringsKubernetes, Runtime


class _WantedPort(NamedTuple):
    component: ComponentName
    field: str
    """The option that holds it."""
    number: int
    """The port that was chosen; 0 for none."""


@contextmanager
def held_ports(
    home: Home, cluster: ClusterName, options: ClusterOptions, names: Sequence[ComponentName]
) -> Iterator[tuple[ClusterOptions, HeldPorts]]:
    """Choose a port for each named component that has none, check the others, and hold them all.

    Yields the options with every port filled in. Raises ConflictError for a port that is taken, and
    UsageError for an address that is not this machine's.
    """
    check_local(options.bind_address)
    theirs = (port.host_port for extra in options.extras for port in extra.ports)
    taken = saved_clusters.used_ports(home.workdir, but=cluster).union(theirs)
    with HeldPorts(taken=taken, address=options.bind_address, highest=_highest(home)) as held:
        # Any port that will do must not be one that was chosen for another component.
        wanted = sorted(_wanted(options, names), key=lambda each: not each.number)
        chosen = {each.field: held.hold(each.component, each.number) for each in wanted}
        extras = tuple(_with_ports(held, each) if each.add_on else each for each in options.extras)
        yield replace(with_values(options, chosen), extras=extras), held


def _wanted(options: ClusterOptions, names: Sequence[ComponentName]) -> Iterator[_WantedPort]:
    for each in options.components:
        if each.component in names:
            for field, number in ports_of(each).items():
                yield _WantedPort(each.component, field, number)


def without_ports(extra: ExtraComponent) -> ExtraComponent:
    """Leave the ports of a component of an add-on to choose."""
    ports = tuple(
        replace(port, port=0 if port.port == port.host_port else port.port, host_port=0)
        for port in extra.ports
    )
    return replace(extra, ports=ports)


def _with_ports(held: HeldPorts, extra: ExtraComponent) -> ExtraComponent:
    """Choose the ports of a component that are left to choose: that of this machine, and its own."""
    chosen = ((port, port.host_port or held.hold(extra.name, 0)) for port in extra.ports)
    return replace(
        extra,
        ports=tuple(
            replace(port, port=port.port or number, host_port=number) for port, number in chosen
        ),
    )


def _highest(home: Home) -> int:
    """Return where this work directory begins to look for ports.

    Each begins elsewhere, for it does not know the ports of the others' stopped clusters.
    """
    return HIGHEST - 10 * (crc32(bytes(home.workdir.root)) % 1000)


async def refuse_taken(
    runtime: Runtime, plan: Plan, held: HeldPorts, waves: Sequence[Collection[Component]]
) -> None:
    """Raise ConflictError if a program listens on a port that is held for one of these components.

    So the error is the same with every runtime.
    """
    published = await _published(runtime, plan.cluster)
    held.check(*(each.name for wave in waves for each in wave if each.name not in published))


@asynccontextmanager
async def explaining_taken_ports(runtime: Runtime, plan: Plan) -> AsyncIterator[None]:
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
