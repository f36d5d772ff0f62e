"""Remembers into which kubeconfigs the context of a cluster was put, so that a deletion finds it there."""

from contextlib import suppress
from pathlib import Path

from kwokctl.host.files import write_atomic
from kwokctl.host.paths import ClusterPaths


def remember_context_file(paths: ClusterPaths, kubeconfig: Path) -> None:
    """Remember a kubeconfig of the user's that has the context of a cluster now."""
    known = context_files(paths)
    file = kubeconfig.absolute()
    if file not in known:
        text = "".join(f"{each}\n" for each in (*known, file))
        write_atomic(paths.context_files, text, mode=0o600)


def context_files(paths: ClusterPaths) -> list[Path]:
    """Return the kubeconfigs that are remembered; none of a cluster that an older kwokctl has made."""
    with suppress(OSError, UnicodeDecodeError):
        lines = paths.context_files.read_text(encoding="utf-8").splitlines()
        return [Path(line) for line in lines if line]
    return []
