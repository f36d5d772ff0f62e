"""The programs of the user's store, for tests that run one of them themselves."""

import os
import shutil
from pathlib import Path

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


def fill(cache: Path) -> None:
    """Have the programs in the store of another cache folder of kwokctl's, as if a command had got them there."""
    for machine in cache_dir().glob("store/*"):
        shutil.copytree(machine, cache / "store" / machine.name, copy_function=_linked)


def _linked(source: str, target: str) -> None:
    """Copy a record, for its time says when it was read last; a large program is linked where that is possible."""
    if source.endswith(".json"):
        shutil.copy2(source, target)
        return
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
