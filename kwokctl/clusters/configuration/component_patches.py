"""Collects what the user of a cluster changes about its components, and checks it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kwokctl.components.catalog import catalog
from kwokctl.config.documents import Document
from kwokctl.config.options import ClusterOptions
from kwokctl.config.patches.patch import Patches, Volume, joined
from kwokctl.config.patches.reader import patches_in
from kwokctl.config.patches.words import check_component, patches_of
from kwokctl.errors import UsageError
from kwokctl.model import ComponentName
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


def wanted_patches(options: ClusterOptions, documents: Sequence[Document]) -> Patches:
    """Return what documents and, over them, `--extra-args` change about components.

    Raises UsageError and ConfigError for what is no patch, or is for an unknown component.
    """
    known = tuple(catalog())
    given = patches_in(documents)
    for patch in given:
        check_component("'componentsPatches'", patch.name, known)
        for volume in patch.volumes:
            _check_path(patch.name, volume)
    return joined((*given, *patches_of(options.arguments.extra, known).values()))


def idle_patches(patches: Patches, names: Sequence[ComponentName]) -> Iterator[str]:
    """Name the patches of components that a cluster does not have."""
    for name in patches:
        if name not in names:
            yield f"the cluster has no '{name}', so what is changed about it has no effect"


def check_patches(runtime: Runtime, patches: Patches) -> None:
    """Raise UsageError for volumes that a process of this machine cannot see in another place."""
    in_containers = isinstance(runtime, RunsImages | BringsKubernetes)
    for name, patch in patches.items():
        is_process = not in_containers or catalog()[ComponentName(name)].embedded is not None
        for volume in patch.volumes if is_process else ():
            if volume.host_path != volume.mount_path:
                raise UsageError(
                    f"'{name}' is a process of this machine on the runtime '{runtime.name}', and sees "
                    f"'{volume.host_path}' there, not at '{volume.mount_path}'",
                    hint="give both paths of the volume the same value, or choose a runtime that "
                    "runs the component in a container",
                )


def make_paths(patches: Patches) -> None:
    """Make the files and folders of volumes that may be missing."""
    for patch in patches.values():
        for volume in patch.volumes:
            path = Path(volume.host_path)
            if volume.path_type == "DirectoryOrCreate":
                path.mkdir(parents=True, exist_ok=True)
            elif volume.path_type == "FileOrCreate" and not path.exists():
                path.touch()


def _check_path(component: str, volume: Volume) -> None:
    path = Path(volume.host_path)
    if not path.exists() and volume.path_type.endswith(_MAY_BE_MADE):
        return
    question = _IS.get(volume.path_type, "exists")
    if not getattr(path, question)():
        wanted = volume.path_type or "file or folder"
        raise UsageError(
            f"the volume of '{component}' at '{volume.host_path}' is no {wanted}",
            hint="give a 'hostPath' that exists, or a 'pathType' that ends in 'OrCreate'",
        )
