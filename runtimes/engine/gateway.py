"""The way from containers to what stays on the host."""

import socket
from dataclasses import replace

from kwokctl.model import Plan
from runtimes.engine.client import Engine

HOST = "host.kwokctl.internal"
"""The name by which containers know the host."""
GATEWAY = "gateway.kwokctl.internal"
"""Stands in arguments for the address of the host, which is known only when there is a network."""
_LOOPBACK = "127.0.0.1"
_ENGINES_OWN = "host-gateway"
"""What engines that run in a machine of their own replace by their way to the host's loopback."""


async def host_address(engine: Engine, gateway: str) -> str:
    """Return the gateway of a network where that is this host; empty where it is another machine.

    Podman gives a network its addresses with the first container in it, and takes them away with
    the last one: an address that is still nobody's will be ours.
    """
    if gateway and (is_ours(gateway) or await engine.gives_addresses_late()):
        return gateway
    return ""


def reached_by(plan: Plan, host: str) -> Plan:
    """Let components on the host listen where containers reach them, and say so of themselves.

    `host` is what `host_address` has found.
    """
    address = host or _LOOPBACK
    return replace(
        plan,
        components={
            name: replace(c, args=tuple(arg.replace(GATEWAY, address) for arg in c.args))
            for name, c in plan.components.items()
        },
    )


def extra_host(host: str) -> str:
    """Return the line by which a container knows the host, as engines want it: `NAME:ADDRESS`."""
    return f"{HOST}:{host or _ENGINES_OWN}"


def is_ours(gateway: str) -> bool:
    """Tell whether an address is one of this host: it is not where an engine has its own machine."""
    try:
        with socket.socket() as probe:
            probe.bind((gateway, 0))
    except OSError:
        return False
    return True
