"""Chooses the ports of a cluster and keeps them until its components take them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from zlib import crc32

from kwokctl.clusters.state import saved as saved_clusters
from kwokctl.clusters.state.home import Home
from kwokctl.config.declaring import ComponentOptions, declares
from kwokctl.config.options import ClusterOptions
from kwokctl.host.ports import HIGHEST, HeldPorts, check_local
from kwokctl.model import ClusterName, ComponentName


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
    named = (each for each in options.components if each.component in names)
    wanted = [each for each in named if declares(type(each), "port")]
    with HeldPorts(taken=taken, address=options.bind_address, highest=_highest(home)) as held:
        chosen = {each.component: _held(held, each) for each in sorted(wanted, key=_is_free)}
        components = tuple(chosen.get(each.component, each) for each in options.components)
        yield replace(options, components=components), held


def _held(held: HeldPorts, options: ComponentOptions) -> ComponentOptions:
    return replace(options, port=held.hold(options.component, options.port))


def _is_free(options: ComponentOptions) -> bool:
    """Tell whether any port will do: it must not be one that was asked for another component."""
    return not options.port


def _highest(home: Home) -> int:
    """Return where this work directory begins to look for ports.

    Each begins elsewhere, for it does not know the ports of the others' stopped clusters.
    """
    return HIGHEST - 10 * (crc32(bytes(home.workdir.root)) % 1000)
