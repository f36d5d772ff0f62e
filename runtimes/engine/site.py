"""Addresses and paths with which containers and processes of the host reach each other."""

import socket
from collections.abc import Callable
from pathlib import Path, PurePath, PurePosixPath

import msgspec

from kwokctl.errors import UnavailableError
from kwokctl.model import (
    KUBE_APISERVER_INSECURE_PROXY,
    KWOK_CONTROLLER,
    KWOK_KUBELET,
    ComponentName,
    Plan,
)
from kwokctl.replacing import replace
from kwokctl.runtime import HOST
from runtimes.engine.engine_client import Engine
from runtimes.engine.privileges import gives_addresses_late, is_a_users_podman, own_address

ON_HOST = frozenset({KUBE_APISERVER_INSECURE_PROXY, KWOK_CONTROLLER, KWOK_KUBELET})
"""Placed as processes of this host: what is embedded is kwokctl itself, and is no image."""
LOOPBACK = "127.0.0.1"
_EVERYWHERE = "0.0.0.0"  # noqa: S104 - inside a network of the cluster's own
GATEWAY = "gateway.kwokctl.internal"
"""Placeholder in arguments for the host's address, which is known only once there is a network."""
_ENGINES_OWN = "host-gateway"
"""The name that engines in a virtual machine resolve to the host's loopback address."""


def placed(plan: Plan, *, on_host: bool) -> Plan:
    """Return the part of a plan that is placed on the host, or with the engine."""
    chosen = {name: c for name, c in plan.components.items() if (name in ON_HOST) == on_host}
    return replace(plan, components=chosen)


class EngineSite(msgspec.Struct, frozen=True):
    """Files have the same names as on the host."""

    shares_sockets: bool

    def bind(self, component: ComponentName) -> str:
        """Return all addresses of a container, or the host's loopback address."""
        return LOOPBACK if component in ON_HOST else _EVERYWHERE

    def path(self, host_path: Path) -> PurePath:
        """Return the path itself: what is mounted is mounted where it lies."""
        return PurePosixPath(host_path)

    def socket(self, host_path: Path) -> PurePath | None:
        """Return the socket itself if the engine's containers run on this very kernel."""
        return PurePosixPath(host_path) if self.shares_sockets else None


async def host_address(engine: Engine, gateway: str, own: Callable[[], str] = own_address) -> str:
    """Return the gateway of a network where that is this host; empty where it is another machine.

    Podman gives a network its addresses with the first container in it, and takes them away with
    the last one: an address that is on no interface yet will be the host's. Without root the gateway
    never is, and the host's own address is taken, `own`; UnavailableError if there is none.
    """
    if gateway and await is_a_users_podman(engine):
        return _demanded(own())
    if gateway and (is_ours(gateway) or await gives_addresses_late(engine)):
        return gateway
    return ""


async def future_host_address(
    engine: Engine, gateway: str, own: Callable[[], str] = own_address
) -> str:
    """Return the address of this host in a network that will be made with the gateway `gateway`."""
    if await is_a_users_podman(engine):
        return _demanded(own())
    return gateway if engine.endpoint.shares_this_kernel else ""


def _demanded(own: str) -> str:
    if own:
        return own
    raise UnavailableError(
        "containers of Podman without root reach this machine only at an address that is not loopback, and "
        "it has none",
        hint="connect it to a network, or use Podman as root",
    )


def reached_by(plan: Plan, host: str) -> Plan:
    """Let components on the host listen where containers reach them, and say so of themselves.

    `host` is what `host_address` has found.
    """
    address = host or LOOPBACK
    return replace(
        plan,
        components={
            name: replace(c, args=tuple(arg.replace(GATEWAY, address) for arg in c.args))
            for name, c in plan.components.items()
        },
    )


def extra_host(host: str) -> str:
    """Return the entry that gives a container the host's name, as engines want it: `NAME:ADDRESS`."""
    return f"{HOST}:{host or _ENGINES_OWN}"


def is_ours(gateway: str) -> bool:
    """Return whether an address is one of this host: it is not where an engine has its own machine."""
    try:
        with socket.socket() as probe:
            probe.bind((gateway, 0))
    except OSError:
        return False
    return True


async def address_of(engine: Engine, container: str) -> str:
    """Return the IPv4 address at which this host dials a container; empty for one that does not run."""
    inspected = await engine.ask("inspect_container", container)
    networks = (inspected.get("NetworkSettings") or {}).get("Networks") or {}
    return next((one["IPAddress"] for one in networks.values() if one.get("IPAddress")), "")
