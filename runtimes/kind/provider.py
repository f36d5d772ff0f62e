"""Describes the container engines with which kind makes its nodes."""

import os
import shutil
from pathlib import Path

import msgspec

from kwokctl.errors import UnavailableError
from kwokctl.host.paths import home_folder
from runtimes.engine.endpoint import find_endpoint
from runtimes.engine.engine_client import Engine
from runtimes.engine.podman import NAMED_BY, podman_engine
from runtimes.engine.privileges import demand_root


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """An engine as kind knows it."""

    runtime: str
    """The name of the runtime that uses it."""
    command: str
    engine: Engine
    variable: str = ""
    """The variable that gives the command the engine's address, if it needs one."""
    mounted: Path | None = None
    """A folder of the host that kind mounts, and that the engine does not create if it is missing."""

    @property
    def environment(self) -> dict[str, str]:
        """The environment of kind, and of the command that it runs."""
        pointed = {self.variable: self.engine.endpoint.url} if self.variable else {}
        return {"KIND_EXPERIMENTAL_PROVIDER": self.command, **pointed}

    @property
    def called(self) -> str:
        """The command with which people run kind so that it uses this engine."""
        return f"KIND_EXPERIMENTAL_PROVIDER={self.command} kind" if self.variable else "kind"

    async def check(self) -> None:
        """Raise UnavailableError, with a remedy, unless kind can make nodes with it."""
        if not shutil.which(self.command):
            raise UnavailableError(
                f"there is no '{self.command}' on PATH, which kind uses to make nodes",
                hint=f"install the {self.command} command, or choose another --runtime",
            )
        await self.engine.check()
        await demand_root(self.engine)
        folder = self.mounted
        if folder and self.engine.endpoint.shares_this_kernel and not folder.is_dir():
            raise UnavailableError(
                f"kind mounts the folder '{folder}', which this machine does not have",
                hint=f"create it: 'sudo mkdir -p {folder}'; it may be empty",
            )


def docker() -> Provider:
    """Return Docker, with the engine that the docker command would use, too."""
    endpoint = find_endpoint(os.environ, home_folder() or Path("/"))
    return Provider(runtime="kind", command="docker", engine=Engine(endpoint))


def podman() -> Provider:
    """Return Podman.

    Its command would do without a service, with other storage perhaps; pointed to the service it
    makes nodes where we look for them.
    """
    return Provider(
        runtime="kind-podman",
        command="podman",
        engine=podman_engine(),
        variable=NAMED_BY,
        mounted=_MODULES,
    )


_MODULES = Path("/lib/modules")
"""Mounted into every node (kind, `pkg/cluster/internal/providers/podman/provision.go`); Docker creates it."""
