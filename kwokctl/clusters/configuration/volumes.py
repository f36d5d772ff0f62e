"""Checks the files and folders of this machine that a user lets components see, and makes missing ones."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from kwokctl.config.patches.patch import Volume
from kwokctl.errors import UsageError
from kwokctl.runtime import BringsKubernetes, RunsImages, Runtime

_IS: Mapping[str, str] = {
    "BlockDevice": "is_block_device",
    "CharDevice": "is_char_device",
    "Directory": "is_dir",
    "DirectoryOrCreate": "is_dir",
    "File": "is_file",
    "FileOrCreate": "is_file",
    "Socket": "is_socket",
}
"""By type of a path: the question that a path of it says yes to."""
_MAY_BE_MADE = "OrCreate"


def in_containers(runtime: Runtime) -> bool:
    """Return whether a runtime runs components, but for those that are part of kwokctl, in containers."""
    return isinstance(runtime, RunsImages | BringsKubernetes)


def check_paths(component: str, volumes: Iterable[Volume]) -> None:
    """Raise UsageError for a path of this machine that is not what its volume says."""
    for volume in volumes:
        path = Path(volume.host_path)
        if not path.exists() and volume.path_type.endswith(_MAY_BE_MADE):
            continue
        question = _IS.get(volume.path_type, "exists")
        if not getattr(path, question)():
            wanted = volume.path_type or "file or folder"
            raise UsageError(
                f"the volume of '{component}' at '{volume.host_path}' is no {wanted}",
                hint="give a 'hostPath' that exists, or a 'pathType' that ends in 'OrCreate'",
            )


def unseen(runtime: Runtime, component: str, volumes: Iterable[Volume]) -> Iterator[str]:
    """Say which volumes a process of this machine does not see at the place that they name.

    They are no error: files that are shared between runtimes have them, and the original ignores all.
    """
    for volume in volumes:
        if volume.host_path != volume.mount_path:
            yield (
                f"'{component}' is a process of this machine on the runtime '{runtime.name}', and sees "
                f"'{volume.host_path}' there, not at '{volume.mount_path}'"
            )


def make_paths(volumes: Iterable[Volume]) -> None:
    """Make the files and folders of volumes that may be missing."""
    for volume in volumes:
        path = Path(volume.host_path)
        if volume.path_type == "DirectoryOrCreate":
            path.mkdir(parents=True, exist_ok=True)
        elif volume.path_type == "FileOrCreate" and not path.exists():
            path.touch()
