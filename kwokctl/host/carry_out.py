"""Carries out on this machine what a script would do with folders and files."""

from collections.abc import Iterable

from kwokctl.host.files import private_folder, write_atomic
from kwokctl.host.paths import ClusterPaths
from kwokctl.script.steps import FileText, Folder


def carry_out(steps: Iterable[Folder | FileText]) -> None:
    """Make folders and write files, each whole or not at all."""
    for step in steps:
        match step:
            case Folder(path, private=True):
                private_folder(path)
            case Folder(path):
                path.mkdir(parents=True, exist_ok=True)
            case FileText(path, text, mode):
                write_atomic(path, text, mode=mode)


def work_folders(paths: ClusterPaths) -> tuple[Folder, ...]:
    """Return the folders of a cluster that components work in and write to."""
    return (Folder(paths.root), Folder(paths.etcd_data))
