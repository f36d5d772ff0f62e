"""The programs of the user's store, for tests that run one of them themselves."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from kwokctl.artifacts.locations import WantedProgram
from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import ArtifactSource, resolve, store_of
from kwokctl.artifacts.versions import DEFAULT_KUBE_VERSION, etcd_version
from kwokctl.errors import ArtifactError
from kwokctl.host.paths import cache_dir
from kwokctl.progress import Silent

PROGRAMS = {
    **dict.fromkeys(
        ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"),
        DEFAULT_KUBE_VERSION,
    ),
    **dict.fromkeys(("etcd", "etcdctl", "etcdutl"), etcd_version(DEFAULT_KUBE_VERSION)),
}
"""The version of each program that a cluster takes by default."""


def lacking() -> Sequence[str]:
    """Return the programs of a default cluster that are neither in the store nor named by a variable."""
    return [
        name for name in PROGRAMS if not os.environ.get(variable(name)) and not _is_stored(name)
    ]


def variable(name: str) -> str:
    """Name the variable of a program that the user has chosen."""
    return f"KWOK_{name.upper().replace('-', '_')}_BINARY"


def _is_stored(name: str) -> bool:
    try:
        return store_of(cache_dir(), here()).find(name, PROGRAMS[name]) is not None
    except ArtifactError:  # it was changed, and is got again
        return False


async def program(name: str, version: str) -> str:
    """Return where a program is. Raises ArtifactError when the store has none."""
    explicit = os.environ.get(variable(name))
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
