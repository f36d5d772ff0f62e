"""Finds runtimes by name and imports only the one that was chosen."""

from importlib import import_module

from kwokctl.errors import NotServedError, UsageError
from kwokctl.host.machine import Host
from kwokctl.runtime import Runtime

BUILTIN = {
    "binary": "runtimes.binary:create",
    "docker": "runtimes.docker:create",
    "podman": "runtimes.docker:create_with_podman",
    "kind": "runtimes.kind:create",
    "kind-podman": "runtimes.kind:create_with_podman",
}
GROUP = "kwokctl.runtimes"
_INSTEAD = "use 'binary', 'docker' or 'podman'"
_NODES = (
    "kwokctl inspects the nodes of kind through Docker's API, which they do not have with nerdctl; "
    "use 'kind' or 'kind-podman'"
)
REFUSED = {
    "nerdctl": f"kwokctl runs containers through Docker's API, which containerd does not have; {_INSTEAD}",
    "lima": f"lima runs containers with nerdctl in a virtual machine, without Docker's API; {_INSTEAD}",
    "finch": f"finch runs containers with nerdctl, without Docker's API; {_INSTEAD}",
    "kind-nerdctl": _NODES,
    "kind-lima": _NODES,
    "kind-finch": _NODES,
}
"""Runtimes of the original, why they are not supported, and what works instead."""


def names() -> list[str]:
    """List every runtime that can be chosen."""
    return sorted(_targets())


def load(name: str, host: Host) -> Runtime:
    """Build the runtime called `name`; raise UsageError if there is none."""
    target = BUILTIN.get(name) or _targets().get(name)
    if target is None and name in REFUSED:
        raise NotServedError(f"the runtime '{name}' is not supported", hint=REFUSED[name])
    if target is None:
        raise UsageError(f"no runtime called '{name}'", hint=f"choose from: {', '.join(names())}")
    module, _, factory = target.partition(":")
    runtime: Runtime = getattr(import_module(module), factory)(host)
    return runtime


def _targets() -> dict[str, str]:
    # Takes ten milliseconds to import, and is needed only for runtimes that are not built in.
    from importlib.metadata import entry_points

    found = {entry.name: entry.value for entry in entry_points(group=GROUP)}
    return found | BUILTIN
