"""The runtimes docker and podman: every component but the controller is a container of its own."""

import os
from pathlib import Path

from kwokctl.host.machine import Host
from kwokctl.host.paths import home_folder
from kwokctl.runtime import Runtime
from runtimes.docker.engine_runtime import PODMAN, EngineRuntime
from runtimes.engine.endpoint import find_endpoint
from runtimes.engine.engine_client import Engine
from runtimes.engine.podman import podman_engine


def create(host: Host) -> Runtime:
    """Build the runtime for this host, with the engine that the docker command would use, too."""
    endpoint = find_endpoint(os.environ, home_folder() or Path("/"))
    return EngineRuntime(host, Engine(endpoint))


def create_with_podman(host: Host) -> Runtime:
    """Build the runtime for this host, with Podman's service, which speaks as Docker's engine does."""
    return EngineRuntime(host, podman_engine(), name=PODMAN)
