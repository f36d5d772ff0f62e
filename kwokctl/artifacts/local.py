"""Programs that the user has on this machine already."""

import os
import shutil
from pathlib import Path

from kwokctl.artifacts.locations import Local
from kwokctl.errors import ArtifactError
from kwokctl.host.paths import expanded
from kwokctl.model import Artifact


def artifact(local: Local) -> Artifact:
    """Return the program at the path that the user gave, or the command of that name.

    A bare name that is no file here is looked up on PATH. Raises ArtifactError unless it is a
    file that can be executed.
    """
    path = expanded(local.value)
    if "/" not in local.value and not path.is_file():
        path = Path(shutil.which(local.value) or path)
    if not path.exists():
        raise _unfit(local, "does not exist")
    if not path.is_file():
        raise _unfit(local, "is not a file")
    if not os.access(path, os.X_OK):
        raise ArtifactError(
            f"'{local.value}', given for {local.name}, is not executable",
            hint=f"run 'chmod +x {path}' if it is the right file",
        )
    return Artifact(name=local.name, version=local.version, command=(str(path.absolute()),))


def _unfit(local: Local, why: str) -> ArtifactError:
    return ArtifactError(
        f"'{local.value}', given for {local.name}, {why}",
        hint=f"give '--{local.name}-binary' the path of a program, an address, or ADDRESS#MEMBER, "
        "or leave it out",
    )
