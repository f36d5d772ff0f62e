"""The kind runtime: Kubernetes as the kind tool makes it, with one real node beside the fake ones."""

from kwokctl.host.machine import Host
from kwokctl.runtime import Runtime
from runtimes.kind.kind_runtime import KindRuntime
from runtimes.kind.provider import docker, podman


def create(host: Host) -> Runtime:
    """Build the runtime for this host, whose nodes are containers of Docker's."""
    return KindRuntime(host, docker())


def create_with_podman(host: Host) -> Runtime:
    """Build the runtime for this host, whose nodes are containers of Podman's."""
    return KindRuntime(host, podman())
