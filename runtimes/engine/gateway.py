"""The way from containers to what stays on the host."""

import socket
from dataclasses import replace

from kwokctl.model import Plan

HOST = "host.kwokctl.internal"
"""The name by which containers know the host."""
GATEWAY = "gateway.kwokctl.internal"
"""Stands in arguments for the address of the host, which is known only when there is a network."""
_LOOPBACK = "127.0.0.1"
_ENGINES_OWN = "host-gateway"
"""What engines that run in a machine of their own replace by their way to the host's loopback."""


def reached_by(plan: Plan, gateway: str) -> Plan:
    """Let components on the host listen where containers reach them, and say so of themselves."""
    address = gateway if is_ours(gateway) else _LOOPBACK
    return replace(
        plan,
        components={
            name: replace(c, args=tuple(arg.replace(GATEWAY, address) for arg in c.args))
            for name, c in plan.components.items()
        },
    )


def extra_host(gateway: str) -> str:
    """Return the line by which a container knows the host, as engines want it: `NAME:ADDRESS`."""
    return f"{HOST}:{gateway if is_ours(gateway) else _ENGINES_OWN}"


def is_ours(gateway: str) -> bool:
    """Tell whether an address is one of this host: it is not where an engine has its own machine."""
    if not gateway:
        return False
    try:
        with socket.socket() as probe:
            probe.bind((gateway, 0))
    except OSError:
        return False
    return True
