"""Leads from a port of this host's loopback address to a port of a component."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved, load
from kwokctl.config.nearest import did_you_mean
from kwokctl.errors import ComponentError, NotFoundError, UsageError
from kwokctl.host.port_relay import relaying
from kwokctl.host.ports import joined
from kwokctl.model import ClusterName, Component, ComponentName, Port
from kwokctl.runtime import ReachesPorts, Runtime

_PATIENCE = 5.0
_PORTS = range(1, 65536)


class Forwarded(msgspec.Struct, frozen=True, kw_only=True):
    """A port that leads to a component."""

    local: int
    """The port of this host's loopback address."""
    remote: int
    """The port that the component listens on."""


@asynccontextmanager
async def forwarding(
    home: Home, name: ClusterName, component: str, *, local: int, remote: str
) -> AsyncIterator[Forwarded]:
    """Forward connections to a component's port while inside; `local` 0 takes a free port.

    `remote` is the name or the number of a port. Raises NotFoundError if there is no such component
    or port, ComponentError if nothing listens there, ConflictError if the local port is in use.
    """
    saved = load(home.paths(name), name)
    runtime = home.runtime(saved.options.runtime)
    described, number = _port(home, saved, component, remote)
    own, _, _ = saved.setting(runtime, home.paths(name)).address(described.name).rpartition(":")
    host, port = await _address(runtime, name, described, number, host=own.strip("[]"))
    await _knock(name, component, host, port)

    def failed(error: OSError) -> None:
        home.progress.warn(f"'{component}' cannot be reached at {joined(host, port)}: {error}")

    async with relaying(local, lambda: asyncio.open_connection(host, port), failed) as listening:
        yield Forwarded(local=listening, remote=number)


async def remote_port(home: Home, name: ClusterName, component: str, remote: str) -> int:
    """Return the number of a component's port; NotFoundError as `forwarding` does."""
    _, number = _port(home, load(home.paths(name), name), component, remote)
    return number


def _port(home: Home, saved: Saved, component: str, remote: str) -> tuple[Component, int]:
    """Return a component as it is planned, and the number of its port."""
    plan = saved.plan(home.runtime(saved.options.runtime), home.paths(saved.name))
    if component not in plan.components:
        raise NotFoundError(
            f"the cluster '{saved.name}' has no component called '{component}'",
            hint=did_you_mean(component, plan.components)
            or f"choose from: {', '.join(plan.components)}",
        )
    described = plan.components[ComponentName(component)]
    return described, _number(described, remote)


def _number(component: Component, remote: str) -> int:
    """Return the number of a component's port, given by name or by number."""
    if remote.isascii() and remote.isdigit():
        if int(remote) not in _PORTS:
            raise UsageError(f"'{remote}' is not a port", hint="a port is between 1 and 65535")
        return int(remote)
    found = next((port.port for port in component.ports if port.name == remote), None)
    if found is None:
        known = ", ".join(f"{port.name} ({port.port})" for port in component.ports)
        raise NotFoundError(
            f"'{component.name}' has no port called '{remote}'",
            hint=f"its ports are: {known}" if known else "give the number of a port",
        )
    return found


async def _address(
    runtime: Runtime, name: ClusterName, component: Component, number: int, *, host: str
) -> tuple[str, int]:
    """Return where this host dials a component's port: where it is published, or in the component's place."""
    published = next((port for port in component.ports if _is(port, number)), None)
    if published:
        return host, published.host_port
    inside = ""
    if isinstance(runtime, ReachesPorts):
        inside = await runtime.host_of(name, component.name)
    if not inside:
        raise NotFoundError(
            f"port {number} of '{component.name}' cannot be reached from this host",
            hint="'kwokctl get components -o wide' shows the ports that are",
        )
    return inside, number


def _is(port: Port, number: int) -> bool:
    return bool(port.host_port) and number in {port.port, port.host_port}


async def _knock(name: ClusterName, component: str, host: str, port: int) -> None:
    """Raise ComponentError, with the remedy, unless something listens there."""
    try:
        async with asyncio.timeout(_PATIENCE):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError) as e:
        raise ComponentError(
            f"'{component}' of the cluster '{name}' does not listen at {joined(host, port)}",
            hint=f"see whether it runs: kwokctl --name {name} get components; its log: "
            f"kwokctl --name {name} logs {component}",
        ) from e
    writer.close()
