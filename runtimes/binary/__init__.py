"""The binary runtime: every component is a process of this host."""

from kwokctl.host.machine import Host
from kwokctl.runtime import Runtime
from runtimes.binary.binary_runtime import BinaryRuntime


def create(host: Host) -> Runtime:
    """Build the runtime for this host."""
    return BinaryRuntime(host)
