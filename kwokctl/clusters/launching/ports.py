"""Chooses the ports of a cluster and keeps them until its components take them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from zlib import crc32

from kwokctl.clusters.state import saved as saved_clusters
from kwokctl.clusters.state.home import Home
from kwokctl.config.options import ClusterOptions
from kwokctl.host.addresses import check_local
from kwokctl.host.ports import HIGHEST, HeldPorts
from kwokctl.model import (
    ETCD,
    KUBE_APISERVER,
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    KWOK_CONTROLLER,
    ClusterName,
    ComponentName,
)

FIELDS = {
    ETCD: "etcd_port",
    KUBE_APISERVER: "kube_apiserver_port",
    KWOK_CONTROLLER: "controller_port",
    KUBE_CONTROLLER_MANAGER: "kube_controller_manager_port",
    KUBE_SCHEDULER: "kube_scheduler_port",
}
"""Which option holds a component's port, in the order in which ports are chosen."""


@contextmanager
def held_ports(
    home: Home, cluster: ClusterName, options: ClusterOptions, names: Sequence[ComponentName]
) -> Iterator[tuple[ClusterOptions, HeldPorts]]:
    """Choose a port for each named component that has none, check the others, and hold them all.

    Yields the options with every port filled in. Raises ConflictError for a port that is taken, and
    UsageError for an address that is not this machine's.
    """
    check_local(options.bind_address)
    taken = saved_clusters.used_ports(home.workdir, but=cluster)
    wanted = {name: getattr(options, field) for name, field in FIELDS.items() if name in names}
    with HeldPorts(taken=taken, address=options.bind_address, highest=_highest(home)) as held:
        chosen: dict[str, Any] = {
            FIELDS[name]: held.hold(name, wanted[name])
            for name in sorted(wanted, key=lambda name: not wanted[name])
        }
        yield replace(options, **chosen), held


def _highest(home: Home) -> int:
    """Return where this work directory begins to look for ports.

    Each begins elsewhere, for it does not know the ports of the others' stopped clusters.
    """
    return HIGHEST - 10 * (crc32(bytes(home.workdir.root)) % 1000)
