"""Prepares the host for kubeadm's pods before they are created."""

from collections.abc import Callable
from pathlib import Path

from kwokctl.errors import UsageError
from kwokctl.host.paths import ClusterPaths
from kwokctl.model import Component, Plan
from kwokctl.runtime import HOST
from runtimes.engine.client import Engine
from runtimes.engine.privileges import own_address
from runtimes.engine.site import host_address
from runtimes.kind.pods.kubeadm import MAKES

_NETWORK = "kind"
"""The network of all nodes, which kind makes with the first one
(https://kind.sigs.k8s.io/docs/user/known-issues/)."""


def make_files(component: Component, paths: ClusterPaths) -> None:
    """Make what a component writes to, so that it is this user's and not root's."""
    for mount in component.mounts:
        if not (mount.read_only or mount.host_path.exists()):
            mount.host_path.mkdir(parents=True, exist_ok=True)
    for word in component.args:
        key, _, value = word.partition("=")
        if key == "--audit-log-path" and Path(value).is_relative_to(paths.logs):
            Path(value).touch(mode=0o600)


async def known_host(engine: Engine, plan: Plan, own: Callable[[], str] = own_address) -> str:
    """Return the address at which kubeadm's pods find the host; empty if none of them dials it.

    They are made together with the node, so it must be known before; the network may not be there
    yet, but this machine's own address is reached from any. UsageError if there is none.
    """
    if not any(_dials(each) for name, each in plan.components.items() if name in MAKES):
        return ""
    found = await engine.found_network(_NETWORK, {})
    gateway = await host_address(engine, found[1]) if found else ""
    if address := gateway or own():
        return address
    raise UsageError(
        "kind's node reaches this machine only at an address that is not loopback, and it has none",
        hint="connect it to a network, or name a collector on another machine",
    )


def _dials(component: Component) -> bool:
    return any(HOST in text for text in (*component.args, *component.files.values()))
