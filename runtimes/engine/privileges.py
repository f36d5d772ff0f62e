"""Finds out whether root runs an engine, and what differs where a user runs Podman.

In the containers of such a Podman root is that user, so the files of clusters belong to root there. Its
networks are in a namespace that this host has no address in; from there a process reaches the host by the
host's own addresses, but not its loopback device
(https://github.com/containers/podman/blob/main/docs/tutorials/rootless_tutorial.md).
"""

import os
import socket
from collections.abc import Iterable, Mapping

from kwokctl.errors import NotServedError, UnavailableError
from kwokctl.json_value import Json
from kwokctl.model import Component
from runtimes.engine.engine_client import Engine

_FAR = ("198.51.100.1", 9)
"""An address beyond the default route; nothing is sent there (RFC 5737)."""


async def is_a_users_podman(engine: Engine) -> bool:
    """Return whether an engine is a Podman on this kernel that a user runs without root."""
    if not engine.endpoint.shares_this_kernel or not await engine.is_podman():
        return False
    return _is_rootless(await engine.info())


async def gives_addresses_late(engine: Engine) -> bool:
    """Return whether networks of this host have no addresses until containers are in them.

    Podman's are so where root runs it.
    """
    if not engine.endpoint.shares_this_kernel or not await engine.is_podman():
        return False
    return not _is_rootless(await engine.info())


async def demand_root(engine: Engine) -> None:
    """Raise UnavailableError for an engine of this kernel that a user runs without root."""
    if engine.endpoint.shares_this_kernel and _is_rootless(await engine.info()):
        raise UnavailableError(
            f"the container engine at '{engine.endpoint.url}' runs without root: its containers "
            "cannot read the files of clusters",
            hint=f"set {engine.named_by} to an engine that root runs, or use --runtime binary; "
            "Podman without root works with --runtime podman",
        )


async def demand_limits(engine: Engine, components: Iterable[Component]) -> None:
    """Raise NotServedError for limits that Podman would leave out without root."""
    limited = [each.name for each in components if each.limits.memory or each.limits.cpus]
    if not limited or not await is_a_users_podman(engine):
        return
    if str((await engine.info()).get("CgroupVersion")) == "1":
        raise NotServedError(
            f"'{limited[0]}' cannot have limits: Podman without root has none on a machine with "
            "cgroup v1",
            hint="leave out '--memory-limit' and '--cpu-limit', or use Podman as root",
        )


def user_of_containers(*, without_root: bool) -> str:
    """Return as whom containers run so that they are the user of kwokctl to the host: `UID:GID`."""
    return "0:0" if without_root else f"{os.getuid()}:{os.getgid()}"


def own_address() -> str:
    """Return the address of this host on its default route; empty without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_FAR)
        except OSError:
            return ""
        return str(probe.getsockname()[0])


def _is_rootless(info: Mapping[str, Json]) -> bool:
    """Return whether an engine runs within a user namespace: Podman and Docker report it in different fields."""
    options = info.get("SecurityOptions") or ()
    return bool(info.get("Rootless")) or "name=rootless" in options
