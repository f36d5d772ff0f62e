"""The programs of the user's store, for tests that run one of them themselves."""

import os

from kwokctl.artifacts.locations import WantedProgram
from kwokctl.artifacts.resolve import ArtifactSource, resolve
from kwokctl.host.paths import cache_dir
from kwokctl.progress import Silent


async def program(name: str, version: str) -> str:
    """Return where a program is. Raises ArtifactError when the store has none."""
    explicit = os.environ.get(f"KWOK_{name.upper()}_BINARY")
    wanted = WantedProgram(name=name, version=version, explicit=explicit)
    found = await resolve(
        [wanted], source=ArtifactSource.OFFLINE, cache=cache_dir(), progress=Silent()
    )
    return found[name].command[0]
