"""Checks the components that a user describes against the runtime that is to run them."""

import re
from collections.abc import Iterable

from kwokctl.clusters.configuration.volumes import check_paths, in_containers
from kwokctl.config.extras.extra import ExtraComponent
from kwokctl.errors import UsageError
from kwokctl.runtime import BringsKubernetes, Runtime

_IDS = re.compile(r"[0-9]+(:[0-9]+)?", re.ASCII)


def check_extras(runtime: Runtime, extras: Iterable[ExtraComponent]) -> None:
    """Raise UsageError for what of a component this runtime cannot do."""
    for extra in extras:
        check_paths(extra.name, extra.volumes)
        if not in_containers(runtime):
            _check_process(runtime, extra)
        elif isinstance(runtime, BringsKubernetes) and extra.user:
            _check_ids(runtime, extra)


def _check_process(runtime: Runtime, extra: ExtraComponent) -> None:
    if not extra.binary:
        raise UsageError(
            f"'{extra.name}' has only an 'image', and the runtime '{runtime.name}' runs programs",
            hint="give it a 'binary', too, or choose a runtime that runs containers",
        )
    if extra.user:
        raise UsageError(
            f"'user' of '{extra.name}' is '{extra.user}', and the processes of the runtime "
            f"'{runtime.name}' are yours",
            hint="leave it out, or choose a runtime that runs containers",
        )
    for port in extra.ports:
        if port.host_port not in (0, port.port):
            raise UsageError(
                f"'{extra.name}' is a process of this machine on the runtime '{runtime.name}': its port "
                f"{port.port} cannot be published as {port.host_port}",
                hint="give 'hostPort' the same value as 'port', or leave it out",
            )


def _check_ids(runtime: Runtime, extra: ExtraComponent) -> None:
    if not _IDS.fullmatch(extra.user):
        raise UsageError(
            f"'user' of '{extra.name}' is '{extra.user}', and the runtime '{runtime.name}' knows users "
            "by number only",
            hint="give it as UID or UID:GID",
        )
