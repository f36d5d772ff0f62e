"""What is chosen for a new cluster where its user left it open, and what the user should know."""

from collections.abc import Collection
from dataclasses import dataclass

from kwokctl.components.data_path import choose_data_path
from kwokctl.components.definitions.etcd import EtcdOptions
from kwokctl.components.heartbeat import settle_heartbeat
from kwokctl.config.data_path import Choice
from kwokctl.config.options import ClusterOptions
from kwokctl.model import KUBE_CONTROLLER_MANAGER, ComponentName

_NO_FSYNC = (
    "etcd does not wait for the disk: a power cut or a crash of the machine may lose the last "
    "writes or the whole cluster; killing a program loses nothing"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The options with every choice made, and a line for each that a user should know."""

    options: ClusterOptions
    data_path: Choice
    notes: tuple[str, ...]


def choices(
    options: ClusterOptions,
    chosen: frozenset[str],
    names: Collection[ComponentName],
) -> Choices:
    """Make the choices for a new cluster of the named components.

    `chosen` are the options that the user gave. Raises UsageError and UnavailableError for options
    that contradict each other or this machine.
    """
    data_path = choose_data_path(options)
    settled = settle_heartbeat(
        options,
        chosen,
        is_fast=data_path.path == "etcd",
        is_monitored=KUBE_CONTROLLER_MANAGER in names,
    )
    unsafe = (_NO_FSYNC,) if options.of(EtcdOptions).fsync == "off" else ()
    return Choices(options=settled, data_path=data_path, notes=unsafe)
